//! Asynchronous exceptions, and freezing a stack without losing work [HMP05, §4.3].
//!
//! When a computation is abandoned, the thunks that it was evaluating must not stay claimed for ever, and the work done
//! for them should not be lost. So the stack is frozen.
//!
//! *Protocol*
//! 1. The words above an update frame become an AP_STACK closure, and the frame's thunk becomes an indirection to it.
//! 2. A thread that needs the thunk enters the AP_STACK. That puts the words on the thread's own stack and continues
//!    where the work was interrupted.
//! 3. The next segment, down to the next update frame, begins with the value of the previous thunk: its AP_STACK
//!    evaluates that first.
//!
//! ```text
//!   stack (youngest first)          heap
//!   [ a ] upd x [ b ] upd y …  ⇒   x = AP_STACK(unit, a)   y = AP_STACK(x's AP_STACK, b)
//! ```
//!
//! A stopped thread's youngest frame needs no register, hence the unit. Segments also end at chunk boundaries, and at
//! [`SEGMENT_WORDS`], so that any stack has room for one. The segment below enters the closures for those once, and
//! they are not updated.
//!
//! A transaction cannot be frozen: its frame is replaced by one that starts it again.
//!
//! *Checked by*: the unit tests in `rts/src/eval/raise_async_tests.rs`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Tso, WORD};
use crate::eval::blackhole::release_queues;
use crate::eval::claim_state::{claim_state, ClaimState};
use crate::eval::frames::{drop_chunk, restart_at, set_top, sets_masking, Frame, ATOMICALLY_WORDS};
use crate::eval::{modify_frame, unwind_hooks, update};
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::thread::park;
use crate::thread::stack::dirty_stack;
use crate::{info, static_closure};

/// The most words of one AP_STACK: less than the free words of a stack that has just grown.
pub(super) const SEGMENT_WORDS: usize = 448;

/// The purpose for which a stack is unwound: which frames end it.
#[derive(Clone, Copy)]
pub enum Goal {
    /// An exception: to the first handler.
    Handler,
    /// The end of the thread.
    Bottom,
    /// The innermost transaction begins again.
    Transaction,
    /// `retry#`: to the innermost alternative, or the transaction.
    Alternative,
    /// Just this update frame, whose thunk is left unchanged.
    Only(Frame),
    /// The frame directly below this update frame.
    Below(Frame),
    /// This frame.
    At(Frame),
}

impl Goal {
    unsafe fn ends_at(self, frame: Frame, kind: usize) -> bool {
        match kind {
            _ if matches!(self, Goal::At(f) if f == frame) => true,
            STOP_FRAME => true,
            CATCH_FRAME => matches!(self, Goal::Handler),
            ATOMICALLY_FRAME => matches!(self, Goal::Transaction | Goal::Alternative),
            CATCH_RETRY_FRAME => matches!(self, Goal::Alternative),
            UPDATE_FRAME if matches!(self, Goal::Only(f) if f == frame) => true,
            _ => matches!(self, Goal::Below(f) if f.0.add(UPD_FRAME_WORDS) == frame.0),
        }
    }
}

/// The number of update frames above the goal. Below the last of them nothing need be frozen.
unsafe fn count_updates(t: Tso, goal: Goal) -> usize {
    let mut frame = Frame::youngest(t.obj().stackobj);
    let mut n = 0;
    loop {
        let kind = frame.info().kind();
        if goal.ends_at(frame, kind) {
            return n;
        }
        n += (kind == UPDATE_FRAME) as usize;
        frame = match kind {
            UNDERFLOW_FRAME => Frame::youngest(frame.next_chunk()),
            _ => frame.older(),
        };
    }
}

/// A segment that is being moved to the heap: the closure that it evaluates first, and the frame where it begins.
pub(super) struct Segment {
    pub(super) first: Closure,
    pub(super) from: Frame,
}

impl Segment {
    /// Makes the closure that does the segment's work, down to `to`.
    pub(super) unsafe fn freeze(&self, hec: &mut Hec, to: Frame, header: Info) -> Closure {
        let words = to.0.offset_from(self.from.0) as usize;
        if words == 0 {
            return self.first;
        }
        let ap = hec.allocate(AP_STACK_PAYLOAD + words);
        ap.set_info(header);
        ap.set_word(AP_STACK_SIZE, words);
        ap.set_word(AP_STACK_FUN, self.first.0);
        std::ptr::copy_nonoverlapping(self.from.0, ap.slot(AP_STACK_PAYLOAD), words);
        ap
    }
}

