//! The default hooks: messages for an overflow of a stack or of the heap, and for a slow stop of the world. A program
//! may bring its own hooks.
use crate::api::flags::setup::advice;
use crate::base::fatal::print_message;
use libc::c_char;
use std::ffi::CStr;

/// Recommends an option, if recommendations are enabled.
fn advise(option: &str) {
    let advice = advice();
    match (advice.wanted, advice.accepted) {
        (false, _) => {}
        (true, true) => print_message(&format!("Use `+RTS {option}' to increase it.")),
        (true, false) => print_message(&format!("Relink with -rtsopts and use `+RTS {option}' to increase it.")),
    }
}

#[no_mangle]
pub extern "C" fn hec_stack_overflow(stack_bytes: usize) {
    print_message(&format!("Stack space overflow: current size {stack_bytes} bytes."));
    advise("-Ksize -RTS");
}

#[no_mangle]
pub extern "C" fn hec_out_of_heap(_request_bytes: usize, heap_bytes: usize) {
    if heap_bytes == 0 {
        return print_message("Out of memory\n");
    }
    print_message("Heap exhausted;");
    let megabytes = heap_bytes >> 20;
    print_message(&format!("Current maximum heap size is {heap_bytes} bytes ({megabytes} MB)."));
    advise("-M<size>");
}

/// # Safety
/// `what` is a string.
#[no_mangle]
pub unsafe extern "C" fn hec_malloc_failed(request_bytes: usize, what: *const c_char) {
    let what = CStr::from_ptr(what).to_string_lossy();
    eprintln!("malloc: failed on request for {request_bytes} bytes; message: {what}");
}

#[no_mangle]
pub extern "C" fn hec_long_gc_sync(hec: u32, _elapsed: i64) {
    eprintln!("Warning: slow GC sync: still waiting for cap {hec}");
}

#[no_mangle]
pub extern "C" fn hec_long_gc_sync_end(elapsed: i64) {
    eprintln!("Warning: waited {}us for GC sync", elapsed / 1000);
}
