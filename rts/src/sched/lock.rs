//! A lock that can be made anew in the child of a fork, where an OS thread that is no more may have
//! held it.
use crate::observe::fatal::broken;
use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard, TryLockError};

pub struct Lock<T>(UnsafeCell<Mutex<T>>);

// SAFETY: as for the mutex within, which is only replaced when nobody else is there.
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

    /// Replaces the lock and what it guards, without looking at either.
    /// # Safety
    /// No other OS thread is left that uses it.
    pub unsafe fn renew(&self, value: T) {
        std::ptr::write(self.0.get(), Mutex::new(value));
    }
}
