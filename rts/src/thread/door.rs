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
//! [`unblock`] is called by whoever took the thread from where it waited; the thread then runs
//! on that HEC, unless it is tied to another. A thread that leaves for a foreign call does so by
//! [`block`], and goes on by [`come_back`], on the OS thread that made the call. Nothing else
//! writes `why_blocked`.
use crate::contract::{layout::*, Closure, Tso};
use crate::hec::Hec;
use crate::thread::queue::dirty_tso;

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

/// Says what the running thread is about to wait for.
/// # Safety
/// Called by the running thread, which then leaves with `ThreadBlocked`, with a frame on top of
/// its stack that tries the operation again.
#[no_mangle]
pub unsafe extern "C" fn hec_about_to_wait(hec: &mut Hec, why: usize, on: usize) {
    hec.wait = Wait { why, on };
}

/// Marks the thread as blocked for reason `why` on `info` (a closure or a number).
/// # Safety
/// `t` is at rest, and reachable by its waker.
pub unsafe fn block(hec: &mut Hec, t: Tso, why: usize, info: usize) {
    dirty_tso(&mut hec.remembered, t);
    let o = t.obj();
    o.block_info = info;
    o.why_blocked = why as u16;
}

/// Makes a blocked thread runnable: to the back of the run queue.
/// # Safety
/// `t` is blocked and has been taken off whatever it waited on.
pub unsafe fn unblock(hec: &mut Hec, t: Tso) {
    let o = t.obj();
    debug_assert!(o.why_blocked as usize != NotBlocked);
    o.why_blocked = NotBlocked as u16;
    o.block_info = Tso::end().0;
    o.cap = hec as *mut Hec as usize;
    hec.run_queue.push_back(&mut hec.remembered, t);
}

/// Makes a thread whose foreign call has returned one that runs.
/// # Safety
/// `t` is in a foreign call, and on no list of such threads any more.
pub unsafe fn come_back(hec: &mut Hec, t: Tso) {
    dirty_tso(&mut hec.remembered, t);
    let o = t.obj();
    o.why_blocked = NotBlocked as u16;
    o.block_info = Tso::end().0;
    o.cap = hec as *mut Hec as usize;
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
