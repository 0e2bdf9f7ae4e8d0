//! Collections that C and Haskell code request.
use crate::hec::GcRequest;
use crate::sched::gc;

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
