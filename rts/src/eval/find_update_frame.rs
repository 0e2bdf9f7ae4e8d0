//! Finding the next update frame on a stack.
//!
//! Only a frame's info table tells its size. Visiting frames one after another is slow, and a thread deep in IO has
//! hundreds that evaluate nothing. (`noDuplicate#` is called for each unique name that ghc makes.) So after a few
//! frames, or at once if the whole stack is short, the words of the chunk are searched instead, which is much faster.
//! If none of the remaining words is the info pointer of an update frame, no update frame remains. If one is, it may be
//! a stale word in a frame of another kind. So frames are visited up to that word.
//!
//! *Checked by*: the unit tests below.
use crate::abi::layout::*;
use crate::abi::{Info, Stack};
use crate::eval::frames::{first_word_of, Frame};
use crate::info;
use crate::thread::stack::underflow_frame;

/// The number of frames visited before the remaining words are searched. A visit takes about five nanoseconds, and a
/// search covers a few words per nanosecond, so that searching costs about as much as visiting these.
const MAX_VISITED: usize = 16;
/// The most words of a stack that are searched at once. Threads that only communicate have such stacks.
const MAX_SHORT_STACK: isize = 48;

/// The youngest frame of a chunk, from `frame` on, that updates a thunk or leads to the chunk below. Returns `None` if
/// the stack ends before.
/// # Safety
/// The chunk belongs to a thread that is stopped, and `frame` is one of its frames or its end.
#[inline]
pub(super) unsafe fn next_update(chunk: Stack, frame: Frame) -> Option<Frame> {
    let top = chunk.top() as *mut usize;
    if top.offset_from(frame.0) <= MAX_SHORT_STACK && first_candidate(frame, top) == top {
        return underflow_frame(chunk).map(Frame);
    }
    visit_frames(chunk, frame)
}

/// The kinds of update frames.
fn update_frames() -> [Info; 4] {
    [
        info!(stg_upd_frame_info),
        info!(stg_bh_upd_frame_info),
        info!(stg_marked_upd_frame_info),
        info!(hec_once_upd_frame_info),
    ]
}

/// The first word that may begin an update frame, or `top`.
unsafe fn first_candidate(frame: Frame, top: *mut usize) -> *mut usize {
    first_word_of(update_frames(), frame.0, top)
}

/// As [`next_update`].
unsafe fn visit_frames(chunk: Stack, mut frame: Frame) -> Option<Frame> {
    let top = chunk.top() as *mut usize;
    let mut candidate = std::ptr::null_mut();
    loop {
        let mut left = MAX_VISITED;
        while left > 0 || frame.0 <= candidate {
            if frame.0 >= top {
                return None;
            }
            match frame.info().kind() {
                // First, because most frames are of this kind.
                RET_SMALL => frame = frame.older(),
                UPDATE_FRAME | UNDERFLOW_FRAME => return Some(frame),
                STOP_FRAME => return None,
                _ => frame = frame.older(),
            }
            left = left.saturating_sub(1);
        }
        candidate = first_candidate(frame, top);
        if candidate == top {
            return underflow_frame(chunk).map(Frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Info;
    use crate::testing::symbols as t;
    use crate::testing::world::{World, STACKS};
    use crate::thread::stack::{grow, StackSizes};

    /// As many return frames as a new thread has room for.
    const MANY: usize = 40;

    /// The position at which [`next_update`] finds a frame on a stack of `returns` return frames. The words at `decoys`
    /// look like update frames but are inside other frames; at `at` there is an update frame.
    fn found(returns: usize, decoys: &[usize], at: Option<usize>) -> Option<usize> {
        found_of(info!(stg_upd_frame_info), returns, decoys, at)
    }

    fn found_of(kind: Info, returns: usize, decoys: &[usize], at: Option<usize>) -> Option<usize> {
        let mut w = World::new(1);
        let mut words = [t::ret_p().0, 8].repeat(returns);
        decoys.iter().for_each(|&i| words[2 * i + 1] = info!(stg_upd_frame_info).0);
        if let Some(at) = at {
            let thunk = w.thunk().0;
            words.splice(2 * at..2 * at, [kind.0, thunk]);
        }
        let thread = w.thread_with(&words);
        unsafe {
            let chunk = thread.obj().stackobj;
            let youngest = Frame::youngest(chunk);
            let next = next_update(chunk, youngest)?;
            assert_eq!(next.info(), kind);
            Some(next.0.offset_from(youngest.0) as usize / 2)
        }
    }

    #[test]
    fn update_frames_are_found_however_far_away() {
        for at in [0, 1, MAX_VISITED - 1, MAX_VISITED, MAX_VISITED + 1, 2 * MAX_VISITED, MANY - 1, MANY] {
            for kind in update_frames() {
                assert_eq!(found_of(kind, MANY, &[], Some(at)), Some(at));
            }
        }
        assert_eq!(found(MANY, &[], None), None);
        assert_eq!(found(0, &[], None), None);
    }

    #[test]
    fn words_that_look_like_update_frames_are_ignored() {
        for decoys in [vec![MANY - 1], vec![MAX_VISITED], (0..MANY).collect()] {
            assert_eq!(found(MANY, &decoys, None), None);
            assert_eq!(found(MANY, &decoys, Some(MANY / 2)), Some(MANY / 2));
            assert_eq!(found(MANY, &decoys, Some(MANY)), Some(MANY));
        }
    }

    #[test]
    fn a_stale_word_before_the_end_is_no_underflow_frame() {
        let mut w = World::new(1);
        let words =
            [[t::ret_p().0, 8].repeat(MANY), vec![t::ret_p().0, info!(stg_stack_underflow_frame_info).0]].concat();
        let thread = w.thread_with(&words);
        unsafe {
            let chunk = thread.obj().stackobj;
            assert!(next_update(chunk, Frame::youngest(chunk)).is_none());
        }
    }

    #[test]
    fn the_underflow_frame_is_found() {
        let mut w = World::new(1);
        let sizes = StackSizes { buffer: MANY, chunk: STACKS.initial, ..STACKS };
        let thread = w.thread_with(&[t::ret_p().0, 8].repeat(MANY));
        unsafe {
            grow(w.hec, thread, &sizes, false);
            let chunk = thread.obj().stackobj;
            let next = next_update(chunk, Frame::youngest(chunk)).unwrap();
            assert_eq!(next.info(), info!(stg_stack_underflow_frame_info));
            assert_eq!(next.0.offset_from(Frame::youngest(chunk).0) as usize, MANY);
            const { assert!(MANY / 2 > MAX_VISITED) };
        }
    }
}
