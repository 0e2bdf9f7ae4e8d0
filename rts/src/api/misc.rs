//! Small entry points: explicit collections, HEC counts, unsupported features.
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

/// Processors that may run Haskell: one in the non-threaded way.
#[no_mangle]
pub extern "C" fn getNumberOfProcessors() -> u32 {
    if settings().threaded {
        crate::base::config::processors() as u32
    } else {
        1
    }
}

/// Ends the program because a feature is not supported.
/// # Safety
/// `feature` is a C string.
#[no_mangle]
pub unsafe extern "C" fn hec_unsupported(feature: *const libc::c_char) -> ! {
    fatal::unsupported(&std::ffi::CStr::from_ptr(feature).to_string_lossy())
}

/// Ends the program because an object without entry code was entered.
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

/// Starts the event manager of `base`, unless it runs. Only the threaded way has one.
/// # Safety
/// Called outside Haskell.
#[no_mangle]
pub unsafe extern "C" fn ioManagerStart() {
    let me = task_table::current();
    handoff::acquire(me);
    crate::api::startup::start_event_manager(me);
    handoff::release(me);
}

/// Ends the event manager of `base`.
#[no_mangle]
pub extern "C" fn ioManagerDie() {
    crate::events::io_manager::stop_managers()
}
