//! What lock-free protocols are built from.
//!
//! A protocol sits in a small file that takes its atomics, locks and yields from here and from
//! nowhere else. `rts/tests/models` compiles the same files with a module of this name that
//! re-exports loom's, and runs them through every interleaving: the code that is checked is the
//! code that ships.
pub use super::futex::Futex;
pub use std::hint::spin_loop;
pub use std::sync::atomic::{fence, AtomicBool, AtomicU16, AtomicU8, AtomicUsize, Ordering};
pub use std::sync::{Condvar, Mutex, MutexGuard};
pub use std::thread::yield_now;

/// So many zeros. Pages of them come from the system when they are first used.
pub fn zeros(n: usize) -> Box<[AtomicUsize]> {
    let zeros = Box::into_raw(vec![0usize; n].into_boxed_slice());
    // SAFETY: both types are the same in memory.
    unsafe { Box::from_raw(zeros as *mut [AtomicUsize]) }
}
