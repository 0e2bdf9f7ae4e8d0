//! A lock that foreign code may take in one call and release in another, which a guard cannot.
use crate::hec::many;
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
    /// Takes the lock until the guard goes, if there are several HECs: for what only their
    /// holders touch. (Their number does not change while one is at work.)
    /// # Safety
    /// The caller holds a HEC, and not the lock.
    pub unsafe fn among_hecs(&self) -> AmongHecs<'_> {
        if !many() {
            return AmongHecs(None);
        }
        self.acquire();
        AmongHecs(Some(self))
    }
}

/// See [`Lock::among_hecs`].
pub struct AmongHecs<'a>(Option<&'a Lock>);

impl Drop for AmongHecs<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.0 {
            // SAFETY: acquired when this was made.
            unsafe { lock.release() }
        }
    }
}
