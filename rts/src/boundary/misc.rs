//! Small entry points: collections by hand, HEC counts, and features that are not there.
use crate::hec::GcRequest;
use crate::observe::fatal;
use crate::sched::collect;

/// # Safety
/// Called outside Haskell, or by a safe foreign call.
#[no_mangle]
pub unsafe extern "C" fn performGC() {
    collect::perform(GcRequest::Minor)
}

/// # Safety
/// As for [`performGC`].
#[no_mangle]
pub unsafe extern "C" fn performMajorGC() {
    collect::perform(GcRequest::Major)
}

/// # Safety
/// As for [`performGC`].
#[no_mangle]
pub unsafe extern "C" fn hs_perform_gc() {
    collect::perform(GcRequest::Major)
}

#[no_mangle]
pub extern "C" fn getNumberOfProcessors() -> u32 {
    crate::observe::settings::processors() as u32
}

/// Ends the program for want of a feature.
/// # Safety
/// `feature` is a C string.
#[no_mangle]
pub unsafe extern "C" fn hec_unsupported(feature: *const libc::c_char) -> ! {
    fatal::unsupported(&std::ffi::CStr::from_ptr(feature).to_string_lossy())
}

/// Something was entered that cannot be.
#[no_mangle]
pub extern "C" fn hec_entered(closure: usize) -> ! {
    fatal::broken(&format!("entered {closure:#x}, which has no entry code"))
}

#[no_mangle]
pub extern "C" fn startProfTimer() {}

#[no_mangle]
pub extern "C" fn stopProfTimer() {}