/// Where unwinding has ended.
pub struct Unwound {
    pub frame: Frame,
    /// The frame, no longer on the stack, that would have set the masking state in which the code below runs. `None`:
    /// that is the thread's present state.
    masking: Option<Info>,
}

impl Unwound {
    /// Makes the thread set the masking state of its youngest frame before it continues there. A thread that gives up
    /// work would otherwise stay as that has masked it.
    unsafe fn restore_masking(&self, t: Tso) {
        if let Some(frame) = self.masking {
            let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
            crate::thread::create::push(t.obj().stackobj, &[info!(stg_ret_p_info).0, unit.0, frame.0]);
        }
    }

    /// Makes the thread continue at `rest` with the words of `push` above it, as [`set_top`] does, in the masking state
    /// of the frame where unwinding has ended.
    /// # Safety
    /// As for [`set_top`].
    pub unsafe fn continue_at(&self, t: Tso, rest: Frame, push: &[usize]) {
        set_top(t, rest, push);
        self.restore_masking(t);
    }
}

/// Freezes the thread's stack down to the goal, which becomes its youngest frame.
/// # Safety
/// The thread is stopped with its stack saved (or is the running one, with its registers saved). Its youngest frame
/// needs no register.
pub unsafe fn unwind(hec: &mut Hec, t: Tso, goal: Goal) -> Unwound {
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    let once = info!(stg_AP_STACK_NOUPD_info);
    let not_updated = match goal {
        Goal::Only(f) => f.closure(UPD_FRAME_UPDATEE),
        _ => Closure::NULL,
    };
    dirty_tso(&mut hec.remembered, t);
    dirty_stack(hec, t.obj().stackobj);
    let mut left = count_updates(t, goal);
    let mut frame = Frame::youngest(t.obj().stackobj);
    let mut seg = Segment { first: unit, from: frame };
    // The thread no longer owned one of these thunks.
    let mut lost_claim = false;
    let mut masking = None;
    loop {
        let kind = frame.info().kind();
        if goal.ends_at(frame, kind) {
            t.obj().stackobj.obj().sp = frame.0 as usize;
            if lost_claim {
                release_queues(hec, t);
            }
            return Unwound { frame, masking };
        }
        if sets_masking(frame) {
            masking = Some(frame.info());
        }
        match kind {
            UPDATE_FRAME => {
                left -= 1;
                let thunk = frame.closure(UPD_FRAME_UPDATEE);
                let state = claim_state(thunk, t);
                lost_claim |= state == ClaimState::Foreign;
                if thunk != not_updated && state != ClaimState::Foreign {
                    let ap = seg.freeze(hec, frame, info!(stg_AP_STACK_info));
                    if state == ClaimState::Own {
                        update::finish(hec, t, thunk, ap);
                    } else {
                        update::fill(hec, thunk, ap);
                    }
                }
                // The next segment begins with the thunk, whichever thread evaluates it.
                frame = Frame(frame.0.add(UPD_FRAME_WORDS));
                seg = Segment { first: thunk, from: frame };
            }
            UNDERFLOW_FRAME => {
                if left > 0 {
                    seg.first = seg.freeze(hec, frame, once);
                }
                frame = drop_chunk(hec, t, frame);
                seg.from = frame;
            }
            ATOMICALLY_FRAME => {
                (unwind_hooks::get().abort_transaction)(hec, t);
                restart_at(frame);
                seg = Segment { first: unit, from: frame };
                frame = Frame(frame.0.add(ATOMICALLY_WORDS));
            }
            _ => {
                let older = frame.older();
                let words = older.0.offset_from(seg.from.0) as usize;
                if left > 0 && words > SEGMENT_WORDS && seg.from != frame {
                    seg.first = seg.freeze(hec, frame, once);
                    seg.from = frame;
                }
                frame = older;
            }
        }
    }
}

/// Discards what the thread does above an update frame, whose thunk is left unchanged. The frame's chunk is then the
/// current one.
/// # Safety
/// As for [`unwind`].
pub(super) unsafe fn truncate(hec: &mut Hec, t: Tso, frame: Frame) -> Unwound {
    unwind(hec, t, Goal::Only(frame))
}

