//! Park and unpark: the only operations by which threads block and resume.
//!
//! *Protocol*: a thread's `why_blocked` is `NotBlocked` or a `BlockedOn…` reason. A thread that is not blocked runs, or
//! is on the run queue of the HEC that its `cap` names. Only the holder of that HEC may change it.
//!
//! A thread blocks in two steps:
//! 1. The primitive operation records what the thread is about to wait for ([`hec_about_to_wait`]), and leaves to the
//!    scheduler with `ThreadBlocked`.
//! 2. The scheduler brings the thread to rest: it saves the registers, claims the thunks under evaluation, and delivers
//!    waiting exceptions. Then it *parks* the thread. Under the lock of what the thread waits for, it checks once more
//!    whether the operation can complete. If not, it enqueues the thread for its waker and calls [`block`]. From then
//!    on another HEC may wake the thread, and this HEC no longer owns it.
//!
//! A thread whose operation has become possible is not parked. The frame on top of its stack repeats the operation.
//!
//! No HEC owns a blocked thread ([`crate::thread::ownership`]). A HEC that wants to wake it or to raise an exception in
//! it must [`claim`] it first. It does so under the thread's lock, and only if the thread is still blocked on what the
//! claimant expects. The thread then becomes `NotBlocked`, and the claimant's HEC owns it. Of several HECs that race
//! for a thread one wins, and only that one may change the thread's stack.
//! - A waker holds the lock of what the thread waits for (MVar, TVar, thunk), and claims the thread under it. If the
//!   claim fails, another HEC has claimed the thread; its entry is stale, and the waker skips it.
//! - A thrower holds no such lock. It claims first. Then it takes the lock of what the thread waited for and removes
//!   the thread's entry ([`crate::sync::wait_queues`]). Only then does it let the thread run.
//!
//! [`Claim::resume`] puts the claimed thread on the run queue, or sends it to its own HEC if it stays on another one. A
//! thread of a user scheduler that is in no HEC's user slot goes back to its scheduler instead: an enqueue upcall for
//! it is owed.
//!
//! *Invariants*
//! - A waker never finds an entry that a thread has made in an earlier wait.
//! - A thread that leaves for a foreign call does so by [`block`], and resumes by [`resume_from_call`] on the OS thread
//!   that made the call. Nothing else writes `why_blocked`.
//!
//! *Locking*: HEC slots and objects come first, then threads. The holder of a thread's lock takes no other lock;
//! `throwTo` takes two threads' locks at once ([`Ownership::lock_both`]). A thread's `blocked_exceptions` are also
//! written under its lock. With one HEC there are no locks.
use crate::abi::layout::*;
use crate::abi::tso::{TsoObj, TSO_LENIENT, TSO_PREEMPTS, TSO_SLOT, TSO_STAYS, TSO_USER};
use crate::abi::{Closure, Tso};
use crate::base::atomics::AtomicUsize;
use crate::hec::lenient_pool::AtRest;
use crate::hec::priority;
use crate::hec::run_order;
use crate::hec::run_queue::dirty_tso;
use crate::hec::wait::Wait;
use crate::hec::{many, Handed, Hec};
use crate::observe::eventlog::hooks as eventlog;
use crate::observe::stats::Enqueue;
use crate::thread::ownership;
use crate::thread::ownership::{Held, Ownership, NOT_BLOCKED};
use crate::thread::spinlock::{Reason, Spin};

/// The number of thread locks. Threads share them: a thread's number selects its lock, because its address changes.
/// Large enough that two threads rarely share one.
const LOCKS: usize = 256;
static LOCK_OF: [Spin; LOCKS] = [const { Spin(AtomicUsize::new(0)) }; LOCKS];

const _: () = assert!(NOT_BLOCKED == NotBlocked);

/// The words that say who owns the thread.
/// # Safety
/// `t` is live.
pub unsafe fn ownership(t: Tso) -> Ownership {
    let o = t.0 as *mut TsoObj;
    Ownership {
        lock: many().then(|| &LOCK_OF[(*o).id as usize % LOCKS]),
        reason: &*(std::ptr::addr_of!((*o).why_blocked) as *const Reason),
        owner: &*(std::ptr::addr_of!((*o).cap) as *const AtomicUsize),
    }
}

/// Takes the thread's lock, if there are several HECs.
/// # Safety
/// `t` is live, and the caller holds no thread's lock.
pub unsafe fn lock(t: Tso) -> Held {
    ownership(t).lock()
}

/// Why the thread is blocked. Exact for the thread's owner, or under its lock.
/// # Safety
/// `t` is live.
pub unsafe fn why(t: Tso) -> usize {
    ownership(t).why()
}

