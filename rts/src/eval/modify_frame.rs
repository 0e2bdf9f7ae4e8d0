//! The stack frame of a modification in progress (`atomic_modify.rs`).
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::tso::TSO_MODIFIES;
use crate::abi::{Info, Tso};
use crate::eval::frames::Frame;
use crate::info;

/// The layout of the frame: {info, tries, variable, value found, function}. If the operation is completed in another
/// way, the last three words become `hec_has_modified` {info, value found, unused}. An update frame may then use the
/// first two.
const TRIES: usize = 1;
pub(super) const VARIABLE: usize = 2;
pub(super) const FOUND: usize = 3;
pub(super) const FUNCTION: usize = 4;
const WORDS: usize = 5;
pub(super) const DONE: usize = 2;
/// A bit in the word of tries: there may be more of these frames below.
const NESTED: usize = 1 << 32;
const _: () = assert!(DONE == UPD_FRAME_WORDS && DONE + 1 == FOUND && DONE + 3 == WORDS);

/// The info tables of frames that wait for the result of a modification.
#[inline(always)]
pub(super) fn modifications() -> [Info; 2] {
    [info!(hec_modifying_component_info), info!(hec_modifying_whole_info)]
}

/// Does the frame wait for the result of a modification? (Most frames have another size, so that is compared first.)
/// # Safety
/// As for the methods of [`Frame`].
#[inline(always)]
pub(super) unsafe fn is_modification(frame: Frame) -> bool {
    frame.small_words() == WORDS && modifications().contains(&frame.info())
}

/// The thread's stack is about to be frozen. A thread that resumes the work may be in other modifications, so each
/// frame is marked as nested.
/// # Safety
/// The thread is stopped.
pub(super) unsafe fn mark_nested(t: Tso) {
    if t.obj().flags & TSO_MODIFIES == 0 {
        return;
    }
    let mut frame = Frame::youngest(t.obj().stackobj);
    while !matches!(frame.info().kind(), STOP_FRAME | UNDERFLOW_FRAME) {
        if is_modification(frame) {
            *frame.0.add(TRIES) |= NESTED;
        }
        frame = frame.older();
    }
}
