//! Constructors whose raw words are addresses, or whose bytes are mutable.
//!
//! A raw word may be the address of pinned bytes (`ByteString`, storable vectors). Then the constructor has a field of
//! type `ForeignPtrContents`, which says to whom these bytes belong. `PlainPtr` has the array itself: it travels to the
//! same address, as a companion. Others have finalizers, and stay with what has them.
use crate::abi::{Closure, Info};
use crate::info;
use crate::memory::address_space::{is_own, is_used};
use crate::memory::{age_of, in_heap, Age};
use crate::spread::program;
use crate::static_closure;
use std::ffi::CStr;

/// Constructors whose byte array is mutable, by module and name. Elsewhere byte arrays are immutable.
const MUTABLE: [&str; 6] = [
    "Data.Array.Base.STUArray",
    "Data.Primitive.ByteArray.MutableByteArray",
    "Data.Primitive.PrimArray.MutablePrimArray",
    "Data.Vector.Primitive.Mutable.MVector",
    "Data.Text.Array.MArray",
    "Data.Text.Array.MutableByteArray",
];

/// Why a constructor with raw words stays because of them, if it does.
/// # Safety
/// `c` is a live constructor with the header `info`.
pub unsafe fn reason(c: Closure, info: Info) -> Option<&'static str> {
    let is_address = info == info!(base_GHCziPtr_Ptr_con_info) || info == info!(base_GHCziPtr_FunPtr_con_info);
    if is_address && c.word(1) != 0 && !program::holds(c.word(1)) {
        return Some("an address of one process");
    }
    let is_final = |i| c.field(i).untag() == static_closure!(base_GHCziForeignPtr_FinalPtr_closure);
    let has_final = (1..1 + info.ptrs()).any(is_final);
    (has_final && !raw_words(c, info).any(|word| program::holds(word) || is_bytes(word)))
        .then_some("an address of one process")
}

/// Is it the header of what a pointer to bytes has as its contents, beside `FinalPtr`, which is static?
pub fn is_contents(info: Info) -> bool {
    info == info!(base_GHCziForeignPtr_PlainPtr_con_info)
        || info == info!(base_GHCziForeignPtr_MallocPtr_con_info)
        || info == info!(base_GHCziForeignPtr_PlainForeignPtr_con_info)
}

/// Does a constructor have a mutable byte array?
/// # Safety
/// `info` is the header of a constructor that has a byte array.
pub unsafe fn is_mutable(info: Info) -> bool {
    name(info).is_some_and(|name| MUTABLE.contains(&name))
}

/// A constructor's module and name.
/// # Safety
/// `info` is the header of a constructor.
pub unsafe fn name(info: Info) -> Option<&'static str> {
    let at = info.con_name();
    if !program::holds(at as usize) {
        return None;
    }
    // The package comes first.
    CStr::from_ptr(at).to_str().ok()?.split_once(':').map(|(_, name)| name)
}

unsafe fn raw_words(c: Closure, info: Info) -> impl Iterator<Item = usize> {
    let from = 1 + info.ptrs();
    (from..from + info.nptrs()).map(move |i| c.word(i))
}

/// May a raw word be the address of bytes that do not move?
fn is_bytes(word: usize) -> bool {
    in_heap(word) && (!is_own(word) || is_used(word) && age_of(word).is(Age::PINNED | Age::LARGE))
}
