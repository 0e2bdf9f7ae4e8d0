//! Small entry points: collections by hand, HEC counts, and features that are not there.
use crate::base::fatal;
use crate::hec::GcRequest;
use crate::sched::{gc, handoff, settings, task_table};

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

/// On how many cores Haskell may run: in the non-threaded way on one.
#[no_mangle]
pub extern "C" fn getNumberOfProcessors() -> u32 {
    if settings().threaded {
        crate::base::config::processors() as u32
    } else {
        1
    }
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

/// Raises a signal in the calling thread.
#[no_mangle]
pub extern "C" fn genericRaise(signal: i32) -> i32 {
    // SAFETY: any number may be passed.
    unsafe { libc::raise(signal) }
}

/// Has `base` start its event manager, unless it runs: the threaded way has one.
/// # Safety
/// Called outside Haskell.
#[no_mangle]
pub unsafe extern "C" fn ioManagerStart() {
    let me = task_table::current();
    handoff::acquire(me);
    crate::api::startup::start_event_manager(me);
    handoff::release(me);
}

/// Has `base`'s event manager end.
#[no_mangle]
pub extern "C" fn ioManagerDie() {
    crate::events::io_manager::stop_managers()
}
