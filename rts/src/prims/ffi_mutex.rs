//! A lock that foreign code may take in one call and release in another, which a guard cannot do.
use crate::hec::many;
use std::cell::UnsafeCell;

/// A mutex. It can be used before the runtime starts: constructors of modules register exports and static pointers.
pub struct Lock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex may be shared.
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
    /// Takes the lock until the guard is dropped, if there are several HECs. It protects what only holders of HECs use.
    /// The number of HECs does not change while one of them is held.
    /// # Safety
    /// The caller holds a HEC, and does not hold the lock.
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
            // SAFETY: acquired when the guard was made.
            unsafe { lock.release() }
        }
    }
}
