//! Modifications of mutable variables that are evaluated before others see them.
//!
//! `atomicModifyMutVar2#` leaves a thunk in the variable, and who looks at the variable until that has been evaluated waits. Where HECs are
//! in each other's way like this (`hec/modify_predictor.rs` knows where), the operation is done the other way round (`cmm/AtomicModify.cmm`):
//!
//! 1. the function is applied to the value that the variable holds, with a frame on the stack that waits for the result;
//! 2. the result takes the value's place by one compare-and-exchange: that is the moment of the modification;
//! 3. if another modification was faster, the function is applied to what that has left; after a few attempts the operation is done lazily.
//!
//! Nobody sees what was evaluated in vain: a function is pure, and the variable's new value is always that of the function applied to
//! the value it replaces. The frame says all that is needed, so nothing goes wrong if it is frozen with a computation, resumed by another
//! thread, or dropped with an exception (then the modification has not begun). But the function must not be seen to be evaluated where a
//! lazy operation would not have evaluated it:
//!
//! * A thread that stops may do so for long, or for good. So when it stops, the operation is done lazily ([`settle`]): the work so far is
//!   frozen into the thunk, which goes to the variable, and the thread goes on behind the operation. Whoever needs the value resumes the work.
//! * A function that raises makes a thunk that raises ([`raised`]): the operation itself never does.
//! * What must not be done twice (`noDuplicate#`) must not be done in vain either: the operation is settled before.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::tso::TSO_MODIFIES;
use crate::abi::{Closure, Info, Tso, WORD};
use crate::base::atomics::AtomicUsize;
use crate::eval::frames::{first_word_of, is_pure, set_top, Frame};
use crate::eval::mut_var;
use crate::eval::raise_async::{unwind, Goal};
use crate::hec::modify_predictor;
use crate::hec::write_barrier::dirty_MUT_VAR;
use crate::hec::Hec;
use crate::info;

/// The frame: {info, tries, variable, value found, function}. When the operation has been done in another way, its last three words
/// are `hec_has_modified` {info, value found, unused}, and the first two are free for an update frame.
const TRIES: usize = 1;
const VARIABLE: usize = 2;
const FOUND: usize = 3;
const FUNCTION: usize = 4;
const WORDS: usize = 5;
const DONE: usize = 2;
/// In the word of tries: there may be more of these frames below.
const NESTED: usize = 1 << 32;
const _: () = assert!(DONE == UPD_FRAME_WORDS && DONE + 1 == FOUND && DONE + 3 == WORDS);

/// The frames that wait for the result of a modification.
#[inline(always)]
fn modifications() -> [Info; 2] {
    [info!(hec_modifying_component_info), info!(hec_modifying_whole_info)]
}

/// Does the frame wait for the result of a modification? (Most are of another size, whatever their kind.)
/// # Safety
/// As for the methods of [`Frame`].
#[inline(always)]
pub(super) unsafe fn is_modification(frame: Frame) -> bool {
    frame.small_words() == WORDS && modifications().contains(&frame.info())
}

/// An operation under way: what its frame says.
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

    /// What the variable is to hold if the function's result is `result`, a thunk.
    unsafe fn new_value(&self, hec: &mut Hec, result: Closure) -> Closure {
        if !self.component {
            return result;
        }
        let selector = hec.allocate(THUNK_PAYLOAD + 1);
        selector.set_info(info!(stg_sel_0_upd_info));
        selector.set_word(THUNK_PAYLOAD, result.0);
        selector
    }

    /// Puts `new` in the place of the value found. False if another value is there.
    unsafe fn publish(&self, hec: &mut Hec, new: Closure) -> bool {
        let done = mut_var::replace(self.value(), self.found.0, new.0);
        if done {
            self.has_changed(hec);
        }
        done
    }

    unsafe fn has_changed(&self, hec: &mut Hec) {
        dirty_MUT_VAR(&mut hec.r, self.variable, self.found);
    }

    /// Does it lazily; its thunk. What it found is in `found` then.
    unsafe fn defer(&mut self, hec: &mut Hec) -> Closure {
        let thunk = hec.allocate(THUNK_PAYLOAD + 2);
        thunk.set_info(info!(hec_modify_info));
        thunk.set_word(THUNK_PAYLOAD, self.function.0);
        let new = self.new_value(hec, thunk);
        self.found =
            Closure(mut_var::put_before(self.value(), new.0, |found| thunk.set_word(THUNK_PAYLOAD + 1, found)));
        self.has_changed(hec);
        thunk
    }
}

