//! Eager atomic modification of mutable variables: the result is evaluated before it is published.
//!
//! `atomicModifyMutVar2#` leaves a thunk in the variable, and a thread that reads the variable waits until the thunk
//! has been evaluated. Where HECs conflict in this way ([`crate::hec::modify_predictor`] knows where), the operation is
//! done eagerly instead (`cmm/AtomicModify.cmm`).
//!
//! *Protocol*
//! 1. The thread applies the function to the value that it found in the variable. A frame on its stack waits for the
//!    result.
//! 2. The result replaces the value by one compare-and-exchange: that is the moment of the modification.
//! 3. If another modification was faster, the thread applies the function to the value that it left. After a few
//!    attempts the operation is done lazily.
//!
//! *Invariants*
//! - Wasted evaluation has no effect: a function is pure, and the variable's new value is always that of the function
//!   applied to the value it replaces.
//! - The frame has all the state. So it may be frozen with a computation, resumed by another thread, or dropped by an
//!   exception (then the modification has not begun).
//! - The function must not be evaluated where a lazy operation would visibly not have evaluated it:
//!   - A thread that stops may stop for long, or for ever. So when it stops, the operation is done lazily
//!     ([`defer_all`]). The work so far is frozen into the thunk that goes into the variable, and the thread continues
//!     after the operation. A thread that needs the value resumes the work.
//!   - If the function raises an exception, its thunk raises it ([`on_raise`]); the operation itself never does.
//!   - Work that must not be duplicated (`noDuplicate#`) must not be wasted either: the operation is done lazily first.
//!
//! *Checked by*: the unit tests in `rts/src/eval/atomic_modify_tests.rs`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::tso::TSO_MODIFIES;
use crate::abi::{Closure, Tso, WORD};
use crate::base::atomics::AtomicUsize;
use crate::eval::frames::{first_word_of, is_pure, set_top, Frame};
use crate::eval::modify_frame::*;
use crate::eval::mut_var;
use crate::eval::raise_async::{unwind, Goal};
use crate::hec::modify_predictor;
use crate::hec::write_barrier::dirty_MUT_VAR;
use crate::hec::Hec;
use crate::info;

/// An operation under way, as its frame describes it.
struct Modification {
    variable: Closure,
    found: Closure,
    function: Closure,
    /// The new value is the first component of what the function returns.
    component: bool,
}

impl Modification {
    unsafe fn of(frame: Frame) -> Modification {
        Modification {
            variable: frame.closure(VARIABLE),
            found: frame.closure(FOUND),
            function: frame.closure(FUNCTION),
            component: frame.info() == info!(hec_modifying_component_info),
        }
    }

    unsafe fn value(&self) -> &AtomicUsize {
        &*(self.variable.slot(MUT_VAR) as *const AtomicUsize)
    }

    /// The value to store in the variable if the function's result is `result`, a thunk.
    unsafe fn new_value(&self, hec: &mut Hec, result: Closure) -> Closure {
        if !self.component {
            return result;
        }
        let selector = hec.allocate(THUNK_PAYLOAD + 1);
        selector.set_info(info!(stg_sel_0_upd_info));
        selector.set_word(THUNK_PAYLOAD, result.0);
        selector
    }

    /// Replaces the value found by `new`. Returns false if the variable holds another value.
    unsafe fn publish(&self, hec: &mut Hec, new: Closure) -> bool {
        let completed = mut_var::replace(self.value(), self.found.0, new.0);
        if completed {
            self.record_write(hec);
        }
        completed
    }

    unsafe fn record_write(&self, hec: &mut Hec) {
        dirty_MUT_VAR(&mut hec.r, self.variable, self.found);
    }

    /// Does the operation lazily. Returns its thunk; `found` is then the value that the thunk is applied to.
    unsafe fn defer(&mut self, hec: &mut Hec) -> Closure {
        let thunk = hec.allocate(THUNK_PAYLOAD + 2);
        thunk.set_info(info!(hec_modify_info));
        thunk.set_word(THUNK_PAYLOAD, self.function.0);
        let new = self.new_value(hec, thunk);
        self.found = Closure(mut_var::prepend(self.value(), new.0, |found| thunk.set_word(THUNK_PAYLOAD + 1, found)));
        self.record_write(hec);
        thunk
    }
}

/// The operation of this frame has been completed, and found `found`. Returns the frame that receives its thunk and
/// returns both.
unsafe fn completed(frame: Frame, found: Closure) -> Frame {
    let completed = Frame(frame.0.add(DONE));
    completed.set_info(info!(hec_has_modified_info));
    *completed.0.add(1) = found.0;
    completed
}

