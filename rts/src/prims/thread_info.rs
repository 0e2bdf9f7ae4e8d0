//! Thread queries and flags that `base` uses through C calls.
use crate::abi::layout::TSO_ALLOC_LIMIT;
use crate::abi::Tso;
use crate::info;

/// The number of a thread, which may be of another processing element.
unsafe fn number(t: Tso) -> u64 {
    if t.closure().info() == info!(hec_REMOTE_THREAD_info) {
        t.closure().word(REMOTE_NUMBER) as u64
    } else {
        t.obj().id
    }
}

/// Where a remote thread's number is (`spread/remote_objects.rs`).
pub const REMOTE_NUMBER: usize = 2;

/// Orders threads by age: -1, 0 or 1.
/// # Safety
/// Both are live.
#[no_mangle]
pub unsafe extern "C" fn cmp_thread(a: Tso, b: Tso) -> i32 {
    number(a).cmp(&number(b)) as i32
}

#[no_mangle]
pub extern "C" fn eq_thread(a: Tso, b: Tso) -> bool {
    a == b
}

/// # Safety
/// `t` is live.
#[no_mangle]
pub unsafe extern "C" fn rts_getThreadId(t: Tso) -> libc::c_long {
    number(t) as libc::c_long
}

/// Lets the thread get an exception when its allocation counter falls below zero.
/// # Safety
/// `t` is the running thread; `base` calls this for no other. The flags belong to the HEC of the thread.
#[no_mangle]
pub unsafe extern "C" fn rts_enableThreadAllocationLimit(t: Tso) {
    t.obj().flags |= TSO_ALLOC_LIMIT as u32;
}

/// # Safety
/// As for [`rts_enableThreadAllocationLimit`].
#[no_mangle]
pub unsafe extern "C" fn rts_disableThreadAllocationLimit(t: Tso) {
    t.obj().flags &= !(TSO_ALLOC_LIMIT as u32);
}
