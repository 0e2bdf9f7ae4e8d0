//! `throwTo`: exceptions from one thread to another.
//!
//! What happens depends on the target. Finished: nothing. The thrower itself: raised at once,
//! masked or not. Unmasked, or masked interruptibly and blocked in an interruptible operation:
//! raised at once by freezing its stack. Otherwise the thrower waits: a MSG_THROWTO {link,
//! source, target, exception} joins the target's `blocked_exceptions`, first come, first served,
//! and is delivered when the target unmasks (`hec_unmasked`), blocks interruptibly
//! ([`deliver_instead`]), comes back from a foreign call ([`deliver_after_call`]) or finishes
//! ([`thread_finished`]: then nothing is raised, and the thrower goes on). The wait is itself
//! interruptible: then the message is withdrawn.
//!
//! Interruptible are the operations that may wait for ever: MVars, ports, STM, throwTo, delays
//! and descriptors. Waiting for a thunk that another thread evaluates is not one; a foreign call
//! only delays delivery (and is interrupted if it is declared `interruptible`).
//!
//! A waiting thrower has stg_block_throwto {target, exception} on top of its stack.
//!
//! Several HECs. Under the target's lock the thrower finds it in one of these states:
//!
//! 1. Not blocked, and of another HEC: only that may touch it. The thrower waits, and the message
//!    goes to that HEC as a letter; its scheduler calls [`process`] between threads, which finds
//!    the target in any state again, or moved on: then the letter follows it.
//! 2. Blocked, and to be interrupted: the thrower claims it (`thread/door.rs`), takes it off what
//!    it waited for and raises.
//! 3. Blocked, or in a foreign call, and not to be interrupted: the message joins its list.
//!    Whoever ends the wait has the thread from then on, and looks at the list when it should.
//! 4. Ours and not blocked: as with one HEC.
//!
//! A message counts only while its source waits for it: whoever is about to deliver one claims
//! the source first, and drops the message if it cannot. So an exception that ends the wait and
//! the delivery exclude each other, wherever the message is, and withdrawing it is only tidiness.
use super::queues::{self, scheduler};
use crate::contract::{layout::*, Closure, Tso};
use crate::eval::frames::*;
use crate::eval::freeze::raise_async;
use crate::hec::Hec;
use crate::info;
use crate::thread::door::{self, Claim, Held};
use crate::thread::queue::dirty_tso;
use crate::thread::stack::dirty_stack;
use std::sync::atomic::Ordering;

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

