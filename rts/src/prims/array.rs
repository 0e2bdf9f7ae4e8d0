//! Arrays of pointers that the runtime itself makes, and those that are thawed.
//!
//! Who keeps copies of frozen arrays must know when one is thawed. It may be changed and frozen again, and its header
//! does not show that.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, WORD};
use crate::hec::Hec;
use crate::info;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// Not 0 if somebody keeps copies of arrays. Read by `unsafeThaw#` (`cmm/Prims.h`).
#[export_name = "hec_notes_thaws"]
static NOTES_THAWS: AtomicUsize = AtomicUsize::new(0);
static ON_THAW: OnceLock<fn(Closure)> = OnceLock::new();

/// Has a function called from now on with each array that is thawed in place.
pub fn set_on_thaw(on_thaw: fn(Closure)) {
    ON_THAW.get_or_init(|| on_thaw);
    NOTES_THAWS.store(1, Ordering::Release);
}

#[no_mangle]
pub extern "C" fn hec_note_thaw(array: Closure) {
    if let Some(on_thaw) = ON_THAW.get() {
        on_thaw(array);
    }
}

/// Words of the card table of an array of `n` elements.
fn card_words(n: usize) -> usize {
    n.div_ceil(1 << MUT_ARR_PTRS_CARD_BITS).div_ceil(WORD)
}

/// A frozen array of `elements`.
/// # Safety
/// Hp has been saved, and the elements are live.
pub unsafe fn frozen(hec: &mut Hec, elements: &[Closure]) -> Closure {
    let n = elements.len();
    let size = n + card_words(n);
    let a = hec.allocate(MUT_ARR_PAYLOAD + size);
    a.set_info(info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info));
    a.set_word(MUT_ARR_PTRS, n);
    a.set_word(MUT_ARR_SIZE, size);
    std::ptr::copy_nonoverlapping(elements.as_ptr() as *const usize, a.slot(MUT_ARR_PAYLOAD), n);
    std::ptr::write_bytes(a.slot(MUT_ARR_PAYLOAD + n), 0, size - n);
    a
}
