//! Unsupported features, and points that compiled code never reaches: their functions report so.
use crate::base::fatal::{broken, unsupported};
use libc::{c_char, c_void};
use std::ffi::CStr;
use std::ptr;

/// Ends the program because a feature is not supported.
/// # Safety
/// `feature` is a C string.
#[no_mangle]
pub unsafe extern "C" fn hec_unsupported(feature: *const libc::c_char) -> ! {
    unsupported(&CStr::from_ptr(feature).to_string_lossy())
}

/// Ends the program because an object without entry code was entered.
#[no_mangle]
pub extern "C" fn hec_entered(closure: usize) -> ! {
    broken(&format!("entered {closure:#x}, which has no entry code"))
}

/// `panic#`: compiled code reached a point that it must never reach.
/// # Safety
/// `message` is a string.
#[no_mangle]
pub unsafe extern "C" fn hec_panic(message: *const c_char) -> ! {
    broken(&CStr::from_ptr(message).to_string_lossy())
}

// Stack traces by debugging information: the functions of a runtime that was built without them.

#[no_mangle]
pub extern "C" fn libdwPoolTake() -> *mut c_void {
    ptr::null_mut()
}
#[no_mangle]
pub extern "C" fn libdwPoolRelease(_session: *mut c_void) {}
#[no_mangle]
pub extern "C" fn libdwPoolClear() {}
#[no_mangle]
pub extern "C" fn libdwGetBacktrace(_session: *mut c_void) -> *mut c_void {
    ptr::null_mut()
}
#[no_mangle]
pub extern "C" fn libdwLookupLocation(_s: *mut c_void, _l: *mut c_void, _pc: usize) -> i32 {
    1
}
#[no_mangle]
pub extern "C" fn libdwPrintBacktrace(_s: *mut c_void, _file: *mut c_void, _bt: *mut c_void) {}
#[no_mangle]
pub extern "C" fn backtraceFree(_backtrace: *mut c_void) {}

// The bytecode interpreter: breakpoints may be set, but are never reached.

#[no_mangle]
pub static mut rts_stop_next_breakpoint: i32 = 0;
#[no_mangle]
pub static mut rts_stop_on_exception: i32 = 0;
#[no_mangle]
pub static mut rts_breakpoint_io_action: usize = 0;

/// Is the program profiled?
#[no_mangle]
pub extern "C" fn rts_isProfiled() -> i32 {
    0
}

#[no_mangle]
pub extern "C" fn startProfTimer() {}

#[no_mangle]
pub extern "C" fn stopProfTimer() {}
