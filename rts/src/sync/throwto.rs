//! `throwTo`: asynchronous exceptions from one thread to another.
//!
//! *Protocol*: What happens depends on the target:
//! 1. The target has finished: nothing happens.
//! 2. The target is the thrower itself: the exception is raised at once, masked or not.
//! 3. The target is unmasked, or masked interruptibly and blocked in an interruptible operation: the exception is
//!    raised at once, which freezes the target's stack.
//! 4. Otherwise the thrower waits. A MSG_THROWTO {link, source, target, exception} joins the target's
//!    `blocked_exceptions`, first in, first out. It is delivered when the target unmasks ([`hec_unmasked`]), blocks
//!    interruptibly ([`deliver_instead`]), returns from a foreign call ([`deliver_after_call`]) or finishes
//!    ([`thread_finished`]). In the last case nothing is raised, and the thrower resumes.
//! 5. The thrower's wait is itself interruptible. An exception that ends the wait withdraws the message.
//!
//! Interruptible operations are those that may wait for ever: on MVars, ports, STM, throwTo, delays and descriptors,
//! and a `switch` that leaves the thread waiting. One that has given its thread to its scheduler is not interruptible,
//! and neither is waiting for a thunk that another thread evaluates. A foreign call delays delivery, and is interrupted
//! only if it is declared `interruptible`.
//!
//! A waiting thrower has stg_block_throwto {target, exception} on top of its stack.
//!
//! With several HECs the target may be running. [`crate::sync::throwto_protocol`] is the protocol by which messages
//! follow it; this file implements its operations. The scheduler of a HEC reads its messages between threads.
//!
//! *Checked by*: the unit tests in `rts/src/sync/tests.rs`, and the models of the protocol.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, BlockedOnScheduler, TsoObj, TSO_REMOTE_OP};
use crate::abi::{Closure, Tso};
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::eval::frames::*;
use crate::eval::raise_async::raise_async;
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::info;
use crate::sync::throwto_protocol;
use crate::sync::throwto_protocol::{Thrower, When};
use crate::sync::wait_queues;
use crate::sync::wait_queues::scheduler;
use crate::sync::{absent, substrate};
use crate::thread::ownership::Ownership;
use crate::thread::park;
use crate::thread::park::Claim;
use crate::thread::stack::dirty_stack;

const MSG_LINK: usize = 1;
const MSG_SOURCE: usize = 2;
const MSG_TARGET: usize = 3;
const MSG_EXCEPTION: usize = 4;
const MSG_WORDS: usize = 5;

fn end() -> Closure {
    Tso::end().closure()
}

/// Has the thread finished?
/// # Safety
/// `t` is live.
pub unsafe fn finished(t: Tso) -> bool {
    matches!(t.obj().what_next as usize, ThreadComplete | ThreadKilled)
}

/// When may an exception be raised in a thread that this HEC owns, or that is blocked or about to block for `why`?
unsafe fn when(t: Tso, why: usize) -> When {
    if finished(t) {
        return When::Never;
    }
    let flags = t.obj().flags as usize;
    let masked = flags & TSO_BLOCKEX != 0;
    let uninterruptible = masked && flags & TSO_INTERRUPTIBLE == 0;
    let now = |yes: bool| if yes { When::Now } else { When::Later };
    if flags & TSO_REMOTE_OP as usize != 0 {
        return When::LaterInterrupt;
    }
    match why {
        NotBlocked | BlockedOnBlackHole | BlockedOnAbsent => now(!masked),
        BlockedOnMVar
        | BlockedOnMVarRead
        | BlockedOnIOCompletion
        | BlockedOnSTM
        | BlockedOnMsgThrowTo
        | BlockedOnRead
        | BlockedOnWrite
        | BlockedOnDelay => now(!uninterruptible),
        BlockedOnScheduler => now(!masked || !uninterruptible && !substrate::is_given(t)),
        BlockedOnCCall_Interruptible if !uninterruptible => When::LaterInterrupt,
        _ => When::Later,
    }
}

