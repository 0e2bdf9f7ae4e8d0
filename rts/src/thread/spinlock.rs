//! Spin locks for critical sections of a few instructions, and the reason word by which blocked threads are claimed.
//!
//! *Invariants*
//! - A critical section allocates nothing that could start a collection. It waits for nothing but another such lock
//!   that is later in the lock order ([`crate::thread::park`]).
//! - A waiter spins a little and then yields to other OS threads, because the system may have descheduled the holder.
//!
//! *Checked by*: the loom models in `rts/tests/models/ownership.rs` and others, which compile this file.
use crate::base::atomics::{spin_loop, yield_now, AtomicU16, AtomicUsize, Ordering};

/// The number of polls before a waiter yields to another OS thread: about as long as a critical section takes.
const SPINS_BEFORE_YIELD: u32 = 64;

/// Waits for one iteration of a poll loop; `spins` counts the iterations, from 0.
pub fn pause(spins: &mut u32) {
    *spins += 1;
    if spins.is_multiple_of(SPINS_BEFORE_YIELD) {
        yield_now();
    } else {
        spin_loop();
    }
}

#[repr(transparent)]
pub struct Spin(pub AtomicUsize);

impl Spin {
    pub fn acquire(&self) {
        let mut spins = 0;
        // Acquire: the new holder sees what the previous holder wrote.
        while self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            pause(&mut spins);
        }
    }
    pub fn release(&self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Why a thread is blocked (`why_blocked`), or that it is not.
#[repr(transparent)]
pub struct Reason(pub AtomicU16);

impl Reason {
    /// Acquire: a HEC that sees that a thread is blocked also sees its stack as the thread left it.
    pub fn get(&self) -> u16 {
        self.0.load(Ordering::Acquire)
    }
    /// Release: see [`Reason::get`]. Called by the thread's owner, or under its lock.
    pub fn set(&self, why: u16) {
        self.0.store(why, Ordering::Release)
    }
    /// Claims a blocked thread, under its lock, if `accepts` accepts the reason: the reason becomes `free`. At most one
    /// of several HECs that race for a blocked thread succeeds.
    pub fn take(&self, free: u16, accepts: impl FnOnce(u16) -> bool) -> Option<u16> {
        let why = self.get();
        if why == free || !accepts(why) {
            return None;
        }
        self.set(free);
        Some(why)
    }
}
