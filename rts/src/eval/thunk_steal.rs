//! Taking a claimed thunk from a thread that is runnable and does not run.
//!
//! A thread waits for a thunk that another one evaluates, and as a rule that one is to run next
//! (`blackhole.rs`). Where it cannot, because too many are ahead of it, the thunk is stolen (2014
//! paper, §6.5): the work that its owner has done for it is frozen (`raise_async.rs`), and who wanted
//! to wait resumes it. The owner, in its turn, enters the thunk as anybody would.
//!
//! The owner's thread is ours and at rest, so no other HEC looks at its stack. Work is left to its
//! owner where what is on the stack is about the thread: handlers, masking states, transactions, an
//! exception that waits to be raised. So is a large piece, which would cost more to move than to wait for.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::eval::frames::{is_pure, set_top, Frame};
use crate::eval::raise_async::{unwind, Goal};
use crate::hec::Hec;
use crate::info;
use crate::observe::blackhole_profile;
use crate::thread::park;

/// The most words that are moved.
const MOST_WORDS: usize = 2048;

/// Is the thread runnable, at rest and ours?
unsafe fn is_at_rest_here(hec: &Hec, t: Tso) -> bool {
    let ownership = park::ownership(t);
    let held = ownership.lock();
    ownership.is_ours(hec.address(), &held)
}

/// The update frame for a thunk, if there is one not far from the top of the current chunk, with
/// nothing but evaluation above it.
unsafe fn find(t: Tso, thunk: Closure) -> Option<Frame> {
    let stack = t.obj().stackobj;
    let top = stack.top() as *mut usize;
    let youngest = Frame::youngest(stack);
    let mut frame = youngest;
    while frame.0 < top && (frame.0.offset_from(youngest.0) as usize) < MOST_WORDS && is_pure(frame) {
        if frame.info().kind() == UPDATE_FRAME && frame.closure(UPD_FRAME_UPDATEE) == thunk {
            return Some(frame);
        }
        frame = frame.older();
    }
    None
}

/// Takes a thunk from the thread that claims it, if that is at rest here and its work can be moved.
/// True if so: then the thunk is nobody's, and whoever enters it goes on with the work.
/// # Safety
/// All threads of this HEC are at rest, and `t` is not one that is about to be parked.
pub(super) unsafe fn steal(hec: &mut Hec, t: Tso, thunk: Closure) -> bool {
    if !is_at_rest_here(hec, t) || t.obj().blocked_exceptions != Tso::end().closure() {
        return false;
    }
    let Some(frame) = find(t, thunk) else { return false };
    blackhole_profile::stolen();
    let below = unwind(hec, t, Goal::Below(frame));
    set_top(t, below, &[info!(stg_enter_info).0, thunk.0]);
    true
}
