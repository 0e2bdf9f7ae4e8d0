//! Which words of an object that may travel are pointers.
use crate::abi::closure::fields::*;
use crate::abi::info_table::Bitmap;
use crate::abi::layout::*;
use crate::abi::{Closure, Info};

/// The function that a PAP or AP applies: its code says which of the arguments are pointers.
pub type FunctionInfo<'a> = &'a dyn Fn(Closure) -> Info;

/// Is it a constructor?
pub fn is_constructor(kind: usize) -> bool {
    matches!(kind, CONSTR | CONSTR_NOCAF | CONSTR_1_0 | CONSTR_0_1 | CONSTR_2_0 | CONSTR_1_1 | CONSTR_0_2)
}

/// Is it a function that is no partial application?
pub fn is_function(kind: usize) -> bool {
    matches!(kind, FUN | FUN_1_0 | FUN_0_1 | FUN_2_0 | FUN_1_1 | FUN_0_2)
}

/// Is it a thunk that a compiler made, and no selector?
pub fn is_thunk(kind: usize) -> bool {
    matches!(kind, THUNK | THUNK_1_0 | THUNK_0_1 | THUNK_2_0 | THUNK_1_1 | THUNK_0_2)
}

/// Is it an array of pointers with a table of cards, mutable or not?
pub fn is_array(kind: usize) -> bool {
    matches!(kind, MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY)
}

/// Is it an array of pointers without a table of cards?
pub fn is_small_array(kind: usize) -> bool {
    matches!(
        kind,
        SMALL_MUT_ARR_PTRS_CLEAN
            | SMALL_MUT_ARR_PTRS_DIRTY
            | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN
            | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY
    )
}

/// Calls `f` with the index of each word that is a pointer, first ones first. `c` is where the words are now.
/// # Safety
/// The object has the header `info`, and may travel.
#[inline(always)]
pub unsafe fn each(c: Closure, info: Info, function_info: FunctionInfo, mut f: impl FnMut(usize)) {
    match info.kind() {
        kind if is_constructor(kind) || is_function(kind) => (1..1 + info.ptrs()).for_each(f),
        kind if is_thunk(kind) => (THUNK_PAYLOAD..THUNK_PAYLOAD + info.ptrs()).for_each(f),
        THUNK_SELECTOR => f(SELECTOR_SELECTEE),
        IND => f(INDIRECTEE),
        PAP => {
            f(PAP_FUN);
            arguments(function_info(c.field(PAP_FUN)), PAP_PAYLOAD, c.word(PAP_COUNTS) >> 32, f);
        }
        AP => {
            f(AP_FUN);
            arguments(function_info(c.field(AP_FUN)), AP_PAYLOAD, c.word(AP_COUNTS) >> 32, f);
        }
        kind if is_array(kind) => (MUT_ARR_PAYLOAD..MUT_ARR_PAYLOAD + c.word(MUT_ARR_PTRS)).for_each(f),
        kind if is_small_array(kind) => (SMALL_ARR_PAYLOAD..SMALL_ARR_PAYLOAD + c.word(SMALL_ARR_PTRS)).for_each(f),
        _ => {}
    }
}

unsafe fn arguments(function: Info, payload: usize, count: usize, mut f: impl FnMut(usize)) {
    let kind = function.kind();
    if !is_function(kind) && kind != FUN_STATIC {
        return (payload..payload + count).for_each(f);
    }
    let bitmap = function.fun_bitmap();
    let is_raw = |i: usize| match bitmap {
        Bitmap::Small { bits, .. } => bits >> i & 1 != 0,
        Bitmap::Large { words, .. } => *words.add(i / 64) >> (i % 64) & 1 != 0,
    };
    (0..count).filter(|&i| !is_raw(i)).for_each(|i| f(payload + i));
}

/// Copies words. Most objects are small, for which a call takes longer than a loop.
/// # Safety
/// As for `copy_nonoverlapping`.
#[inline(always)]
pub unsafe fn copy_words(from: *const usize, to: *mut usize, words: usize) {
    if words <= 8 {
        (0..words).for_each(|i| *to.add(i) = *from.add(i));
    } else {
        std::ptr::copy_nonoverlapping(from, to, words);
    }
}
