//! `rts/ExecPage.h`: pages for generated code, which are first written and then executed.
use crate::base::fatal::exit_with;
use crate::hec::out_of_memory;
use libc::c_void;
use std::ptr::null_mut;

/// Bytes of a page of this processor.
const PAGE: usize = 4096;

/// A page that can be written.
#[no_mangle]
pub extern "C" fn allocateExecPage() -> *mut c_void {
    // SAFETY: new memory.
    let page = unsafe {
        libc::mmap(null_mut(), PAGE, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    if page == libc::MAP_FAILED {
        out_of_memory(PAGE)
    }
    page
}

/// Makes the page executable, and no longer writable.
/// # Safety
/// It is a page of [`allocateExecPage`].
#[no_mangle]
pub unsafe extern "C" fn freezeExecPage(page: *mut c_void) {
    if libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_EXEC) != 0 {
        exit_with(1, "the system does not let a page of new code be run (freezeExecPage)");
    }
}

/// # Safety
/// As for [`freezeExecPage`], and no thread executes it.
#[no_mangle]
pub unsafe extern "C" fn freeExecPage(page: *mut c_void) {
    libc::munmap(page, PAGE);
}

/// Makes new code visible to instruction fetch. On this processor it already is.
#[no_mangle]
pub extern "C" fn flushExec(_bytes: usize, _code: *const c_void) {}
