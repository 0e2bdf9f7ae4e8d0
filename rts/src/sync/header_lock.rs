//! The lock in an object's header: while somebody is at work on the object, its header is
//! `stg_WHITEHOLE_info`.
//!
//! Held for a few instructions, within one primitive operation, so neither a collection nor
//! Haskell code that is not such an operation ever meets it.
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::thread::spinlock::pause;

#[repr(transparent)]
pub struct Header(pub AtomicUsize);

impl Header {
    /// Locks the object with the header `hole`. Returns the header it had.
    pub fn lock(&self, hole: usize) -> usize {
        let mut turns = 0;
        loop {
            let seen = self.0.load(Ordering::Relaxed);
            // Acquire: what the last holder wrote is seen.
            let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
            if seen != hole && self.0.compare_exchange(seen, hole, yes, no).is_ok() {
                return seen;
            }
            pause(&mut turns);
        }
    }
    /// Unlocks the object, whose header is from now on `header`.
    pub fn unlock(&self, header: usize) {
        self.0.store(header, Ordering::Release);
    }
}