/// The word that holds a thread's message list. The lock's holder may remove messages while the owner reads it.
unsafe fn list<'a>(t: Tso) -> &'a AtomicUsize {
    &*(std::ptr::addr_of!((*(t.0 as *const TsoObj)).blocked_exceptions) as *const AtomicUsize)
}

/// The message that a link word names, or `None` at the end of the list.
fn non_end(word: usize) -> Option<Closure> {
    (word != end().0).then_some(Closure(word))
}

/// SAFETY of the methods: threads and messages passed to a HEC are live, and belong to its holder as the protocol
/// says.
impl Thrower for Hec {
    type Thread = Tso;
    type Message = Closure;
    type Exception = Closure;

    fn address(&self) -> usize {
        self.address()
    }
    fn ownership(&self, t: Tso) -> Ownership {
        unsafe { park::ownership(t) }
    }
    fn when(&self, t: Tso, why: usize) -> When {
        unsafe { when(t, why) }
    }
    fn waits_for(&self, t: Tso, why: usize, msg: Closure) -> bool {
        why == BlockedOnMsgThrowTo && unsafe { t.obj().block_info } == msg.0
    }
    fn is_passive(&self, t: Tso) -> bool {
        self.ownership(t).why() == BlockedOnScheduler
    }
    fn lock_status(&self, t: Tso) -> usize {
        unsafe { substrate::lock_status(t) }
    }
    fn unlock_status(&mut self, t: Tso, version: usize, claimed: bool) {
        unsafe { substrate::unlock_status(self, t, version, claimed) }
    }
    fn source(&self, msg: Closure) -> Option<Tso> {
        non_end(unsafe { msg.word(MSG_SOURCE) }).map(|source| Tso(source.0))
    }
    fn target(&self, msg: Closure) -> Tso {
        Tso(unsafe { msg.word(MSG_TARGET) })
    }
    fn exception(&self, msg: Closure) -> Closure {
        unsafe { msg.field(MSG_EXCEPTION) }
    }
    fn first(&self, t: Tso) -> Option<Closure> {
        non_end(unsafe { list(t) }.load(Ordering::Relaxed))
    }
    fn set_first(&mut self, t: Tso, msg: Option<Closure>) {
        unsafe {
            dirty_tso(&mut self.remembered, t);
            list(t).store(msg.unwrap_or(end()).0, Ordering::Relaxed);
        }
    }
    fn next(&self, msg: Closure) -> Option<Closure> {
        non_end(unsafe { msg.word(MSG_LINK) })
    }
    fn set_next(&mut self, msg: Closure, next: Option<Closure>) {
        unsafe { msg.set_word(MSG_LINK, next.unwrap_or(end()).0) };
        if next.is_some() {
            self.remember(msg);
        }
    }
    fn raise(&mut self, t: Tso, claim: Option<Claim>, e: Closure) {
        unsafe {
            if let Some(c) = &claim {
                wait_queues::leave(self, c);
            }
            raise_async(self, t, Some(e));
            if let Some(c) = claim {
                c.resume(self);
            }
        }
    }
    fn release(&mut self, source: Claim) {
        unsafe {
            let stack = source.thread.obj().stackobj;
            dirty_stack(self, stack);
            set_top(source.thread, Frame(Frame::youngest(stack).0.add(BLOCK_THROWTO_WORDS)), &[]);
            source.resume(self);
        }
    }
    fn interrupt_call(&mut self, t: Tso) {
        unsafe {
            if t.obj().flags & TSO_REMOTE_OP != 0 {
                absent::cancel(self, t);
            } else {
                (scheduler().interrupt_call)(self, t);
            }
        }
    }
    fn send(&mut self, to: usize, msg: Closure) {
        // SAFETY: HECs are never freed.
        unsafe { &*(to as *const Hec) }.post_message(msg);
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

/// Throws from the running thread to another one. Returns 0 when done, or 1 if the thrower must wait.
/// # Safety
/// Called from Cmm with Hp saved. The thread has stg_block_throwto on top of its stack. On 1 it leaves with
/// ThreadBlocked; on 0 it drops the frame.
#[no_mangle]
pub unsafe extern "C" fn hec_throw_to(hec: &mut Hec, target: Tso, exception: Closure) -> usize {
    if throwto_protocol::throw(hec, target, exception) {
        return 0;
    }
    let me = hec.current();
    let msg = message(hec, me, target, exception);
    park::hec_about_to_wait(hec, BlockedOnMsgThrowTo, msg.0);
    1
}

/// Makes a thread wait until its message has been delivered, which may happen at once.
/// # Safety
/// The thread is at rest, with stg_block_throwto on top.
pub(super) unsafe fn park(hec: &mut Hec, t: Tso, msg: Closure) {
    park::block(hec, t, BlockedOnMsgThrowTo, msg.0);
    throwto_protocol::process(hec, msg);
}

/// Throws to a thread from outside Haskell, at once or when the target allows it.
/// # Safety
/// The caller holds the HEC, and the target does not run on it.
pub unsafe fn throw_from_outside(hec: &mut Hec, target: Tso, exception: Closure) {
    let msg = message(hec, Tso::end(), target, exception);
    throwto_protocol::process(hec, msg);
}

/// Does this exception wait in the thread's list?
/// # Safety
/// The thread is live.
pub unsafe fn is_pending(hec: &Hec, t: Tso, exception: Closure) -> bool {
    let _held = park::lock(t);
    let mut msgs = std::iter::successors(hec.first(t), |&msg| hec.next(msg));
    msgs.any(|msg| hec.exception(msg).untag() == exception.untag())
}

/// Raises an exception in the running thread as an asynchronous one, whatever its masking state. Returns as
/// [`crate::eval::raise::hec_raise`] does.
/// # Safety
/// Called from Cmm with Sp and Hp saved; the frame on top needs no register.
#[no_mangle]
pub unsafe extern "C" fn hec_throw_to_self(hec: &mut Hec, exception: Closure) -> usize {
    let me = hec.current();
    raise_async(hec, me, Some(exception));
    finished(me) as usize
}

/// The running thread has unmasked exceptions: raises the first one that waits. Returns as
/// [`crate::eval::raise::hec_raise`] does.
/// # Safety
/// As for [`hec_throw_to_self`].
#[no_mangle]
pub unsafe extern "C" fn hec_unmasked(hec: &mut Hec) -> usize {
    let me = hec.current();
    throwto_protocol::deliver_first(hec, me);
    finished(me) as usize
}

/// Raises the first exception that waits for the thread, if the operation that the thread is about to block in is
/// interruptible. Returns true if it raised one; then the thread does not block.
/// # Safety
/// The thread is at rest, with a frame on top that needs no register.
#[inline]
pub unsafe fn deliver_instead(hec: &mut Hec, t: Tso, why: usize) -> bool {
    throwto_protocol::is_due(hec, t, why) && throwto_protocol::deliver_first(hec, t)
}

/// Delivers an exception to a thread that has returned from a foreign call. The thread is about to return to its
/// continuation with the result in registers. If an exception waits and may be raised, a frame that raises it is
/// pushed.
/// # Safety
/// The caller holds the HEC; the thread is marked as not blocked, and its stack is saved and dirty.
pub unsafe fn deliver_after_call(hec: &mut Hec, t: Tso) {
    if throwto_protocol::is_due_now(hec, t) {
        let stack = t.obj().stackobj;
        dirty_stack(hec, stack);
        crate::thread::create::push(stack, &[info!(hec_after_call_info).0]);
    }
}

/// The thread has finished: resumes the threads that wanted to throw to it.
/// # Safety
/// The thread has finished.
pub unsafe fn thread_finished(hec: &mut Hec, t: Tso) {
    substrate::finished(hec, t);
    throwto_protocol::finished(hec, t);
}
