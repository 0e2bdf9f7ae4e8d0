//! Locks for sections of a few instructions, and the claim of a blocked thread, which they
//! decide.
//!
//! A section allocates nothing that could start a collection and waits for nothing but another
//! such lock further down in the order (`park.rs`). Whoever waits spins a little and then lets
//! other OS threads run, for the system may have stopped the holder.
use crate::base::atomics::{spin_loop, yield_now, AtomicU16, AtomicUsize, Ordering};

/// How often to look again before letting another OS thread run.
const PATIENCE: u32 = 64;

/// One turn of a wait; `turns` counts them, from 0.
pub fn pause(turns: &mut u32) {
    *turns += 1;
    if *turns % PATIENCE == 0 {
        yield_now();
    } else {
        spin_loop();
    }
}

#[repr(transparent)]
pub struct Spin(pub AtomicUsize);

impl Spin {
    pub fn acquire(&self) {
        let mut turns = 0;
        // Acquire: what the last holder wrote is seen.
        while self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            pause(&mut turns);
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
    /// Acquire: whoever sees that a thread is blocked sees its stack as it was left.
    pub fn get(&self) -> u16 {
        self.0.load(Ordering::Acquire)
    }
    /// Release: see [`Reason::get`]. By the thread's owner, or under its lock.
    pub fn set(&self, why: u16) {
        self.0.store(why, Ordering::Release)
    }
    /// Under the thread's lock: if it is blocked in the right way, it is now the caller's, and
    /// `free` is its reason. At most one of those who race for a blocked thread gets it.
    pub fn take(&self, free: u16, right: impl FnOnce(u16) -> bool) -> Option<u16> {
        let why = self.get();
        if why == free || !right(why) {
            return None;
        }
        self.set(free);
        Some(why)
    }
}
