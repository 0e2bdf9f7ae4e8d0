//! Write barriers that compiled code calls.
use crate::abi::{Closure, RegTable};
use crate::hec::Hec;
use crate::info;

/// Called by compiled code after it has written to a `MUT_VAR` whose header was clean.
/// # Safety
/// `var` is a live `MUT_VAR`, and the caller holds the HEC of `reg`.
#[no_mangle]
pub unsafe extern "C" fn dirty_MUT_VAR(reg: *mut RegTable, var: Closure, _old: Closure) {
    if var.info() == info!(stg_MUT_VAR_CLEAN_info) {
        var.set_info(info!(stg_MUT_VAR_DIRTY_info));
        Hec::of_reg(reg).remember(var);
    }
}

/// Nonzero makes compiled code report every pointer that it overwrites to `updateRemembSetPushClosure_`, as a
/// concurrent marker needs. This runtime does not mark concurrently, so the word stays zero.
#[no_mangle]
pub static nonmoving_write_barrier_enabled: usize = 0;

/// See [`nonmoving_write_barrier_enabled`]: compiled code refers to this function, but never calls it.
#[no_mangle]
pub extern "C" fn updateRemembSetPushClosure_(_reg: *mut RegTable, _overwritten: Closure) {}

/// The same for thunks that code compiled with `-feager-blackholing` is about to claim.
#[no_mangle]
pub extern "C" fn updateRemembSetPushThunk_(_reg: *mut RegTable, _thunk: Closure) {}
