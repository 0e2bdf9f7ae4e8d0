//! Updating a thunk from Rust: with values from exceptions and frozen work and, with several HECs, with values that
//! return to the frame of a claimed thunk. Cmm updates for all other frames (`Update.cmm`). `thunk.rs` has the
//! protocol.
use super::blackhole::{discharge, wake};
use super::thunk::{self, Claim, Memory, Outcome, State};
use crate::abi::{Closure, Tso};
use crate::eval::thunk_words::Heap;
use crate::hec::spark_skip;
use crate::hec::Hec;

/// Makes `thunk` an indirection to `value` and wakes the threads that wait for it. Does nothing if the thunk has a
/// value already or another thread is claiming it at this moment. `t` is the thread whose frame for the thunk goes.
/// # Safety
/// `thunk` is an untagged pointer to a thunk; the caller acts for `t`.
pub unsafe fn update(hec: &mut Hec, t: Tso, thunk: Closure, value: Closure) {
    match thunk::inspect(&Heap, thunk.0) {
        State::Unclaimed => {
            fill(hec, thunk, value);
        }
        State::BeingClaimed => {}
        State::Claimed(..) => {
            finish(hec, t, thunk, value);
        }
    }
}

/// Gives a claimed thunk its value, whichever thread owns the claim. Returns the value that the thunk now has.
/// # Safety
/// As for [`update`].
pub(super) unsafe fn finish(hec: &mut Hec, t: Tso, thunk: Closure, value: Closure) -> Closure {
    let outcome = thunk::finish(&Heap, thunk.0, value.0);
    thunk::after_update(&Heap, t.0, outcome, |pending| discharge(hec, pending));
    match outcome {
        Outcome::Kept(value) => {
            spark_skip::record_duplicate_work();
            Closure(value)
        }
        Outcome::Replaced(_) => {
            hec.remember(thunk);
            value
        }
    }
}

/// Gives an unclaimed thunk its value. Returns false if another thread was faster.
/// # Safety
/// As for [`update`].
pub(super) unsafe fn fill(hec: &mut Hec, thunk: Closure, value: Closure) -> bool {
    let filled = thunk::fill(&Heap, thunk.0, value.0);
    if filled {
        hec.remember(thunk);
    }
    filled
}

/// The running thread returns `value` to the update frame of a claimed thunk. Returns the value to continue with,
/// evaluated or not. Called if there are several HECs.
/// # Safety
/// Called from Cmm. Hp is in its register, so nothing may be allocated in the nursery.
#[no_mangle]
pub unsafe extern "C" fn hec_update_shared(hec: &mut Hec, thunk: Closure, value: Closure) -> Closure {
    let t = hec.current();
    finish(hec, t, thunk, value)
}

/// Cmm has overwritten the indirectee of a claimed thunk: wakes the threads in `indirectee`, if it is a queue. Called
/// if there is one HEC.
/// # Safety
/// Called from Cmm; `indirectee` is what the thunk held before.
#[no_mangle]
pub unsafe extern "C" fn hec_wake_blackhole(hec: &mut Hec, indirectee: Closure) {
    if let Claim::Queue(queue) = Heap.claim(indirectee.0) {
        wake(hec, thunk::close(&Heap, queue));
    }
}
