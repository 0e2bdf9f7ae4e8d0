//! Load balancing: giving threads to idle HECs.
//!
//! A thread runs on the HEC where it was made or woken, because its data is in that core's caches.
//!
//! *Protocol*
//! 1. Between threads the holder of a HEC checks three conditions. Another HEC is idle, a core is free for it
//!    ([`crate::base::active_limit`]), and more threads are queued here than the one that runs next.
//! 2. If so, it divides the others among its HEC and the idle ones. How often it does so depends on how well that has
//!    paid recently ([`crate::hec::balance_backoff`]).
//! 3. A HEC that becomes idle makes HECs with queued threads check. A thread that makes another one runnable stops when
//!    the next balance is due ([`Hec::balance_soon`]). Both only write the running thread's limit; [`crate::hec::idle`]
//!    says why neither misses the other.
//!
//! *Invariant*: threads that are bound to an OS thread, those that are pinned to their HEC (`forkOn`), and those of
//! user schedulers stay.
use crate::abi::tso::{TSO_STAYS, TSO_USER};
use crate::abi::Tso;
use crate::base::active_limit::ACTIVE_HECS;
use crate::hec;
use crate::hec::balance_backoff::BALANCE_BACKOFF;
use crate::hec::Hec;
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::handoff;
use crate::thread::park;

unsafe fn may_migrate(t: Tso) -> bool {
    let o = t.obj();
    o.bound == 0 && o.flags & (TSO_STAYS | TSO_USER) == 0
}

/// Gives threads that are queued here to idle HECs, or notes that it is too soon.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn distribute(hec: &mut Hec) {
    let me = hec.no as usize;
    hec.balance_later = false;
    hec.idle_seen = ACTIVE_HECS.idle.transitions();
    if hec.run_queue.len() < 2 || hec::idle_available() == 0 {
        return;
    }
    if BALANCE_BACKOFF.delay_ns() > 0 {
        hec.balance_later = true;
        return;
    }
    for no in (0..hec::enabled()).filter(|&no| no != me) {
        let waiting = hec.run_queue.len();
        if waiting < 2 || hec::idle_available() == 0 {
            return;
        }
        if hec::is_idle(no) {
            let part = (waiting / (hec::idle_available() + 1)).max(1);
            give(hec, no, part);
        }
    }
}

/// Gives up to `n` threads to HEC `no`.
unsafe fn give(hec: &mut Hec, no: usize, n: usize) {
    let mut moved = Vec::new();
    let mut kept = Vec::new();
    // The first one stays, because it runs next.
    let first = hec.run_queue.pop_front();
    while moved.len() < n {
        match hec.run_queue.pop_front() {
            Some(t) if may_migrate(t) => moved.push(t),
            Some(t) => kept.push(t),
            None => break,
        }
        // Each part of the queue is divided.
        hec.run_queue.end_turn();
    }
    let from = hec.no;
    let place_there = |there: &mut Hec| unsafe {
        for &t in &moved {
            eventlog::thread_migrated(from, t.obj().id, there.no);
            place(there, t);
        }
    };
    let given = !moved.is_empty() && handoff::give(no, place_there);
    if given {
        BALANCE_BACKOFF.on_balance();
    } else {
        hec.balance_later |= !moved.is_empty();
    }
    let back = if given { Vec::new() } else { moved };
    for t in kept.into_iter().chain(back).rev() {
        hec.run_queue.push_front(&mut hec.remembered, t);
    }
    if let Some(t) = first {
        hec.run_queue.push_front(&mut hec.remembered, t);
    }
}

/// Gives a thread that only another task can run to an idle HEC, so that this HEC need not be passed to that task.
/// Returns false if no HEC takes it.
/// # Safety
/// The caller holds the HEC, and the thread is on no queue.
pub unsafe fn give_to_idle(hec: &Hec, t: Tso) -> bool {
    let me = hec.no as usize;
    let mut others = (0..hec::enabled()).filter(|&no| no != me && hec::is_idle(no));
    hec::idle_count() > 0 && others.any(|no| handoff::give(no, |there| unsafe { place(there, t) }))
}

/// Queues a runnable thread of the caller's HEC on an idle one.
unsafe fn place(hec: &mut Hec, t: Tso) {
    park::ownership(t).hand_over(hec.address());
    hec.run_queue.push_back(&mut hec.remembered, t);
}

/// Moves all threads that are queued on a disabled HEC to enabled ones.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn move_all(hec: &mut Hec) {
    while let Some(t) = hec.run_queue.pop_front() {
        let home = &*hec::address(t.obj().id as usize % hec::enabled());
        eventlog::thread_migrated(hec.no, t.obj().id, home.no);
        park::migrate(t, home);
    }
}
