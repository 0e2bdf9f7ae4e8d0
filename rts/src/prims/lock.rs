//! A lock that foreign code may take in one call and release in another, which a guard cannot.
use std::cell::UnsafeCell;

/// A plain mutual-exclusion lock. Usable before the runtime has started: modules register
/// exports and static pointers from constructors.
pub struct Lock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: that is what a mutex is for.
unsafe impl Sync for Lock {}

impl Lock {
    pub const fn new() -> Lock {
        Lock(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
    }
    /// # Safety
    /// This OS thread does not hold the lock.
    pub unsafe fn acquire(&self) {
        libc::pthread_mutex_lock(self.0.get());
    }
    /// # Safety
    /// This OS thread holds the lock.
    pub unsafe fn release(&self) {
        libc::pthread_mutex_unlock(self.0.get());
    }
}
