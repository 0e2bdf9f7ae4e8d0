//! `throwTo`: exceptions from one thread to another.
//!
//! What happens depends on the target. Finished: nothing. The thrower itself: raised at once,
//! masked or not. Unmasked, or masked interruptibly and blocked in an interruptible operation:
//! raised at once by freezing its stack. Otherwise the thrower waits: a MSG_THROWTO {link,
//! source, target, exception} joins the target's `blocked_exceptions`, first come, first served,
//! and is delivered when the target unmasks (`hec_unmasked`), blocks interruptibly
//! ([`deliver_instead`]), comes back from a foreign call ([`deliver_after_call`]) or finishes ([`thread_finished`]: then nothing is raised, and the thrower
//! goes on). The wait is itself interruptible: then the message is withdrawn.
//!
//! Interruptible are the operations that may wait for ever: MVars, ports, STM, throwTo, delays
//! and descriptors. Waiting for a thunk that another thread evaluates is not one; a foreign call
//! only delays delivery (and is interrupted if it is declared `interruptible`).
//!
//! A waiting thrower has stg_block_throwto {target, exception} on top of its stack.
use super::queues::scheduler;
use crate::contract::{layout::*, Closure, Tso};
use crate::eval::frames::*;
use crate::eval::freeze::raise_async;
use crate::hec::Hec;
use crate::info;
use crate::thread::door;
use crate::thread::queue::dirty_tso;
use crate::thread::stack::dirty_stack;

const MSG_LINK: usize = 1;
const MSG_SOURCE: usize = 2;
const MSG_TARGET: usize = 3;
const MSG_EXCEPTION: usize = 4;
const MSG_WORDS: usize = 5;

fn end() -> Closure {
    Tso::end().closure()
}

/// Has the thread come to its end?
/// # Safety
/// `t` is live.
pub unsafe fn finished(t: Tso) -> bool {
    matches!(t.obj().what_next as usize, ThreadComplete | ThreadKilled)
}

/// When an exception thrown to a thread may be raised in it.
#[derive(PartialEq, Eq)]
enum When {
    Now,
    Later,
    /// Later, but the foreign call it is in should be interrupted.
    LaterInterrupt,
    Never,
}

unsafe fn when(t: Tso) -> When {
    when_waiting(t, t.obj().why_blocked as usize)
}

/// The same for a thread that is blocked, or about to be, for reason `why`.
unsafe fn when_waiting(t: Tso, why: usize) -> When {
    if finished(t) {
        return When::Never;
    }
    let flags = t.obj().flags as usize;
    let masked = flags & TSO_BLOCKEX != 0;
    let uninterruptible = masked && flags & TSO_INTERRUPTIBLE == 0;
    let now = |yes: bool| if yes { When::Now } else { When::Later };
    match why {
        NotBlocked | BlockedOnBlackHole => now(!masked),
        BlockedOnMVar | BlockedOnMVarRead | BlockedOnIOCompletion | BlockedOnSTM
        | BlockedOnMsgThrowTo | BlockedOnRead | BlockedOnWrite | BlockedOnDelay => {
            now(!uninterruptible)
        }
        BlockedOnCCall_Interruptible if !uninterruptible => When::LaterInterrupt,
        _ => When::Later,
    }
}

unsafe fn message(hec: &mut Hec, source: Tso, target: Tso, exception: Closure) -> Closure {
    let msg = hec.allocate(MSG_WORDS);
    msg.set_info(info!(stg_MSG_THROWTO_info));
    msg.set_word(MSG_LINK, end().0);
    msg.set_word(MSG_SOURCE, source.0);
    msg.set_word(MSG_TARGET, target.0);
    msg.set_word(MSG_EXCEPTION, exception.0);
    msg
}

/// Does what the message asks for, or puts it at the end of the target's list.
/// # Safety
/// Its source waits for it.
pub unsafe fn process(hec: &mut Hec, msg: Closure) {
    let target = Tso(msg.word(MSG_TARGET));
    match when(target) {
        When::Never => return release(hec, msg),
        When::Now => {
            raise_async(hec, target, Some(msg.field(MSG_EXCEPTION)));
            return release(hec, msg);
        }
        When::LaterInterrupt => (scheduler().interrupt_call)(hec, target),
        When::Later => {}
    }
    enqueue(hec, msg);
}

unsafe fn enqueue(hec: &mut Hec, msg: Closure) {
    let target = Tso(msg.word(MSG_TARGET));
    let mut last = target.obj().blocked_exceptions;
    if last == end() {
        dirty_tso(&mut hec.remembered, target);
        target.obj().blocked_exceptions = msg;
    } else {
        while last.field(MSG_LINK) != end() {
            last = last.field(MSG_LINK);
        }
        last.set_word(MSG_LINK, msg.0);
        hec.remember(last);
    }
}

