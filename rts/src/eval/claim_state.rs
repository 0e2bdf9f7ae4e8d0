//! The state of a claimed thunk, as a thread with an update frame for it sees it.
use crate::abi::{Closure, Tso};
use crate::eval::thunk;
use crate::eval::thunk::State;
use crate::eval::thunk_words::Heap;

/// The state of a thunk, for a thread that has an update frame for it.
#[derive(PartialEq, Eq)]
pub(super) enum ClaimState {
    Free,
    Own,
    /// Another thread evaluates it, or it has a value.
    Foreign,
}

/// The owner of a thunk, as a thread sees it.
/// # Safety
/// `thunk` is live and untagged.
pub(super) unsafe fn claim_state(thunk: Closure, t: Tso) -> ClaimState {
    match thunk::inspect(&Heap, thunk.0) {
        State::Unclaimed => ClaimState::Free,
        State::Claimed(_, claim) if thunk::owner(&Heap, claim) == Some(t.0) => ClaimState::Own,
        State::Claimed(..) | State::BeingClaimed => ClaimState::Foreign,
    }
}
