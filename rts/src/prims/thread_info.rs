//! What `base` asks about threads by C calls.
use crate::abi::layout::TSO_ALLOC_LIMIT;
use crate::abi::Tso;

/// Orders threads by age: -1, 0 or 1.
/// # Safety
/// Both are live.
#[no_mangle]
pub unsafe extern "C" fn cmp_thread(a: Tso, b: Tso) -> i32 {
    a.obj().id.cmp(&b.obj().id) as i32
}

#[no_mangle]
pub extern "C" fn eq_thread(a: Tso, b: Tso) -> bool {
    a == b
}

/// # Safety
/// `t` is live.
#[no_mangle]
pub unsafe extern "C" fn rts_getThreadId(t: Tso) -> libc::c_long {
    t.obj().id as libc::c_long
}

/// From now on the thread gets an exception when its allocation counter falls below zero.
/// # Safety
/// `t` is the running thread, which is the only one that `base` does this for: flags belong to
/// the HEC that has the thread.
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
