//! TVars {value, waiters, version}.
use super::protocol::Version;
use crate::contract::closure::fields::{TVAR_UPDATES, TVAR_VALUE};
use crate::contract::Closure;
use crate::hec::Hec;
use crate::info;
use std::sync::atomic::{AtomicUsize, Ordering};

/// # Safety
/// `tvar` is a TVar that stays where it is while the result is in use; so for all functions here.
pub unsafe fn version<'a>(tvar: Closure) -> &'a Version {
    &*(tvar.slot(TVAR_UPDATES) as *const Version)
}

unsafe fn value<'a>(tvar: Closure) -> &'a AtomicUsize {
    &*(tvar.slot(TVAR_VALUE) as *const AtomicUsize)
}

/// Version and value, as they were at one moment.
/// # Safety
/// See [`version`].
pub unsafe fn read(tvar: Closure) -> (usize, Closure) {
    let (version, found) = version(tvar).read(value(tvar));
    (version, Closure(found))
}

/// The same if no commit is writing the TVar.
/// # Safety
/// See [`version`].
#[inline(always)]
pub unsafe fn try_read(tvar: Closure) -> Option<(usize, Closure)> {
    version(tvar).try_read(value(tvar)).map(|(version, found)| (version, Closure(found)))
}

/// Waits until no commit is writing the TVar.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_tvar_settled(tvar: Closure) {
    version(tvar).settled();
}

/// Writes the value.
/// # Safety
/// See [`version`]; the caller holds the lock.
#[inline]
pub unsafe fn set_value(hec: &mut Hec, tvar: Closure, new: Closure) {
    dirty(hec, tvar);
    value(tvar).store(new.0, Ordering::Release);
}

/// Call before storing a pointer in the TVar.
/// # Safety
/// As for [`set_value`].
#[inline]
pub unsafe fn dirty(hec: &mut Hec, tvar: Closure) {
    if tvar.info() == info!(stg_TVAR_CLEAN_info) {
        soil(hec, tvar);
    }
}

#[inline(never)]
unsafe fn soil(hec: &mut Hec, tvar: Closure) {
    tvar.set_info(info!(stg_TVAR_DIRTY_info));
    hec.remember(tvar);
}
