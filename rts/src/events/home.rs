//! The home of a descriptor: the event loop with which it is registered, or none.
//!
//! *Protocol*
//!
//! 1. The lock of the home protects what else is known of the descriptor. To take it, a task reads the home, takes that
//!    loop's lock, and checks that the home is still the same ([`Home::locked`]).
//! 2. A descriptor without a home gets one by a compare-and-swap, from the holder of that loop's lock.
//! 3. The home becomes none under its lock, when the descriptor is not registered, nobody closes it, and nothing waits
//!    for it.
//!
//! *Checked by*: the loom models in `rts/tests/models/homes.rs`, which compile this file.
use crate::base::atomics::{AtomicU16, Ordering};

const NONE: u16 = u16::MAX;

pub struct Home(AtomicU16);

impl Home {
    pub fn new() -> Home {
        Home(AtomicU16::new(NONE))
    }

    /// The number of the loop, if there is one.
    pub fn get(&self) -> Option<usize> {
        // It counts only when it is confirmed under the loop's lock.
        let home = self.0.load(Ordering::Relaxed);
        (home != NONE).then_some(home as usize)
    }

    /// Takes the lock of the home, which is loop `no` from now on if there was none. Returns its number and the lock.
    pub fn locked<L>(&self, no: usize, lock: impl Fn(usize) -> L) -> (usize, L) {
        loop {
            let home = self.get().unwrap_or(no);
            let locked = lock(home);
            if self.claim(home) {
                return (home, locked);
            }
        }
    }

    /// Is loop `no` its home, or can be? The caller holds that loop's lock.
    fn claim(&self, no: usize) -> bool {
        // Acquire: it may have left another home since it was read.
        let claimed = self.0.compare_exchange(NONE, no as u16, Ordering::Acquire, Ordering::Relaxed);
        claimed.is_ok() || claimed == Err(no as u16)
    }

    /// There is no home any more. The caller holds the lock of the home.
    pub fn leave(&self) {
        // Release: the next home's holder sees what was written under this one's lock.
        self.0.store(NONE, Ordering::Release);
    }
}
