//! Collections that C and Haskell code request.
use crate::hec::GcRequest;
use crate::sched::gc;
use crate::spread::{global_gc, run};

/// # Safety
/// Called outside Haskell, or by a safe foreign call.
#[no_mangle]
pub unsafe extern "C" fn performGC() {
    gc::perform(GcRequest::Minor)
}

/// # Safety
/// As for [`performGC`].
#[no_mangle]
pub unsafe extern "C" fn performMajorGC() {
    gc::perform(GcRequest::Major)
}

/// # Safety
/// As for [`performGC`].
#[no_mangle]
pub unsafe extern "C" fn hs_perform_gc() {
    gc::perform(GcRequest::Major)
}

/// Does a collection over all processing elements, or of this one if it is alone.
/// # Safety
/// Called by a safe foreign call.
#[no_mangle]
pub unsafe extern "C" fn hec_perform_global_gc() {
    match run::current() {
        Some(run) => global_gc::perform(run),
        None => performMajorGC(),
    }
}
