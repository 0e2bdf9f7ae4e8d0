//! Evaluating a copy of another thread's work, where the work itself cannot be moved [SHMP14, §6.5].
//!
//! *Protocol*
//! 1. A thread in the transaction of a `switch`, or an upcall, needs a thunk that a passive thread evaluates. The work
//!    has frames that belong to its thread: handlers and masking states. So it cannot be stolen (`thunk_steal.rs`).
//! 2. The frames above the update frame are copied to the heap, and the thread that needs the thunk evaluates the copy.
//!    The owner keeps its frames and its claims.
//! 3. In the copy, [update frames](UPDATE_FRAME) are frames of a kind of their own, which give the owner's thunk the
//!    value but are not the evaluator's claims: a collection in the middle does not cut the copy off.
//! 4. The copy is evaluated with asynchronous exceptions masked uninterruptibly, whatever the owner's state was. So
//!    frames that set a masking state do nothing in the copy, and a handler leaves the exceptions masked. Below the
//!    copy a frame restores the evaluator's state.
//! 5. When the owner runs again, it finds that its thunks have values, and goes on with them.
//!
//! *Invariants*
//! - Work that has called `noDuplicate#` is not copied. The call marks the youngest update frame of a thread of a user
//!   scheduler ([`no_duplicate`]). A thread that begins to belong to one within a thunk is not copied from at all.
//! - A copy that calls `noDuplicate#` is given up, and its evaluator makes no more copies.
//! - Work with a transaction, or with frames in a second chunk of the stack, is not copied.
//!
//! *Checked by*: the unit tests below and `tests/conformance/schedulers/schedulers_upcalls.hs`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::tso::{TSO_NO_COPIES, TSO_SWITCHES, TSO_UPCALL, TSO_USER};
use crate::abi::{Closure, Tso};
use crate::eval::find_update_frame::next_update;
use crate::eval::frames::{is_pure, set_top, sets_masking, Frame};
use crate::eval::raise_async::{unwind, Goal, Segment, SEGMENT_WORDS};
use crate::hec::Hec;
use crate::observe::blackhole_profile;
use crate::{info, static_closure};

const MASKED: usize = TSO_BLOCKEX;

/// Does the frame belong to a transaction, which cannot run within another one?
unsafe fn is_transaction(frame: Frame) -> bool {
    [info!(hec_restart_atomically_info), info!(hec_restart_switch_info)].contains(&frame.info())
}

/// The words of the thread's stack above its update frame for the thunk, if all frames there may be copied.
unsafe fn words_above(t: Tso, thunk: Closure) -> Option<&'static [usize]> {
    let stack = t.obj().stackobj;
    let youngest = Frame::youngest(stack);
    let mut frame = youngest;
    while (frame.0 as usize) < stack.top() {
        if frame.info() == info!(hec_once_upd_frame_info) {
            return None;
        }
        if frame.info().kind() == UPDATE_FRAME && frame.closure(UPD_FRAME_UPDATEE) == thunk {
            return Some(std::slice::from_raw_parts(youngest.0, frame.0.offset_from(youngest.0) as usize));
        }
        let can_be_copied = is_pure(frame) || sets_masking(frame) || frame.info().kind() == CATCH_FRAME;
        if !can_be_copied || is_transaction(frame) {
            return None;
        }
        frame = frame.older();
    }
    None
}

/// Makes a frame what it is in a copy.
unsafe fn detach(frame: Frame) {
    if sets_masking(frame) {
        frame.set_info(info!(stg_noupd_frame_info));
    }
    match frame.info().kind() {
        UPDATE_FRAME => frame.set_info(info!(hec_copied_upd_frame_info)),
        CATCH_FRAME => *frame.0.add(CATCH_FRAME_EXCEPTIONS_BLOCKED) = MASKED,
        _ => {}
    }
}

