//! TVars {value, waiters, version}: consistent reads, and the lock in the version.
//!
//! The version is even while the TVar may be read. A commit makes it odd with a compare and
//! swap from the version its transaction saw, which checks and locks in one step, writes the
//! value, and stores the next even number. A reader takes value and version together by reading
//! the version before and after. Locks are held only within one call from Haskell, so with one
//! HEC nobody ever meets one.
use crate::contract::closure::fields::{TVAR_UPDATES, TVAR_VALUE};
use crate::contract::Closure;
use crate::hec::Hec;
use crate::info;
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe fn version_of<'a>(tvar: Closure) -> &'a AtomicUsize {
    &*(tvar.slot(TVAR_UPDATES) as *const AtomicUsize)
}

unsafe fn value_of<'a>(tvar: Closure) -> &'a AtomicUsize {
    &*(tvar.slot(TVAR_VALUE) as *const AtomicUsize)
}

/// Version and value, as they were at one moment.
/// # Safety
/// `tvar` is a TVar; so for all functions here.
pub unsafe fn read(tvar: Closure) -> (usize, Closure) {
    loop {
        // Acquire: the value read next is no older than the version.
        let before = version_of(tvar).load(Ordering::Acquire);
        let value = value_of(tvar).load(Ordering::Acquire);
        // The acquiring load of the value keeps this one after it.
        if before & 1 == 0 && version_of(tvar).load(Ordering::Relaxed) == before {
            return (before, Closure(value));
        }
        std::hint::spin_loop();
    }
}

/// Is the TVar unlocked and still at this version?
/// # Safety
/// See [`read`].
pub unsafe fn is_at(tvar: Closure, version: usize) -> bool {
    version_of(tvar).load(Ordering::Acquire) == version
}

/// Locks the TVar if it is still at this version.
/// # Safety
/// See [`read`].
pub unsafe fn lock_at(tvar: Closure, version: usize) -> bool {
    version_of(tvar)
        .compare_exchange(version, version | 1, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
}

/// Locks the TVar. Returns its version.
/// # Safety
/// See [`read`].
pub unsafe fn lock(tvar: Closure) -> usize {
    loop {
        let version = version_of(tvar).load(Ordering::Relaxed) & !1;
        if lock_at(tvar, version) {
            return version;
        }
        std::hint::spin_loop();
    }
}

/// Unlocks the TVar at a version: the one it had, or the next.
/// # Safety
/// See [`read`]; the caller holds the lock.
pub unsafe fn unlock(tvar: Closure, version: usize) {
    // Release: whoever sees the version sees what was written under the lock.
    version_of(tvar).store(version, Ordering::Release);
}

/// The version after a write at `version`.
pub fn next_version(version: usize) -> usize {
    version + 2
}

/// Writes the value.
/// # Safety
/// See [`read`]; the caller holds the lock.
pub unsafe fn set_value(hec: &mut Hec, tvar: Closure, value: Closure) {
    dirty(hec, tvar);
    value_of(tvar).store(value.0, Ordering::Release);
}

/// Call before storing a pointer in the TVar.
/// # Safety
/// See [`read`].
pub unsafe fn dirty(hec: &mut Hec, tvar: Closure) {
    if tvar.info() == info!(stg_TVAR_CLEAN_info) {
        tvar.set_info(info!(stg_TVAR_DIRTY_info));
        hec.remember(tvar);
    }
}
