//! The user slot of a HEC: is the HEC used by a thread of a user scheduler?
//!
//! *Protocol*
//! ```text
//!          take: by the holder, or by a HEC that sends an SCont here
//!   EMPTY ───────────────────────────────────────────────────────────► USED ──┐ a switch or an upcall: another
//!     ▲                                                                  │ ▲   │ thread is in the slot now
//!     └──────────────────────────────────────────────────────────────────┘ └───┘
//!          leave: by the holder, when the slot has no next thread
//! ```
//!
//! *Invariants*
//! - A slot that is used has one thread, which has the flag `TSO_SLOT`. It runs, is on the run queue of this HEC or in
//!   its mailbox, is in a foreign call, or is asleep: it waits in the runtime, and is woken on this HEC.
//! - A thread of a user scheduler runs in a slot only.
//!
//! *Checked by*: the loom models in `rts/tests/models/slots.rs`, which compile this file.
use crate::base::atomics::{AtomicUsize, Ordering};

const EMPTY: usize = 0;
const USED: usize = 1;

pub struct UserSlot(AtomicUsize);

impl UserSlot {
    pub fn new() -> UserSlot {
        UserSlot(AtomicUsize::new(EMPTY))
    }

    /// Is it used? Exact for the holder of the HEC only if the answer is yes.
    pub fn is_used(&self) -> bool {
        self.0.load(Ordering::Relaxed) == USED
    }

    /// Takes the slot if it is empty. Any task that holds a HEC may call this.
    pub fn take(&self) -> bool {
        // Acquire: what the last thread in the slot did here comes before.
        self.0.compare_exchange(EMPTY, USED, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The slot becomes empty. The caller holds the HEC, or has taken the slot for a thread that will not come.
    pub fn leave(&self) {
        self.0.store(EMPTY, Ordering::Release);
    }
}

impl Default for UserSlot {
    fn default() -> UserSlot {
        UserSlot::new()
    }
}