/// Records what the running thread is about to wait for.
/// # Safety
/// The caller is the running thread. It then leaves with `ThreadBlocked`, with a frame on top of its stack that repeats
/// the operation.
#[no_mangle]
pub unsafe extern "C" fn hec_about_to_wait(hec: &mut Hec, why: usize, on: usize) {
    hec.wait = Wait { why, on };
}

/// Marks the thread as blocked for reason `why` on `info` (a closure or a number). Another HEC may claim it at once.
/// # Safety
/// This HEC owns `t`, which is at rest and on the queue where its waker looks. The waker cannot look before the lock of
/// what the thread waits for is released.
pub unsafe fn block(hec: &mut Hec, t: Tso, why: usize, info: usize) {
    dirty_tso(&mut hec.remembered, t);
    t.obj().block_info = info;
    ownership(t).block(why);
}

/// A thread that was blocked, and that only this HEC may now change. Its `block_info` is unchanged.
pub type Claim = ownership::Claim<Tso>;

/// Claims the thread if it is blocked and `accepts(why, block_info)` holds.
/// # Safety
/// `t` is live, and the caller holds no thread's lock.
pub unsafe fn claim(hec: &Hec, t: Tso, accepts: impl FnOnce(usize, usize) -> bool) -> Option<Claim> {
    let ownership = ownership(t);
    let held = ownership.lock();
    // The blocking HEC writes `block_info` before the reason, so it is read after the reason.
    ownership.claim(t, hec.address(), |why| accepts(why, t.obj().block_info), &held)
}

impl Claim {
    /// Makes the thread runnable: on this HEC, or on the one that it stays on.
    /// # Safety
    /// The thread is on no queue, and the caller holds no thread's lock.
    #[inline]
    pub unsafe fn resume(self, hec: &mut Hec) {
        let t = self.thread;
        t.obj().block_info = Tso::end().0;
        if t.obj().flags & (TSO_STAYS | TSO_USER | TSO_PREEMPTS | TSO_LENIENT) != 0 {
            if is_lenient(t) {
                hec.lenient.at_rest.push_back(AtRest { thread: t, slices: 0 });
                return;
            }
            if self.resumes_elsewhere(hec) {
                return self.resume_elsewhere(hec);
            }
            preempt(hec, t);
        }
        eventlog::thread_woken(hec.no, t.obj().id, hec.no);
        hec.run_queue.push_back(&mut hec.remembered, t);
        if many() {
            hec.balance_soon(hec.run_queue.len() == 1);
        }
    }

    /// Does the thread not go to the run queue of this HEC?
    #[inline(always)]
    unsafe fn resumes_elsewhere(&self, hec: &Hec) -> bool {
        self.thread.obj().flags & (TSO_STAYS | TSO_USER) != 0
            && (needs_enqueue(self.thread) || self.stays_elsewhere(hec))
    }

    unsafe fn stays_elsewhere(&self, hec: &Hec) -> bool {
        self.thread.obj().flags & TSO_STAYS != 0 && self.home != hec.address()
    }

    #[inline(never)]
    unsafe fn resume_elsewhere(self, hec: &mut Hec) {
        let (t, enqueues) = (self.thread, needs_enqueue(self.thread));
        let home = if enqueues { &*hec } else { &*(self.home as *const Hec) };
        eventlog::thread_woken(hec.no, t.obj().id, home.no);
        if enqueues {
            hec.to_enqueue.push(t);
            hec.upcalls.count_enqueue(Enqueue::after(self.why));
            hec.enqueue_soon();
        } else {
            migrate(t, home);
        }
    }

    /// Makes the thread run as soon as the running one can be stopped; the stopped thread runs second. A thread that
    /// does not go to this HEC's built-in queue, and any under a random run order, is resumed as by [`Claim::resume`].
    /// # Safety
    /// As for [`Claim::resume`].
    pub unsafe fn resume_next(self, hec: &mut Hec) {
        let in_named = priority::named_queue(self.thread).is_some();
        if is_lenient(self.thread) || run_order::is_random() || in_named || self.resumes_elsewhere(hec) {
            return self.resume(hec);
        }
        self.resume_here(hec, true);
        hec.handed = Handed::Next;
        hec.interrupt();
    }

    /// Puts the thread at the front of the run queue of this HEC, or at its back, wherever it was before.
    /// # Safety
    /// As for [`Claim::resume`]. A thread of a user scheduler has this HEC's user slot.
    pub unsafe fn resume_here(self, hec: &mut Hec, first: bool) {
        let t = self.thread;
        t.obj().block_info = Tso::end().0;
        eventlog::thread_woken(hec.no, t.obj().id, hec.no);
        if first {
            hec.run_queue.push_front(&mut hec.remembered, t);
        } else {
            hec.run_queue.push_back(&mut hec.remembered, t);
        }
    }

