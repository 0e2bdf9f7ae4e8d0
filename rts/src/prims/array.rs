//! Arrays of pointers that the runtime itself makes.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, WORD};
use crate::hec::Hec;
use crate::info;

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
