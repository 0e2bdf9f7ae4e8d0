//! The number of idle HECs.
//!
//! *Protocol*: a part of that in `hec/idle.rs`. It is a file of this layer because [`crate::base::active_limit`] reads
//! the count.
//!
//! *Checked by* loom (`rts/tests/models/idle_notify.rs`).
use crate::base::atomics::{AtomicUsize, Ordering};

/// The number of idle HECs in the low half, and how often a HEC has become idle in the high half.
pub struct IdleCount(pub AtomicUsize);

/// One transition to idle, in the high half of the count.
const ONE_TRANSITION: usize = 1 << 32;

impl IdleCount {
    /// A HEC becomes idle, or stops being idle. Release: see `transitions`.
    pub fn record(&self, idle: bool) {
        if idle {
            self.0.fetch_add(1 + ONE_TRANSITION, Ordering::Release);
        } else {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed) % ONE_TRANSITION
    }

    /// How often a HEC has become idle. Acquire: the reader then sees which HECs are idle.
    pub fn transitions(&self) -> usize {
        self.0.load(Ordering::Acquire) / ONE_TRANSITION
    }
}