/// The operation whose frame this is has been done, and found `found`: the frame that waits for its thunk, to return both.
unsafe fn done(frame: Frame, found: Closure) -> Frame {
    let done = Frame(frame.0.add(DONE));
    done.set_info(info!(hec_has_modified_info));
    *done.0.add(1) = found.0;
    done
}

/// Has the thread go on behind the operation: it has found `found`, and `thunk` is what it returns.
unsafe fn go_on_behind(t: Tso, frame: Frame, found: Closure, thunk: Closure) {
    set_top(t, done(frame, found), &[info!(stg_ret_p_info).0, thunk.0]);
}

/// The function has raised an exception: `raises` is a thunk that does the same. The thread goes on behind the operation.
/// # Safety
/// The frame is a modification's, in the running thread's current chunk; Sp and Hp are saved.
pub(super) unsafe fn raised(hec: &mut Hec, t: Tso, frame: Frame, raises: Closure) {
    let mut m = Modification::of(frame);
    let new = m.new_value(hec, raises);
    // Of another value it may have made something.
    let thunk = if m.publish(hec, new) { raises } else { m.defer(hec) };
    go_on_behind(t, frame, m.found, thunk);
}

/// The innermost modification on a thread's stack.
enum Innermost {
    /// There is nothing but evaluation above its frame.
    Resumable(Frame),
    /// There is a handler or the like above it, and nobody can resume that who is not this thread.
    BelowHandler,
    None,
}

/// The innermost modification in the thread's current chunk. (None is in an older one: a thread whose stack grows stops.)
unsafe fn innermost(t: Tso) -> Innermost {
    let chunk = t.obj().stackobj;
    let mut frame = Frame::youngest(chunk);
    let top = chunk.top() as *mut usize;
    // Mostly there was one, and is none any more: then frames need not be gone through.
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

/// The thread stops, and may be in the midst of modifications: then they are done lazily, and the thread goes on behind them. True if so.
/// # Safety
/// The thread ran on this HEC, its registers are saved, its stack is dirty, and its youngest frame needs no register.
pub unsafe fn settle(hec: &mut Hec, t: Tso) -> bool {
    hec.modify_predictor.on_stop();
    let mut any = false;
    while t.obj().flags & TSO_MODIFIES != 0 {
        match innermost(t) {
            Innermost::Resumable(frame) => {
                put_off(hec, t, frame);
                any = true;
            }
            Innermost::BelowHandler => break,
            Innermost::None => t.obj().flags &= !TSO_MODIFIES,
        }
    }
    any
}

/// Does a modification lazily after all.
unsafe fn put_off(hec: &mut Hec, t: Tso, frame: Frame) {
    let mut m = Modification::of(frame);
    // As if it had been the evaluation of this thunk all the time.
    let mut thunk = hec.allocate(THUNK_PAYLOAD);
    thunk.set_info(info!(stg_BLACKHOLE_info));
    thunk.set_word(INDIRECTEE, t.0);
    frame.set_info(info!(stg_marked_upd_frame_info));
    *frame.0.add(UPD_FRAME_UPDATEE) = thunk.0;
    done(frame, m.found);
    let new = m.new_value(hec, thunk);
    if m.publish(hec, new) {
        unwind(hec, t, Goal::Below(frame));
    } else {
        unwind(hec, t, Goal::Only(frame));
        thunk = m.defer(hec);
    }
    go_on_behind(t, frame, m.found, thunk);
}

/// The thread's stack is about to be frozen: whoever resumes the work may be in the midst of other modifications.
/// # Safety
/// The thread is stopped.
pub(super) unsafe fn is_frozen(t: Tso) {
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

/// A thread goes on with work that has been frozen, perhaps in the midst of a modification.
/// # Safety
/// It is the running one.
pub(super) unsafe fn may_be_resumed(t: Tso) {
    t.obj().flags |= TSO_MODIFIES;
}

/// Asks whether the running thread should evaluate a modification first. Not 0 if so.
/// # Safety
/// Called from Cmm, which returns to the address at `sp`, and else makes the thunk right behind `hp`.
#[no_mangle]
pub unsafe extern "C" fn hec_should_modify_first(hec: &mut Hec, sp: *const usize, hp: usize) -> usize {
    hec.modify_predictor.predict(*sp, hp + WORD, modify_predictor::conflict_count()) as usize
}

/// The running thread has found a modification that was not finished. Called from Cmm.
#[no_mangle]
pub extern "C" fn hec_modification_conflict() {
    modify_predictor::record_conflict();
}

/// The running thread has evaluated a modification as often as it may, and others were faster each time.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_modification_wasted(hec: &mut Hec) {
    hec.modify_predictor.penalize();
}