/// A closure that goes on as the owner of the thunk would, if its work may be copied, and thread `t` may evaluate it.
/// # Safety
/// `owner` is at rest, and no other HEC changes it meanwhile.
pub(super) unsafe fn copy(hec: &mut Hec, t: Tso, owner: Tso, thunk: Closure) -> Option<Closure> {
    if (t.obj().flags | owner.obj().flags) & TSO_NO_COPIES != 0 {
        return None;
    }
    let mut words = words_above(owner, thunk)?.to_vec();
    let end = words.as_mut_ptr_range().end;
    let once = info!(stg_AP_STACK_NOUPD_info);
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    let mut segment = Segment { first: unit, from: Frame(words.as_mut_ptr()) };
    let mut frame = segment.from;
    while frame.0 < end {
        detach(frame);
        let older = frame.older();
        if frame != segment.from && older.0.offset_from(segment.from.0) as usize > SEGMENT_WORDS {
            segment = Segment { first: segment.freeze(hec, frame, once), from: frame };
        }
        frame = older;
    }
    blackhole_profile::copied();
    Some(segment.freeze(hec, frame, once))
}

/// Makes the thread evaluate a copy, and give its value to the thunk.
/// # Safety
/// The thread is at rest, with a frame on top that enters the thunk.
pub(super) unsafe fn evaluate(t: Tso, thunk: Closure, copy: Closure) {
    let top = Frame::youngest(t.obj().stackobj);
    debug_assert!(top.info() == info!(stg_enter_info) && top.closure(1).untag() == thunk);
    let rest = Frame(top.0.add(ENTER_WORDS));
    let call = [info!(stg_enter_info).0, copy.0, info!(hec_copied_upd_frame_info).0, thunk.0];
    let flags = t.obj().flags as usize;
    let restore = match (flags & TSO_BLOCKEX != 0, flags & TSO_INTERRUPTIBLE != 0) {
        (true, false) => return set_top(t, rest, &call),
        (true, true) => info!(stg_maskAsyncExceptionszh_ret_info),
        (false, _) => info!(stg_unmaskAsyncExceptionszh_ret_info),
    };
    set_top(t, rest, &[&call[..], &[restore.0]].concat());
    t.obj().flags = ((flags | TSO_BLOCKEX) & !TSO_INTERRUPTIBLE) as u32;
}

/// The running thread has called `noDuplicate#`, and has claimed the thunks that it evaluates.
/// # Safety
/// The thread's registers are saved.
pub(super) unsafe fn no_duplicate(hec: &mut Hec, t: Tso) {
    let flags = t.obj().flags;
    if flags & TSO_USER != 0 {
        if let Some(frame) = youngest_update(t).filter(|f| f.info() == info!(stg_marked_upd_frame_info)) {
            frame.set_info(info!(hec_once_upd_frame_info));
        }
    }
    if flags & (TSO_SWITCHES | TSO_UPCALL) != 0 {
        if let Some(frame) = oldest_copied(t) {
            t.obj().flags |= TSO_NO_COPIES;
            let thunk = frame.closure(UPD_FRAME_UPDATEE);
            let rest = unwind(hec, t, Goal::Below(frame)).frame;
            set_top(t, rest, &[info!(stg_enter_info).0, thunk.0]);
        }
    }
}

/// The thread begins to belong to a user scheduler. What it called before in the thunks of its stack is not known.
/// # Safety
/// The thread is at rest, or running with its registers saved.
pub unsafe fn becomes_user(t: Tso) {
    if youngest_update(t).is_some() {
        t.obj().flags |= TSO_NO_COPIES;
    }
}

unsafe fn youngest_update(t: Tso) -> Option<Frame> {
    let mut chunk = t.obj().stackobj;
    loop {
        let frame = next_update(chunk, Frame::youngest(chunk))?;
        if frame.info().kind() == UPDATE_FRAME {
            return Some(frame);
        }
        chunk = frame.next_chunk();
    }
}

/// The frame below the first copy that the thread has begun and not ended.
unsafe fn oldest_copied(t: Tso) -> Option<Frame> {
    let mut frame = Frame::youngest(t.obj().stackobj);
    let mut oldest = None;
    loop {
        frame = match frame.info().kind() {
            STOP_FRAME => return oldest,
            UNDERFLOW_FRAME => Frame::youngest(frame.next_chunk()),
            _ => {
                if frame.info() == info!(hec_copied_upd_frame_info) {
                    oldest = Some(frame);
                }
                frame.older()
            }
        }
    }
}

