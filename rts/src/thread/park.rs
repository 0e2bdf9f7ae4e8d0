//! The one door for blocking: every way in which a thread stops and goes on again.
//!
//! States of a thread, by `why_blocked`: `NotBlocked` (running, or on the run queue of the HEC
//! that its `cap` names, whose holder alone may touch it) and the `BlockedOn…` reasons of the
//! contract.
//!
//! A thread stops in two steps. The primitive operation only says what the thread is about to
//! wait for ([`hec_about_to_wait`]) and leaves to the scheduler with `ThreadBlocked`. The scheduler
//! brings the thread to rest (its registers saved, its thunks claimed, waiting exceptions
//! delivered) and then *parks* it: under the lock of what it waits for, the operation looks
//! once more whether it can go on, and if not puts the thread where its waker will find it and
//! calls [`block`]. From that moment another HEC may wake the thread, and it is ours no longer.
//! A thread whose operation has become possible is not parked: the frame on top of its stack
//! does the operation again.
//!
//! A blocked thread belongs to nobody (`ownership.rs`). Whoever wants it, to wake it or to raise an
//! exception in it, must [`claim`] it: under the thread's own lock, and only if it is still blocked on
//! what the claimant knows, it becomes `NotBlocked` and belongs to the claimant's HEC. So of several that
//! race for it one wins, and it alone may touch the thread's stack.
//!
//! * A waker holds the lock of what the thread waits for (MVar, TVar, thunk) and claims within.
//!   If the claim fails somebody else has the thread: its entry is stale, and passed over.
//! * A thrower holds no lock of that kind. It claims first, then takes the lock of what the
//!   thread waited for to take its entry out (`sync::queues`), and only then lets the thread run.
//!   So no entry of a thread is ever met that the thread has not made in its present wait.
//!
//! [`Claim::go_on`] puts the claimed thread on the run queue, or sends it home if it is tied to
//! another HEC.
//!
//! Order of locks: seats and objects, then threads; who holds a thread's lock takes no other. (`throwTo`
//! takes two threads' at once.) A thread's `blocked_exceptions` are written under its lock too. With one
//! HEC there are no locks.
//!
//! A thread that leaves for a foreign call does so by [`block`], and goes on by [`resume_from_call`], on
//! the OS thread that made the call. Nothing else writes `why_blocked`.
use crate::abi::layout::*;
use crate::abi::tso::TsoObj;
use crate::abi::{Closure, Tso};
use crate::base::atomics::AtomicUsize;
use crate::hec::run_queue::dirty_tso;
use crate::hec::{many, Handed, Hec};
use crate::observe::eventlog::hooks as eventlog;
use crate::thread::ownership;
use crate::thread::ownership::{Held, Ownership, NOT_BLOCKED};
use crate::thread::spinlock::{Reason, Spin};

/// What a thread that leaves with `ThreadBlocked` is about to wait for.
#[derive(Clone, Copy)]
pub struct Wait {
    /// The reason, as in `why_blocked`.
    pub why: usize,
    /// A closure, or a number (descriptor, microseconds).
    pub on: usize,
}

impl Wait {
    pub const NONE: Wait = Wait { why: NotBlocked, on: 0 };
}

/// Threads share these locks: a thread's is chosen by its number, for its address changes.
const LOCKS: usize = 256;
static LOCK_OF: [Spin; LOCKS] = [const { Spin(AtomicUsize::new(0)) }; LOCKS];

const _: () = assert!(NOT_BLOCKED == NotBlocked);

/// The words that say whose a thread is.
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

/// Why the thread is blocked; exact for its owner, or under its lock.
/// # Safety
/// `t` is live.
pub unsafe fn why(t: Tso) -> usize {
    ownership(t).why()
}

/// Says what the running thread is about to wait for.
/// # Safety
/// Called by the running thread, which then leaves with `ThreadBlocked`, with a frame on top of
/// its stack that tries the operation again.
#[no_mangle]
pub unsafe extern "C" fn hec_about_to_wait(hec: &mut Hec, why: usize, on: usize) {
    hec.wait = Wait { why, on };
}

/// Marks the thread as blocked for reason `why` on `info` (a closure or a number). It may be
/// claimed at once.
/// # Safety
/// `t` is ours, at rest, and reachable by its waker, who cannot look for it before the lock of
/// what it waits for is released.
pub unsafe fn block(hec: &mut Hec, t: Tso, why: usize, info: usize) {
    dirty_tso(&mut hec.remembered, t);
    t.obj().block_info = info;
    ownership(t).block(why);
}