/// Throws from the running thread to another one. Done (0), or it must wait (1).
/// # Safety
/// Called from Cmm with Hp saved. The thread has stg_block_throwto on top of its stack; on 1 it
/// leaves with ThreadBlocked, on 0 it drops the frame.
#[no_mangle]
pub unsafe extern "C" fn hec_throw_to(hec: &mut Hec, target: Tso, exception: Closure) -> usize {
    match when(target) {
        When::Never => 0,
        When::Now => {
            raise_async(hec, target, Some(exception));
            0
        }
        When::LaterInterrupt | When::Later => {
            let me = hec.current();
            let msg = message(hec, me, target, exception);
            door::hec_about_to_wait(hec, BlockedOnMsgThrowTo, msg.0);
            1
        }
    }
}

/// Makes a thread wait until its message has been delivered, which may be at once.
/// # Safety
/// The thread is at rest, with stg_block_throwto on top.
pub(super) unsafe fn park(hec: &mut Hec, t: Tso, msg: Closure) {
    door::block(hec, t, BlockedOnMsgThrowTo, msg.0);
    process(hec, msg);
}

/// Throws to a thread from outside Haskell: at once or when it can be.
/// # Safety
/// The HEC is held, and the target is not running.
pub unsafe fn throw_from_outside(hec: &mut Hec, target: Tso, exception: Closure) {
    let msg = message(hec, Tso::end(), target, exception);
    process(hec, msg);
}

/// Raises an exception in the running thread as if from outside, whatever its masking state.
/// As [`crate::eval::raise::hec_raise`] returns.
/// # Safety
/// Called from Cmm with Sp and Hp saved; the frame on top needs no register.
#[no_mangle]
pub unsafe extern "C" fn hec_throw_to_self(hec: &mut Hec, exception: Closure) -> usize {
    let me = hec.current();
    raise_async(hec, me, Some(exception));
    finished(me) as usize
}

/// The running thread has unmasked exceptions: raises the first that waits. As
/// [`crate::eval::raise::hec_raise`] returns.
/// # Safety
/// As for [`hec_throw_to_self`].
#[no_mangle]
pub unsafe extern "C" fn hec_unmasked(hec: &mut Hec) -> usize {
    let me = hec.current();
    deliver_first(hec, me);
    finished(me) as usize
}

/// Takes the first message off the thread's list.
unsafe fn pop(hec: &mut Hec, t: Tso) -> Option<Closure> {
    let msg = t.obj().blocked_exceptions;
    if msg == end() {
        return None;
    }
    dirty_tso(&mut hec.remembered, t);
    t.obj().blocked_exceptions = msg.field(MSG_LINK);
    Some(msg)
}

/// Lets the thrower of a message go on.
unsafe fn release(hec: &mut Hec, msg: Closure) {
    let source = Tso(msg.word(MSG_SOURCE));
    if source.is_end() {
        return;
    }
    let stack = source.obj().stackobj;
    dirty_stack(hec, stack);
    set_top(source, Frame(Frame::youngest(stack).0.add(BLOCK_THROWTO_WORDS)), &[]);
    door::unblock(hec, source);
}

unsafe fn deliver_first(hec: &mut Hec, t: Tso) -> bool {
    let Some(msg) = pop(hec, t) else { return false };
    raise_async(hec, t, Some(msg.field(MSG_EXCEPTION)));
    release(hec, msg);
    true
}

/// Raises an exception that waits for the thread, if there is one and what the thread is about
/// to wait for can be interrupted. True if so: then it does not wait.
/// # Safety
/// The thread is at rest, with a frame on top that needs no register.
pub unsafe fn deliver_instead(hec: &mut Hec, t: Tso, why: usize) -> bool {
    t.obj().blocked_exceptions != end()
        && when_waiting(t, why) == When::Now
        && deliver_first(hec, t)
}

/// The thread has come back from a foreign call, and is about to return to its continuation with
/// the result in registers: if an exception waits and may be raised, has it raised then.
/// # Safety
/// The HEC is held; the thread is marked as not blocked, its stack saved and dirty.
pub unsafe fn deliver_after_call(hec: &mut Hec, t: Tso) {
    if t.obj().blocked_exceptions != end() && when(t) == When::Now {
        let stack = t.obj().stackobj;
        dirty_stack(hec, stack);
        crate::thread::create::push(stack, &[info!(hec_after_call_info).0]);
    }
}

/// The thread has finished: whoever wanted to throw to it goes on.
/// # Safety
/// It has.
pub unsafe fn thread_finished(hec: &mut Hec, t: Tso) {
    while let Some(msg) = pop(hec, t) {
        release(hec, msg);
    }
}

/// Takes back the message of a thread that waits for its delivery.
pub(super) unsafe fn withdraw(hec: &mut Hec, source: Tso) {
    let msg = Closure(source.obj().block_info);
    let target = Tso(msg.word(MSG_TARGET));
    let rest = msg.field(MSG_LINK);
    let mut at = target.obj().blocked_exceptions;
    if at == msg {
        dirty_tso(&mut hec.remembered, target);
        target.obj().blocked_exceptions = rest;
        return;
    }
    while at.field(MSG_LINK) != msg {
        at = at.field(MSG_LINK);
    }
    at.set_word(MSG_LINK, rest.0);
    hec.remember(at);
}
