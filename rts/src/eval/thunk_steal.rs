//! Thunk stealing: taking a claimed thunk from a thread that is runnable but does not run [SHMP14, §6.5].
//!
//! *Protocol*
//! 1. A thread waits for a thunk that another thread evaluates. As a rule the owner runs next (`blackhole.rs`).
//! 2. If too many threads are ahead of the owner, the waiting thread steals the thunk. The work that the owner has done
//!    for it is frozen (`raise_async.rs`), and the waiting thread resumes it.
//! 3. When the owner runs, it enters the thunk like any other thread.
//!
//! *Invariants*
//! - This HEC owns the thread of the claim, which is at rest. So no other HEC reads its stack.
//! - Work stays with its owner if the stack has frames that belong to the thread: handlers, masking states,
//!   transactions. It also stays if an exception waits to be raised.
//! - A large piece of work stays as well, because it costs more to move than to wait for.
//!
//! *Checked by*: the unit tests in `rts/src/eval/tests.rs`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::eval::frames::{is_pure, set_top, Frame};
use crate::eval::raise_async::{unwind, Goal};
use crate::hec::Hec;
use crate::info;
use crate::observe::blackhole_profile;
use crate::thread::park;

/// The most words of stack that are moved, 16 KB. A larger piece costs more to move than to wait for.
const MAX_STOLEN_WORDS: usize = 2048;

/// Is the thread runnable, at rest, and owned by this HEC?
pub(super) unsafe fn is_at_rest_here(hec: &Hec, t: Tso) -> bool {
    let ownership = park::ownership(t);
    let held = ownership.lock();
    ownership.is_ours(hec.address(), &held)
}

/// The update frame for a thunk, if it is near the top of the current chunk with only evaluation frames above it.
unsafe fn find(t: Tso, thunk: Closure) -> Option<Frame> {
    let stack = t.obj().stackobj;
    let top = stack.top() as *mut usize;
    let youngest = Frame::youngest(stack);
    let mut frame = youngest;
    while frame.0 < top && (frame.0.offset_from(youngest.0) as usize) < MAX_STOLEN_WORDS && is_pure(frame) {
        if frame.info().kind() == UPDATE_FRAME && frame.closure(UPD_FRAME_UPDATEE) == thunk {
            return Some(frame);
        }
        frame = frame.older();
    }
    None
}

/// Steals a thunk from the thread that owns its claim, if that is at rest here and its work can be moved.
/// Returns true if so. Then no thread owns the thunk, and a thread that enters it resumes the work.
/// # Safety
/// All threads of this HEC are at rest, and `t` is not one that is about to be parked.
pub(super) unsafe fn steal(hec: &mut Hec, t: Tso, thunk: Closure) -> bool {
    is_at_rest_here(hec, t) && steal_at_rest(hec, t, thunk)
}

/// As [`steal`], from a thread that no other HEC changes meanwhile.
pub(super) unsafe fn steal_at_rest(hec: &mut Hec, t: Tso, thunk: Closure) -> bool {
    if t.obj().blocked_exceptions != Tso::end().closure() {
        return false;
    }
    let Some(frame) = find(t, thunk) else { return false };
    blackhole_profile::stolen();
    let below = unwind(hec, t, Goal::Below(frame)).frame;
    set_top(t, below, &[info!(stg_enter_info).0, thunk.0]);
    true
}