/// Makes the thread continue after the operation, which found `found` and returns `thunk`.
unsafe fn continue_after(t: Tso, frame: Frame, found: Closure, thunk: Closure) {
    set_top(t, completed(frame, found), &[info!(stg_ret_p_info).0, thunk.0]);
}

/// The function has raised an exception, and `raises` is a thunk that does the same. The thread continues after the
/// operation.
/// # Safety
/// The frame belongs to a modification and is in the running thread's current chunk; Sp and Hp are saved.
pub(super) unsafe fn on_raise(hec: &mut Hec, t: Tso, frame: Frame, raises: Closure) {
    let mut m = Modification::of(frame);
    let new = m.new_value(hec, raises);
    // Applied to another value, the function might not raise.
    let thunk = if m.publish(hec, new) { raises } else { m.defer(hec) };
    continue_after(t, frame, m.found, thunk);
}

/// The innermost modification on a thread's stack.
enum Innermost {
    /// Only evaluation frames lie above its frame.
    Resumable(Frame),
    /// A handler or another frame that only this thread can resume lies above it.
    BelowHandler,
    None,
}

/// Finds the innermost modification in the thread's current chunk. (Older chunks have none, because a thread stops when
/// its stack grows.)
unsafe fn innermost(t: Tso) -> Innermost {
    let chunk = t.obj().stackobj;
    let mut frame = Frame::youngest(chunk);
    let top = chunk.top() as *mut usize;
    // In most cases a modification has ended since, and no frame need be visited.
    if first_word_of(modifications(), frame.0, top) == top {
        return Innermost::None;
    }
    let mut pure = true;
    while !matches!(frame.info().kind(), STOP_FRAME | UNDERFLOW_FRAME) {
        if is_modification(frame) {
            return if pure { Innermost::Resumable(frame) } else { Innermost::BelowHandler };
        }
        pure &= is_pure(frame);
        frame = frame.older();
    }
    Innermost::None
}

/// The thread stops, perhaps during modifications: completes them lazily, so that the thread continues after them.
/// Returns true if there were any.
/// # Safety
/// The thread ran on this HEC, its registers are saved, its stack is dirty, and its youngest frame needs no register.
pub unsafe fn defer_all(hec: &mut Hec, t: Tso) -> bool {
    hec.modify_predictor.on_stop();
    let mut any = false;
    while t.obj().flags & TSO_MODIFIES != 0 {
        match innermost(t) {
            Innermost::Resumable(frame) => {
                defer_running(hec, t, frame);
                any = true;
            }
            Innermost::BelowHandler => break,
            Innermost::None => t.obj().flags &= !TSO_MODIFIES,
        }
    }
    any
}

/// Completes a modification lazily.
unsafe fn defer_running(hec: &mut Hec, t: Tso, frame: Frame) {
    let mut m = Modification::of(frame);
    // As if the thread had been evaluating this thunk from the start.
    let mut thunk = hec.allocate(THUNK_PAYLOAD);
    thunk.set_info(info!(stg_BLACKHOLE_info));
    thunk.set_word(INDIRECTEE, t.0);
    frame.set_info(info!(stg_marked_upd_frame_info));
    *frame.0.add(UPD_FRAME_UPDATEE) = thunk.0;
    completed(frame, m.found);
    let new = m.new_value(hec, thunk);
    if m.publish(hec, new) {
        unwind(hec, t, Goal::Below(frame));
    } else {
        unwind(hec, t, Goal::Only(frame));
        thunk = m.defer(hec);
    }
    continue_after(t, frame, m.found, thunk);
}

/// Records that a thread continues frozen work, perhaps within a modification.
/// # Safety
/// The thread is the running one.
pub(super) unsafe fn mark_resumed(t: Tso) {
    t.obj().flags |= TSO_MODIFIES;
}

/// Should the running thread evaluate a modification first? Not 0 if so.
/// # Safety
/// Called from Cmm, which returns to the address at `sp`, and otherwise makes the thunk directly behind `hp`.
#[no_mangle]
pub unsafe extern "C" fn hec_should_modify_first(hec: &mut Hec, sp: *const usize, hp: usize) -> usize {
    hec.modify_predictor.predict(*sp, hp + WORD, modify_predictor::conflict_count()) as usize
}

/// Records that the running thread has found an unfinished modification. Called from Cmm.
#[no_mangle]
pub extern "C" fn hec_modification_conflict() {
    modify_predictor::record_conflict();
}

/// Records that the running thread has evaluated a modification as often as allowed, and others were faster each time.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_modification_wasted(hec: &mut Hec) {
    hec.modify_predictor.penalize();
}
