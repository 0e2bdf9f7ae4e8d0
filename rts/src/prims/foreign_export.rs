//! Exported functions. Foreign code may call them at any time, so they are roots for ever.
use super::stable_ptr::getStablePtr;
use crate::abi::Closure;

/// `struct ForeignExportsList`: a module's exports, in the module's own data.
#[repr(C)]
pub struct ForeignExports {
    next: *mut ForeignExports,
    len: i32,
    object_code: usize,
    stable_ptrs: usize,
    exports: [Closure; 0],
}

/// Keeps a module's exports alive. The module's constructor calls this, before the runtime starts.
/// # Safety
/// The list has `len` entries.
#[no_mangle]
pub unsafe extern "C" fn registerForeignExports(list: *const ForeignExports) {
    let exports = std::ptr::addr_of!((*list).exports) as *const Closure;
    for i in 0..(*list).len as usize {
        getStablePtr(*exports.add(i));
    }
}

/// Keeps one exported closure alive.
/// # Safety
/// As for [`getStablePtr`].
#[no_mangle]
pub unsafe extern "C" fn foreignExportStablePtr(c: Closure) -> usize {
    getStablePtr(c)
}

const _: () = assert!(std::mem::offset_of!(ForeignExports, exports) == 32);
