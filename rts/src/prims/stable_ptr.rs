//! Stable pointers: numbers that represent closures while foreign code holds them.
//!
//! *Invariants*
//!
//! - A stable pointer is an index into a table of closure addresses, `stable_ptr_table`. Compiled C code indexes it
//!   directly and without a lock (`deRefStablePtr` is inlined).
//! - When the table grows, the old one is never freed: a reader may have loaded its address. All old tables together
//!   are smaller than the current one.
//! - Index 0 is never used, because a null pointer must not be a stable pointer.
//!
//! *Locking*: one lock for everything except dereferencing. The collector takes it too, because foreign code may free
//! stable pointers at any time.
use crate::abi::Closure;
use crate::prims::ffi_mutex::Lock;
use std::alloc::{alloc_zeroed, Layout};
use std::ptr;

/// The table. Unused entries are null.
#[no_mangle]
pub static mut stable_ptr_table: *mut Closure = ptr::null_mut();

struct Table {
    size: usize,
    /// The first index that was never used.
    top: usize,
    free: Vec<usize>,
}

static LOCK: Lock = Lock::new();
static mut TABLE: Table = Table { size: 0, top: 1, free: Vec::new() };
/// Entries of the first table: half a kilobyte.
const FIRST_SIZE: usize = 64;

/// # Safety
/// The lock is held, and no other reference to the table is in use.
unsafe fn table() -> &'static mut Table {
    &mut *ptr::addr_of_mut!(TABLE)
}

unsafe fn grow(t: &mut Table) {
    let size = (t.size * 2).max(FIRST_SIZE);
    let Ok(layout) = Layout::array::<Closure>(size) else {
        crate::hec::out_of_memory(size);
    };
    let fresh = alloc_zeroed(layout) as *mut Closure;
    if t.size > 0 {
        ptr::copy_nonoverlapping(stable_ptr_table, fresh, t.size);
    }
    t.size = size;
    // The entries must be written before another thread can see the table.
    std::sync::atomic::AtomicPtr::from_ptr(ptr::addr_of_mut!(stable_ptr_table))
        .store(fresh, std::sync::atomic::Ordering::Release);
}

/// A new stable pointer to `c`.
/// # Safety
/// `c` is a live closure, and no collection runs.
#[no_mangle]
pub unsafe extern "C" fn getStablePtr(c: Closure) -> usize {
    LOCK.acquire();
    let t = table();
    let i = t.free.pop().unwrap_or_else(|| {
        if t.top >= t.size {
            grow(t);
        }
        t.top += 1;
        t.top - 1
    });
    *stable_ptr_table.add(i) = c;
    LOCK.release();
    i
}

/// The closure that `sp` represents.
/// # Safety
/// `sp` is a stable pointer that has not been freed.
#[no_mangle]
pub unsafe extern "C" fn deRefStablePtr(sp: usize) -> Closure {
    *stable_ptr_table.add(sp)
}

/// Frees `sp`. Freeing null, or freeing twice, has no effect.
/// # Safety
/// The caller holds the lock by [`hs_lock_stable_ptr_table`].
#[no_mangle]
pub unsafe extern "C" fn hs_free_stable_ptr_unsafe(sp: usize) {
    let t = table();
    if sp == 0 || sp >= t.top {
        return;
    }
    let entry = stable_ptr_table.add(sp);
    if !(*entry).is_null() {
        *entry = Closure::NULL;
        t.free.push(sp);
    }
}

/// Frees `sp`.
/// # Safety
/// This OS thread does not hold the lock.
#[no_mangle]
pub unsafe extern "C" fn hs_free_stable_ptr(sp: usize) {
    LOCK.acquire();
    hs_free_stable_ptr_unsafe(sp);
    LOCK.release();
}

/// Frees `sp`. This is the runtime's own name for the function.
/// # Safety
/// As for [`hs_free_stable_ptr`].
#[no_mangle]
pub unsafe extern "C" fn freeStablePtr(sp: usize) {
    hs_free_stable_ptr(sp)
}

/// # Safety
/// This OS thread does not hold the lock.
#[no_mangle]
pub unsafe extern "C" fn hs_lock_stable_ptr_table() {
    LOCK.acquire()
}

/// # Safety
/// This OS thread holds the lock.
#[no_mangle]
pub unsafe extern "C" fn hs_unlock_stable_ptr_table() {
    LOCK.release()
}

/// # Safety
/// As for [`hs_lock_stable_ptr_table`]. This is its older name.
#[no_mangle]
pub unsafe extern "C" fn hs_lock_stable_tables() {
    LOCK.acquire()
}

/// # Safety
/// As for [`hs_unlock_stable_ptr_table`]. This is its older name.
#[no_mangle]
pub unsafe extern "C" fn hs_unlock_stable_tables() {
    LOCK.release()
}

/// Runs `f` with the table locked. Around a fork, so that the child does not find the lock taken.
/// # Safety
/// This OS thread does not hold the lock.
pub unsafe fn with_locked<R>(f: impl FnOnce() -> R) -> R {
    LOCK.acquire();
    let r = f();
    LOCK.release();
    r
}

/// Visits every closure that a stable pointer represents.
/// # Safety
/// The world is stopped.
pub unsafe fn roots(visit: &mut dyn FnMut(&mut Closure)) {
    LOCK.acquire();
    for i in 1..table().top {
        let entry = &mut *stable_ptr_table.add(i);
        if !entry.is_null() {
            visit(entry);
        }
    }
    LOCK.release();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_reused_and_the_table_grows() {
        unsafe {
            let all: Vec<usize> = (1..1000).map(|i| getStablePtr(Closure(i * 8))).collect();
            assert!(all.iter().all(|&sp| sp != 0));
            assert!(all.iter().zip(1..).all(|(&sp, i)| deRefStablePtr(sp) == Closure(i * 8)));
            hs_free_stable_ptr(all[7]);
            hs_free_stable_ptr(all[7]);
            hs_free_stable_ptr(0);
            let again = getStablePtr(Closure(8));
            assert_eq!(again, all[7]);
            assert_ne!(getStablePtr(Closure(16)), again);
            let mut seen = 0;
            roots(&mut |_| seen += 1);
            assert_eq!(seen, 1000);
        }
    }
}
