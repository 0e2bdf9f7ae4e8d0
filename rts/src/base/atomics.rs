//! The atomics, locks and yields that lock-free protocols are built from.
//!
//! *Invariants*
//!
//! - A protocol is in a small file that takes its atomics, locks and yields from this module only.
//! - `rts/tests/models` compiles the same files with a module of this name that re-exports loom's types. So loom runs
//!   the shipped code through all interleavings.
pub use super::futex::Futex;
pub use std::hint::spin_loop;
pub use std::sync::atomic::{fence, AtomicBool, AtomicU16, AtomicU8, AtomicUsize, Ordering};
pub use std::sync::{Condvar, Mutex, MutexGuard};
pub use std::thread::yield_now;

/// `n` zeros. The system backs their pages when they are first used.
pub fn zeros(n: usize) -> Box<[AtomicUsize]> {
    let zeros = Box::into_raw(vec![0usize; n].into_boxed_slice());
    // SAFETY: both types have the same representation.
    unsafe { Box::from_raw(zeros as *mut [AtomicUsize]) }
}
