//! Messages of Haskell code for the event log, and labels of threads.
use crate::abi::Tso;
use crate::hec::Hec;
use crate::observe::eventlog::hooks;
use libc::c_char;
use std::ffi::CStr;

/// `traceEvent#`.
/// # Safety
/// For all of these: called from Cmm with the HEC held; `message` is a C string.
#[no_mangle]
pub unsafe extern "C" fn hec_trace_event(hec: &Hec, message: *const c_char) {
    hooks::user_message(hec.no, CStr::from_ptr(message).to_bytes());
}

/// `traceMarker#`.
/// # Safety
/// As for [`hec_trace_event`].
#[no_mangle]
pub unsafe extern "C" fn hec_trace_marker(hec: &Hec, message: *const c_char) {
    hooks::user_marker(hec.no, CStr::from_ptr(message).to_bytes());
}

/// `traceBinaryEvent#`.
/// # Safety
/// As for [`hec_trace_event`]; `bytes` points to `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn hec_trace_binary(hec: &Hec, bytes: *const u8, len: usize) {
    // The address may be invalid if there are no bytes.
    let bytes = if len == 0 { &[] } else { std::slice::from_raw_parts(bytes, len) };
    hooks::user_binary(hec.no, bytes);
}

/// `labelThread#`.
/// # Safety
/// As for [`hec_trace_event`]; `t` is a thread.
#[no_mangle]
pub unsafe extern "C" fn hec_label_thread(hec: &Hec, t: Tso, label: *const c_char) {
    hooks::thread_labelled(hec.no, t.obj().id, CStr::from_ptr(label).to_bytes());
}