/// Makes the thread continue with the handler of the catch frame at the top of its stack. The handler runs with
/// asynchronous exceptions masked, and interruptibly unless `catch#` was called uninterruptibly. If they were unmasked
/// then, they are unmasked again when the handler returns.
/// # Safety
/// `frame` is the youngest frame of the thread's current chunk, which is dirty.
pub(super) unsafe fn enter_handler(t: Tso, frame: Frame, exception: Closure) {
    let then = frame.word(CATCH_FRAME_EXCEPTIONS_BLOCKED);
    let handler = frame.word(CATCH_FRAME_HANDLER);
    let flags = &mut t.obj().flags;
    *flags |= TSO_BLOCKEX as u32;
    if then & TSO_BLOCKEX != 0 && then & TSO_INTERRUPTIBLE == 0 {
        *flags &= !(TSO_INTERRUPTIBLE as u32);
    } else {
        *flags |= TSO_INTERRUPTIBLE as u32;
    }
    let rest = Frame(frame.0.add(CATCH_FRAME_WORDS));
    let call = [info!(stg_enter_info).0, handler, info!(stg_ap_pv_info).0, exception.0];
    if then & TSO_BLOCKEX == 0 {
        set_top(t, rest, &[info!(stg_unmaskAsyncExceptionszh_ret_info).0]);
        crate::thread::create::push(t.obj().stackobj, &call);
    } else {
        set_top(t, rest, &call);
    }
}

/// Ends a thread whose stack is unwound to its stop frame. If the thread died of an exception, that takes the place of
/// the result of a finished thread.
/// # Safety
/// As for [`enter_handler`].
pub(super) unsafe fn end_thread(t: Tso, bottom: Frame, exception: Option<Closure>) {
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    set_top(t, bottom, &[info!(stg_ret_p_info).0, exception.unwrap_or(unit).0]);
    t.obj().what_next = ThreadKilled as u16;
}

/// Raises an asynchronous exception in a thread, whatever its masking state, or ends the thread if there is none. The
/// thread's work is frozen. A blocked thread becomes runnable, even if only to find itself killed. A runnable thread
/// stays on its queue.
/// # Safety
/// As for [`unwind`]; the thread has not finished and is in no foreign call.
pub unsafe fn raise_async(hec: &mut Hec, t: Tso, exception: Option<Closure>) {
    raise_to(hec, t, exception, if exception.is_some() { Goal::Handler } else { Goal::Bottom });
}

/// The same, for an exception that says nothing about the values of the thunks under evaluation: a handler within one
/// of them does not get it. It could raise it again, synchronously, and then that would be the thunk's value.
/// # Safety
/// As for [`raise_async`].
pub unsafe fn raise_outside_thunks(hec: &mut Hec, t: Tso, exception: Closure) {
    let goal = handler_below_thunks(t).map_or(Goal::Bottom, Goal::At);
    raise_to(hec, t, Some(exception), goal);
}

/// The youngest handler below all update frames.
unsafe fn handler_below_thunks(t: Tso) -> Option<Frame> {
    let mut frame = Frame::youngest(t.obj().stackobj);
    let mut handler = None;
    loop {
        match frame.info().kind() {
            STOP_FRAME => return handler,
            UPDATE_FRAME => handler = None,
            CATCH_FRAME => handler = handler.or(Some(frame)),
            _ => {}
        }
        frame = match frame.info().kind() {
            UNDERFLOW_FRAME => Frame::youngest(frame.next_chunk()),
            _ => frame.older(),
        };
    }
}

unsafe fn raise_to(hec: &mut Hec, t: Tso, exception: Option<Closure>, goal: Goal) {
    let blocked = t.obj().why_blocked as usize != NotBlocked;
    if blocked {
        (unwind_hooks::get().leave_queues)(hec, t);
    }
    modify_frame::mark_nested(t);
    let frame = unwind(hec, t, goal).frame;
    match exception {
        Some(e) if frame.info().kind() == CATCH_FRAME => enter_handler(t, frame, e),
        _ => end_thread(t, frame, exception),
    }
    if blocked {
        park::unblock(hec, t);
    }
}

/// Makes a runnable thread start its transaction again.
/// # Safety
/// As for [`unwind`]; the thread has a transaction that is not waiting.
pub unsafe fn restart_transaction(hec: &mut Hec, t: Tso) {
    let unwound = unwind(hec, t, Goal::Transaction);
    (unwind_hooks::get().abort_transaction)(hec, t);
    restart_at(unwound.frame);
    unwound.restore_masking(t);
}

const _: () = assert!(SEGMENT_WORDS * WORD < 4096);
