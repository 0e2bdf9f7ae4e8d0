//! The one door for blocking: every way in which a thread stops and goes on again.
//!
//! States of a thread, by `why_blocked`: `NotBlocked` (running, or on the run queue) and the
//! `BlockedOn…` reasons of the contract. Only the HEC's holder moves a thread between them:
//! [`block`] is called by the thread itself, about to leave to the scheduler with
//! `ThreadBlocked`, after it has been put where its waker will find it; [`unblock`] by whoever
//! took it from there. A thread that leaves for a foreign call does so by [`block`] too, and
//! goes on by [`come_back`], on the OS thread that made the call. Nothing else writes
//! `why_blocked`.
use crate::contract::{layout::*, Closure, Tso};
use crate::hec::Hec;
use crate::thread::queue::dirty_tso;

/// Marks the thread as blocked for reason `why` on `info` (a closure or a number).
/// # Safety
/// `t` is running, and reachable by its waker.
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