/// The words of a frame that enters a closure.
const ENTER_WORDS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::blackhole;
    use crate::eval::lazy_blackholing::thread_paused;
    use crate::eval::tests::{stack, stop, thawed, upd};
    use crate::testing::symbols as t;
    use crate::testing::world::{World, STACKS};
    use crate::thread::create::{new_thread, push};
    use crate::thread::stack::StackSizes;

    #[test]
    fn a_copy_has_all_frames_and_no_claims() {
        let mut w = World::new(2);
        let (x, y, handler) = (w.thunk(), w.thunk(), w.thunk());
        let ret = t::ret_p().0;
        let unmask = info!(stg_unmaskAsyncExceptionszh_ret_info).0;
        let own = [ret, 8, upd(), y.0, unmask, t::catch().0, 0, handler.0, ret, 16];
        let a = w.thread_with(&[&own[..], &[upd(), x.0, ret, 24]].concat());
        let b = w.thread_with(&[info!(stg_enter_info).0, x.0, ret, 32]);
        unsafe {
            thread_paused(w.hec, a);
            let before = stack(a);
            let ap = copy(w.hec, a, a, x).unwrap();
            let copied = info!(hec_copied_upd_frame_info).0;
            let noupd = info!(stg_noupd_frame_info).0;
            assert_eq!(thawed(ap), [ret, 8, copied, y.0, noupd, t::catch().0, MASKED, handler.0, ret, 16]);
            assert_eq!((stack(a), blackhole::owner_of(x), blackhole::owner_of(y)), (before, Some(a), Some(a)));
            evaluate(b, x, ap);
            let enter = info!(stg_enter_info).0;
            assert_eq!(stack(b), [enter, ap.0, copied, x.0, unmask, ret, 32, stop()]);
            assert_eq!(b.obj().flags as usize & (TSO_BLOCKEX | TSO_INTERRUPTIBLE), TSO_BLOCKEX);
            // The copy calls noDuplicate#.
            b.obj().flags |= TSO_UPCALL;
            push(b.obj().stackobj, &[ret, 40, copied, y.0]);
            no_duplicate(w.hec, b);
            assert_eq!(stack(b), [enter, x.0, unmask, ret, 32, stop()]);
            assert!(copy(w.hec, b, a, x).is_none() && copy(w.hec, a, a, x).is_some());
        }
    }

    #[test]
    fn work_that_has_called_no_duplicate_is_not_copied() {
        let mut w = World::new(2);
        let (x, y) = (w.thunk(), w.thunk());
        let ret = t::ret_p().0;
        let a = w.thread_with(&[ret, 8, upd(), y.0, ret, 16, upd(), x.0]);
        unsafe {
            a.obj().flags |= TSO_USER;
            thread_paused(w.hec, a);
            assert!(copy(w.hec, a, a, x).is_some());
            no_duplicate(w.hec, a);
            assert!(copy(w.hec, a, a, x).is_none() && copy(w.hec, a, a, y).is_none());
            // It stops again.
            thread_paused(w.hec, a);
            assert!(copy(w.hec, a, a, y).is_none());
            // Work begun later.
            let z = w.thunk();
            push(a.obj().stackobj, &[ret, 24, upd(), z.0]);
            thread_paused(w.hec, a);
            assert!(copy(w.hec, a, a, z).is_some());
            // All of it is of unknown age.
            becomes_user(a);
            assert!(copy(w.hec, a, a, z).is_none());
        }
    }

    #[test]
    fn long_work_is_copied_in_parts() {
        let mut w = World::new(2);
        let x = w.thunk();
        let ret = t::ret_p().0;
        let own: Vec<usize> = (0..1000).flat_map(|i| [ret, 8 * i]).collect();
        unsafe {
            let a = new_thread(w.hec, &StackSizes { initial: 4000, ..STACKS });
            push(a.obj().stackobj, &[&own[..], &[upd(), x.0]].concat());
            thread_paused(w.hec, a);
            let ap = copy(w.hec, a, a, x).unwrap();
            assert!(ap.word(AP_STACK_SIZE) <= SEGMENT_WORDS);
            assert_eq!(thawed(ap), own);
        }
    }

    #[test]
    fn a_transaction_is_not_copied() {
        let mut w = World::new(2);
        let (x, code) = (w.thunk(), w.thunk());
        let a = w.thread_with(&[t::ret_p().0, 8, info!(hec_restart_atomically_info).0, code.0, upd(), x.0]);
        unsafe {
            thread_paused(w.hec, a);
            assert!(copy(w.hec, a, a, x).is_none());
        }
    }
}