    /// Sends the thread to another HEC, which will run it.
    /// # Safety
    /// As for [`Claim::resume_here`], with the other HEC's slot.
    pub unsafe fn resume_there(self, hec: &Hec, there: &Hec) {
        self.thread.obj().block_info = Tso::end().0;
        eventlog::thread_woken(hec.no, self.thread.obj().id, there.no);
        migrate(self.thread, there);
    }

    /// Leaves the thread to the caller, whose HEC it had blocked on, to run it without queueing.
    /// # Safety
    /// As for [`Claim::resume`].
    pub unsafe fn keep(self) {
        self.thread.obj().block_info = Tso::end().0;
    }
}

/// Stops the running thread soon if `woken` preempts it.
unsafe fn preempt(hec: &mut Hec, woken: Tso) {
    let running = hec.current();
    if woken.obj().flags & TSO_PREEMPTS != 0 && !running.is_null() && priority::preempts(woken, running) {
        hec.request_yield();
    }
}

/// Does a user scheduler decide when the thread, which has become runnable, runs? One that an exception has ended just
/// ends.
/// # Safety
/// This HEC owns the thread.
pub unsafe fn needs_enqueue(t: Tso) -> bool {
    let o = t.obj();
    o.flags & (TSO_USER | TSO_SLOT) == TSO_USER && o.what_next as usize != ThreadKilled
}

/// Hands a thread over to another HEC, which will run it.
/// # Safety
/// This HEC owns the thread, which is at rest and on no queue. The caller holds no thread's lock.
pub unsafe fn migrate(t: Tso, to: &Hec) {
    ownership(t).hand_over(to.address());
    to.post_message(t.closure());
}

/// Wakes a thread if it is blocked for reason `why` on `on`. Returns false if it no longer is.
/// # Safety
/// The caller holds the lock of what the thread waits for, and has taken the thread off its queue.
pub unsafe fn wake(hec: &mut Hec, t: Tso, why: usize, on: usize) -> bool {
    match claim(hec, t, |w, o| w == why && o == on) {
        Some(c) => {
            c.resume(hec);
            true
        }
        None => false,
    }
}

/// Makes a blocked thread runnable.
/// # Safety
/// `t` is blocked, has been taken off the queue it waited on, and no other HEC can claim it.
pub unsafe fn unblock(hec: &mut Hec, t: Tso) {
    match claim(hec, t, |_, _| true) {
        Some(c) => c.resume(hec),
        None => crate::base::fatal::broken("a thread is woken that is not blocked"),
    }
}

/// Marks a thread whose foreign call has returned as not blocked, and takes ownership of it.
/// # Safety
/// `t` is in a foreign call, and is no longer on any list of such threads.
pub unsafe fn resume_from_call(hec: &mut Hec, t: Tso) {
    ownership(t).resume_from_call(hec.address());
    dirty_tso(&mut hec.remembered, t);
    t.obj().block_info = Tso::end().0;
}

/// Does the reason `why` say that a thread is in a foreign call?
pub fn is_in_foreign_call(why: usize) -> bool {
    why == BlockedOnCCall || why == BlockedOnCCall_Interruptible
}

/// Does the thread evaluate what may be needed later (`sched/lenient.rs`)? A hint, unless this HEC owns it.
/// # Safety
/// The thread is live.
pub unsafe fn is_lenient(t: Tso) -> bool {
    t.obj().flags & TSO_LENIENT != 0
}

/// An ordinary thread waits for `t`, which is lenient. So it is an ordinary thread from now on, and runs next if it is
/// at rest on this HEC.
/// # Safety
/// `t` is live. The caller holds its lock, or this HEC owns it.
pub unsafe fn end_leniency(hec: &mut Hec, t: Tso) {
    t.obj().flags &= !TSO_LENIENT;
    if let Some(at) = hec.lenient.at_rest.iter().position(|at| at.thread == t) {
        hec.lenient.at_rest.remove(at);
        hec.run_queue.push_front(&mut hec.remembered, t);
    }
}

/// Is `block_info` of a thread that is blocked for `why` a pointer that the collector must follow?
pub fn block_info_is_pointer(why: usize) -> bool {
    matches!(
        why,
        NotBlocked
            | BlockedOnMVar
            | BlockedOnMVarRead
            | BlockedOnBlackHole
            | BlockedOnSTM
            | BlockedOnMsgThrowTo
            | BlockedOnIOCompletion
    )
}

/// The closure that the thread is blocked on, if it is one.
/// # Safety
/// `t` is live.
pub unsafe fn blocked_on(t: Tso) -> Option<Closure> {
    let o = t.obj();
    block_info_is_pointer(o.why_blocked as usize).then_some(Closure(o.block_info))
}