/// For a thread that is ours or blocked, or about to be, for reason `why`.
unsafe fn when(t: Tso, why: usize) -> When {
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

/// What a thrower does about a target.
enum Turn {
    /// It has finished: nothing.
    Never,
    /// Raise: the target is ours, or was blocked and has been claimed.
    Now(Option<Claim>),
    /// Wait in its list, which is locked; perhaps interrupt its call.
    Later(Held, bool),
    /// Write to the HEC that it belongs to.
    Elsewhere(&'static Hec),
}

unsafe fn judge(hec: &Hec, target: Tso) -> Turn {
    let held = door::lock(target);
    let why = door::why(target);
    if why == NotBlocked && !door::is_ours(hec, target) {
        let owner = door::owner(target).load(Ordering::Relaxed);
        return Turn::Elsewhere(&*(owner as *const Hec));
    }
    match when(target, why) {
        When::Never => Turn::Never,
        When::Now => Turn::Now(door::claim_held(hec, target, |_, _| true, &held)),
        When::Later => Turn::Later(held, false),
        When::LaterInterrupt => Turn::Later(held, true),
    }
}

/// Raises an exception in a target that is ours.
unsafe fn raise(hec: &mut Hec, target: Tso, claim: Option<Claim>, exception: Closure) {
    if let Some(c) = &claim {
        queues::leave(hec, c);
    }
    raise_async(hec, target, Some(exception));
    if let Some(c) = claim {
        c.go_on(hec);
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

/// Claims the thread that waits for the delivery of a message, if one does. `None`: it waits no
/// more, and the message is void.
unsafe fn claim_source(hec: &Hec, msg: Closure) -> Option<Option<Claim>> {
    let source = Tso(msg.word(MSG_SOURCE));
    if source.is_end() {
        return Some(None);
    }
    let waits = |why, on| why == BlockedOnMsgThrowTo && on == msg.0;
    door::claim(hec, source, waits).map(Some)
}

/// Lets the thrower of a message go on.
unsafe fn release(hec: &mut Hec, source: Option<Claim>) {
    let Some(c) = source else { return };
    let stack = c.thread.obj().stackobj;
    dirty_stack(hec, stack);
    set_top(c.thread, Frame(Frame::youngest(stack).0.add(BLOCK_THROWTO_WORDS)), &[]);
    c.go_on(hec);
}

unsafe fn wait_on(hec: &mut Hec, source: Option<Claim>) {
    if let Some(c) = source {
        c.block_again(hec);
    }
}

/// Does what the message asks for, puts it in the target's list, or sends it after the target.
/// # Safety
/// `msg` is a MSG_THROWTO, in no list and no inbox; all threads of this HEC are at rest but the
/// source.
pub unsafe fn process(hec: &mut Hec, msg: Closure) {
    let Some(source) = claim_source(hec, msg) else { return };
    let target = Tso(msg.word(MSG_TARGET));
    match judge(hec, target) {
        Turn::Never => release(hec, source),
        Turn::Now(claim) => {
            raise(hec, target, claim, msg.field(MSG_EXCEPTION));
            release(hec, source);
        }
        Turn::Later(held, interrupt) => {
            // The source waits again before anybody can find the message.
            wait_on(hec, source);
            enqueue(hec, msg);
            drop(held);
            // After the message is there: a call that returns by itself finds it.
            if interrupt {
                (scheduler().interrupt_call)(hec, target);
            }
        }
        Turn::Elsewhere(owner) => {
            wait_on(hec, source);
            owner.send(msg);
        }
    }
}

/// Puts the message at the end of the target's list, which is locked.
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
    match judge(hec, target) {
        Turn::Never => 0,
        Turn::Now(claim) => {
            raise(hec, target, claim, exception);
            0
        }
        Turn::Later(..) | Turn::Elsewhere(_) => {
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
/// The HEC is held, and the target does not run on it.
pub unsafe fn throw_from_outside(hec: &mut Hec, target: Tso, exception: Closure) {
    let msg = message(hec, Tso::end(), target, exception);
    process(hec, msg);
}

/// Does this exception wait until the thread unmasks exceptions?
/// # Safety
/// The thread is live.
pub unsafe fn is_coming(t: Tso, exception: Closure) -> bool {
    let _held = door::lock(t);
    let mut msg = t.obj().blocked_exceptions;
    while msg != end() && msg.field(MSG_EXCEPTION).untag() != exception.untag() {
        msg = msg.field(MSG_LINK);
    }
    msg != end()
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
    let held = door::lock(t);
    let msg = t.obj().blocked_exceptions;
    if msg == end() {
        return None;
    }
    dirty_tso(&mut hec.remembered, t);
    t.obj().blocked_exceptions = msg.field(MSG_LINK);
    msg.set_word(MSG_LINK, end().0);
    drop(held);
    Some(msg)
}

unsafe fn deliver_first(hec: &mut Hec, t: Tso) -> bool {
    while let Some(msg) = pop(hec, t) {
        if let Some(source) = claim_source(hec, msg) {
            raise_async(hec, t, Some(msg.field(MSG_EXCEPTION)));
            release(hec, source);
            return true;
        }
    }
    false
}

/// Has anybody put a message in the list of a thread of ours? Messages join it while the thread
/// is blocked or in a call, or by our own hand, so none can come while we look.
unsafe fn expected(t: Tso) -> bool {
    t.obj().blocked_exceptions != end()
}

/// Raises an exception that waits for the thread, if there is one and what the thread is about
/// to wait for can be interrupted. True if so: then it does not wait.
/// # Safety
/// The thread is at rest, with a frame on top that needs no register.
pub unsafe fn deliver_instead(hec: &mut Hec, t: Tso, why: usize) -> bool {
    expected(t) && when(t, why) == When::Now && deliver_first(hec, t)
}

/// The thread has come back from a foreign call, and is about to return to its continuation with
/// the result in registers: if an exception waits and may be raised, has it raised then.
/// # Safety
/// The HEC is held; the thread is marked as not blocked, its stack saved and dirty.
pub unsafe fn deliver_after_call(hec: &mut Hec, t: Tso) {
    if expected(t) && when(t, NotBlocked) == When::Now {
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
        if let Some(source) = claim_source(hec, msg) {
            release(hec, source);
        }
    }
}

/// Takes back the message of a thread that waited for its delivery and has been claimed, lest
/// lists of masked threads grow. One that is on its way is void, and will be dropped.
pub(super) unsafe fn withdraw(hec: &mut Hec, source: Tso) {
    let msg = Closure(source.obj().block_info);
    let target = Tso(msg.word(MSG_TARGET));
    let _held = door::lock(target);
    let rest = msg.field(MSG_LINK);
    let mut at = target.obj().blocked_exceptions;
    if at == msg {
        dirty_tso(&mut hec.remembered, target);
        target.obj().blocked_exceptions = rest;
        return;
    }
    while at != end() {
        if at.field(MSG_LINK) == msg {
            at.set_word(MSG_LINK, rest.0);
            hec.remember(at);
            return;
        }
        at = at.field(MSG_LINK);
    }
}
