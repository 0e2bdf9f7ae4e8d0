//! The static pointer table: closures by 128-bit key, for `GHC.StaticPtr`.
//!
//! *Invariants*
//!
//! - A stable pointer keeps each closure alive.
//! - Modules insert their entries from constructors, before the runtime starts.
//!
//! *Locking*: one lock for the table.
use crate::abi::Closure;
use crate::prims::stable_ptr::{deRefStablePtr, getStablePtr, hs_free_stable_ptr};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Key = [u64; 2];
/// Each key is boxed, because `hs_spt_keys` returns its address.
type Table = BTreeMap<Key, (Box<Key>, usize)>;

static TABLE: Mutex<Table> = Mutex::new(BTreeMap::new());

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe fn insert(key: Key, sp: usize) {
    if let Some((_, old)) = table().insert(key, (Box::new(key), sp)) {
        hs_free_stable_ptr(old);
    }
}

/// # Safety
/// `key` may be read, and `closure` is live.
#[no_mangle]
pub unsafe extern "C" fn hs_spt_insert(key: *const Key, closure: Closure) {
    insert(*key, getStablePtr(closure))
}

/// Takes ownership of `entry`, which was allocated by malloc and holds a stable pointer.
/// # Safety
/// `key` and `entry` may be read.
#[no_mangle]
pub unsafe extern "C" fn hs_spt_insert_stableptr(key: *const Key, entry: *mut usize) {
    insert(*key, *entry);
    libc::free(entry as *mut libc::c_void);
}

/// # Safety
/// `key` may be read.
#[no_mangle]
pub unsafe extern "C" fn hs_spt_remove(key: *const Key) {
    if let Some((_, sp)) = table().remove(&*key) {
        hs_free_stable_ptr(sp);
    }
}

/// The closure for a key, or null.
/// # Safety
/// `key` may be read.
#[no_mangle]
pub unsafe extern "C" fn hs_spt_lookup(key: *const Key) -> Closure {
    table().get(&*key).map_or(Closure::NULL, |&(_, sp)| deRefStablePtr(sp))
}

/// Writes the addresses of at most `room` keys. Returns their number.
/// # Safety
/// `keys` has room for `room` addresses.
#[no_mangle]
pub unsafe extern "C" fn hs_spt_keys(keys: *mut *const Key, room: i32) -> i32 {
    let table = table();
    let count = table.len().min(room.max(0) as usize);
    for (i, (key, _)) in table.values().take(count).enumerate() {
        *keys.add(i) = &**key;
    }
    count as i32
}

#[no_mangle]
pub extern "C" fn hs_spt_key_count() -> i32 {
    table().len() as i32
}
