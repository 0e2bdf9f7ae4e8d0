//! A futex: a word that OS threads sleep on, without a lock.
//!
//! A signal handler may wake a futex. It must not take one of `std`'s locks: the thread that it interrupts may hold it.
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub struct Futex(AtomicU32);

impl Futex {
    pub fn new(value: u32) -> Futex {
        Futex(AtomicU32::new(value))
    }

    pub fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    pub fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, order)
    }

    /// Sleeps until it is woken, if the word is `expected`, but at most for `timeout`. May return early.
    pub fn wait(&self, expected: u32, timeout: Option<Duration>) {
        let time = timeout.map(|t| libc::timespec {
            tv_sec: t.as_secs().min(i64::MAX as u64) as libc::time_t,
            tv_nsec: t.subsec_nanos() as libc::c_long,
        });
        let time = time.as_ref().map_or(std::ptr::null(), |t| t as *const libc::timespec);
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word and the time live until the call returns.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, expected, time) };
    }

    /// Wakes one sleeping thread. Async-signal-safe.
    pub fn wake_one(&self) {
        // SAFETY: the call does not read or write the word.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
    }
}
