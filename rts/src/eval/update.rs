//! Updating a thunk from Rust. Returning to an update frame is done in Cmm (`Update.cmm`);
//! this is the same protocol for values that come in other ways: exceptions and frozen work.
use super::blackhole;
use crate::contract::closure::fields::INDIRECTEE;
use crate::contract::symbols::is_blackhole_info;
use crate::contract::Closure;
use crate::hec::Hec;
use crate::info;
use std::sync::atomic::{fence, Ordering};

/// Makes `thunk` an indirection to `value`, unless it has a value already, and wakes who waits
/// for it. The value is written before the header, so that whoever sees the header sees it.
/// # Safety
/// `thunk` is an untagged pointer to a thunk, claimed or not.
pub unsafe fn update(hec: &mut Hec, thunk: Closure, value: Closure) {
    let header = thunk.info();
    if header == info!(stg_IND_info) {
        return;
    }
    let claim = is_blackhole_info(header).then(|| thunk.field(INDIRECTEE));
    thunk.set_word(INDIRECTEE, value.0);
    fence(Ordering::Release);
    thunk.set_info(info!(stg_IND_info));
    hec.remember(thunk);
    if let Some(claim) = claim {
        blackhole::wake(hec, claim);
    }
}
