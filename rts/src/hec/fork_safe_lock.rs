//! Locks that the child of a fork can make anew, because an OS thread that no longer exists may have held them.
use crate::base::fatal::broken;
use crate::hec::many;
use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// A mutex that can be made anew.
pub struct Lock<T>(UnsafeCell<Mutex<T>>);

// SAFETY: as for the mutex inside, which is replaced only while no other OS thread exists.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Lock<T> {
        Lock(UnsafeCell::new(Mutex::new(value)))
    }

    fn mutex(&self) -> &Mutex<T> {
        // SAFETY: see `renew`.
        unsafe { &*self.0.get() }
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.mutex().lock().unwrap_or_else(|_| broken("a scheduler lock is poisoned"))
    }

    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.mutex().try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => broken("a scheduler lock is poisoned"),
        }
    }

    /// Replaces the lock and the value that it guards, without reading either.
    /// # Safety
    /// No other OS thread uses it any more.
    pub unsafe fn renew(&self, value: T) {
        std::ptr::write(self.0.get(), Mutex::new(value));
    }
}

/// A value that only holders of HECs access. While there is one HEC, it needs no lock.
pub struct HolderLock<T> {
    lock: Lock<()>,
    value: UnsafeCell<T>,
}

// SAFETY: see `with`.
unsafe impl<T: Send> Sync for HolderLock<T> {}

impl<T> HolderLock<T> {
    pub const fn new(value: T) -> HolderLock<T> {
        HolderLock { lock: Lock::new(()), value: UnsafeCell::new(value) }
    }

    /// # Safety
    /// The caller holds a HEC, or no other thread can access the value; `f` does not call this again.
    pub unsafe fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let _held = many().then(|| self.lock.lock());
        f(&mut *self.value.get())
    }

    /// As [`Lock::renew`].
    /// # Safety
    /// As for [`Lock::renew`].
    pub unsafe fn renew(&self, value: T) {
        self.lock.renew(());
        std::ptr::write(self.value.get(), value);
    }
}
