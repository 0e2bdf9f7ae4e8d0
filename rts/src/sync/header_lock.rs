//! The spin lock in an object's header.
//!
//! *Protocol*: a mutator locks an object by exchanging its header for `stg_WHITEHOLE_info`, and unlocks it by storing
//! the header back.
//!
//! *Invariant*: a lock is held for a few instructions, within one primitive operation. So neither a collection nor
//! Haskell code outside such an operation ever sees a locked object.
//!
//! *Checked by*: the loom models in `rts/tests/models/ownership.rs`, which compile this file.
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::thread::spinlock::pause;

#[repr(transparent)]
pub struct Header(pub AtomicUsize);

impl Header {
    /// Locks the object; `hole` is the header of a locked one. Returns the header that the object had.
    pub fn lock(&self, hole: usize) -> usize {
        let mut spins = 0;
        loop {
            let seen = self.0.load(Ordering::Relaxed);
            // Acquire: the new holder sees what the previous holder wrote.
            let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
            if seen != hole && self.0.compare_exchange(seen, hole, yes, no).is_ok() {
                return seen;
            }
            pause(&mut spins);
        }
    }
    /// Unlocks the object and sets its header to `header`.
    pub fn unlock(&self, header: usize) {
        self.0.store(header, Ordering::Release);
    }
}