/// A thread that was blocked and is now ours alone. Its `block_info` is as it was.
pub type Claim = ownership::Claim<Tso>;

/// Claims the thread if it is blocked and `right(why, block_info)`.
/// # Safety
/// `t` is live; the caller holds no thread's lock.
pub unsafe fn claim(hec: &Hec, t: Tso, right: impl FnOnce(usize, usize) -> bool) -> Option<Claim> {
    let ownership = ownership(t);
    let held = ownership.lock();
    // What it waits for is written before the reason is, so it is read after.
    ownership.claim(t, hec.address(), |why| right(why, t.obj().block_info), &held)
}

impl Claim {
    /// Lets the thread run: here, or where it must.
    /// # Safety
    /// It is on no queue, and no thread's lock is held.
    #[inline]
    pub unsafe fn go_on(self, hec: &mut Hec) {
        let t = self.thread;
        t.obj().block_info = Tso::end().0;
        if t.obj().flags as usize & TSO_LOCKED != 0 && self.home != hec.address() {
            return self.go_home(hec);
        }
        eventlog::thread_woken(hec.no, t.obj().id, hec.no);
        hec.run_queue.push_back(&mut hec.remembered, t);
        if many() {
            hec.share_soon(hec.run_queue.len() == 1);
        }
    }

    #[inline(never)]
    unsafe fn go_home(self, hec: &Hec) {
        let home = &*(self.home as *const Hec);
        eventlog::thread_woken(hec.no, self.thread.obj().id, home.no);
        migrate(self.thread, home);
    }

    /// Lets the thread run as soon as the running one can be stopped; that comes second. A thread
    /// that is tied to another HEC runs there in its turn.
    /// # Safety
    /// As for [`Claim::go_on`].
    pub unsafe fn resume_next(self, hec: &mut Hec) {
        let t = self.thread;
        if t.obj().flags as usize & TSO_LOCKED != 0 && self.home != hec.address() {
            return self.go_on(hec);
        }
        t.obj().block_info = Tso::end().0;
        eventlog::thread_woken(hec.no, t.obj().id, hec.no);
        hec.run_queue.push_front(&mut hec.remembered, t);
        hec.handed = Handed::Next;
        hec.interrupt();
    }

    /// Leaves the thread to the caller, whose HEC it had blocked on, to run without a queue.
    /// # Safety
    /// As for [`Claim::go_on`].
    pub unsafe fn keep(self) {
        self.thread.obj().block_info = Tso::end().0;
    }
}

/// Hands a thread over to another HEC, which will run it.
/// # Safety
/// It is ours, at rest, and on no queue; no thread's lock is held.
pub unsafe fn migrate(t: Tso, to: &Hec) {
    ownership(t).hand_over(to.address());
    to.send(t.closure());
}

/// Wakes a thread if it is blocked for reason `why` on `on`. False if it is not any more.
/// # Safety
/// The lock of what it waits for is held, and it has been taken off that.
pub unsafe fn wake(hec: &mut Hec, t: Tso, why: usize, on: usize) -> bool {
    match claim(hec, t, |w, o| w == why && o == on) {
        Some(c) => {
            c.go_on(hec);
            true
        }
        None => false,
    }
}

/// Makes a blocked thread runnable.
/// # Safety
/// `t` is blocked and has been taken off whatever it waited on, and nobody else can have it.
pub unsafe fn unblock(hec: &mut Hec, t: Tso) {
    match claim(hec, t, |_, _| true) {
        Some(c) => c.go_on(hec),
        None => crate::base::fatal::broken("a thread is woken that is not blocked"),
    }
}

/// Makes a thread whose foreign call has returned one that runs.
/// # Safety
/// `t` is in a foreign call, and on no list of such threads any more.
pub unsafe fn resume_from_call(hec: &mut Hec, t: Tso) {
    ownership(t).resume_from_call(hec.address());
    dirty_tso(&mut hec.remembered, t);
    t.obj().block_info = Tso::end().0;
}

/// Is a thread that is blocked for `why` in a foreign call?
pub fn calls_out(why: usize) -> bool {
    why == BlockedOnCCall || why == BlockedOnCCall_Interruptible
}

/// Is `block_info` of a thread blocked for `why` a pointer that the collector must follow?
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

/// What the thread is blocked on, if it is a closure.
/// # Safety
/// `t` is live.
pub unsafe fn blocked_on(t: Tso) -> Option<Closure> {
    let o = t.obj();
    block_info_is_pointer(o.why_blocked as usize).then_some(Closure(o.block_info))
}
