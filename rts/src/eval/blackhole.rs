//! Black holes: waiting for a thunk that another thread evaluates.
//!
//! *Protocol*
//! 1. A thread that enters a claimed thunk waits in a queue of the thunk's own [OT10, §8.3]. The thunk's
//!    indirectee is then a BLOCKING_QUEUE, with a MSG_BLACKHOLE for each entry.
//! 2. The thread that gives the thunk its value finds the queue there and wakes all its threads.
//! 3. With several HECs the queue may be overwritten, so it also hangs on the thunk's owner ([`thunk`] has the
//!    protocol).
//! 4. An entry is used once. A thread that stops waiting clears the entry's thread field.
//! 5. A waker may find an entry in a queue that its thread did not join after all, or has just left. Such a thread is
//!    not blocked on that entry, and the waker ignores it.
//!
//! *Chains of waiting threads*: threads that update something shared lazily (`atomicModifyIORef`) wait for each other
//! in a chain, each for the one before it. Under round robin they would stay in a chain for ever: each is woken, does
//! its own short evaluation, and waits at the end of the chain. (\[Tro16\] met this in GHC's own name cache.) Three
//! rules prevent this:
//! - A thread that waits makes the thread at the head of its chain run next. A woken thread runs at once, before the
//!   thread that has woken it can wait for it.
//! - If the head is far back in the run queue, the waiting thread steals the head's work
//!   ([`crate::eval::thunk_steal`]).
//! - If another HEC owns the head, that HEC receives a message that asks for the same.
//!
//! *Spinning*: most thunks are finished sooner than a thread can be parked and woken. Besides, a thread that stops
//! claims the thunks it evaluates, so that the other thread soon waits for it. Two threads that keep running without
//! claims evaluate a thunk twice now and then, which costs less. So if the owner currently runs on another HEC, a
//! thread first spins for a moment, as long as that has recently paid ([`crate::base::adaptive_spin`]).
//!
//! *Checked by*: the unit tests in `rts/src/eval/tests.rs`.
use super::thunk::{self, Claim, Memory, Pending, State};
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::base::atomics::Ordering;
use crate::eval::thunk_words::*;
use crate::hec::Hec;
use crate::info;
use crate::observe::blackhole_profile;
use crate::thread::park;

/// The value of an indirection or a black hole, or `None` while it is under evaluation.
/// # Safety
/// `c` is live, and its header is IND or one of the black holes.
pub unsafe fn value(c: Closure) -> Option<Closure> {
    let indirectee = c.field(INDIRECTEE);
    (Heap.claim(indirectee.0) == Claim::Value).then_some(indirectee)
}

/// The thread that evaluates a thunk, if the thunk is claimed at this moment.
/// # Safety
/// `thunk` is live and untagged.
pub unsafe fn owner_of(thunk: Closure) -> Option<Tso> {
    match thunk::inspect(&Heap, thunk.0) {
        State::Claimed(_, claim) => thunk::owner(&Heap, claim).map(Tso),
        _ => None,
    }
}

/// If the thread waits for a thunk: the thread that evaluates that.
/// # Safety
/// `t` is live, and the caller holds no thread's lock.
pub unsafe fn awaited_owner(t: Tso) -> Option<Tso> {
    let held = park::lock(t);
    // Valid only while the lock prevents others from waking it.
    let entry = (park::why(t) == BlockedOnBlackHole).then(|| Closure(t.obj().block_info));
    let thunk = entry.map(|entry| entry.field(MSG_BH).untag());
    drop(held);
    owner_of(thunk?).filter(|&owner| owner != t)
}

/// Marks a queue dirty. Call this before storing a pointer in it.
pub(super) unsafe fn dirty_queue(hec: &mut Hec, queue: Closure) {
    if queue.info() == info!(stg_BLOCKING_QUEUE_CLEAN_info) {
        queue.set_info(info!(stg_BLOCKING_QUEUE_DIRTY_info));
        hec.remember(queue);
    }
}

pub(super) unsafe fn abandon(entry: Closure) {
    thread_of(entry).store(Tso::end().0, Ordering::Relaxed);
}

/// Performs an operation that the protocol leaves to its caller.
/// # Safety
/// The caller acts for the thread whose frame has gone; that thread is dirty.
pub(super) unsafe fn discharge(hec: &mut Hec, pending: Pending) {
    match pending {
        Pending::Wake(entries) => wake(hec, entries),
        Pending::Relink(queue) => dirty_queue(hec, Closure(queue)),
    }
}

/// Wakes the threads of a closed queue in the order of their arrival. `latest` is its latest entry.
/// # Safety
/// The caller has closed the queue.
pub(super) unsafe fn wake(hec: &mut Hec, latest: usize) {
    let mut waiting = Vec::new();
    let mut entry = Closure(latest);
    while entry != Tso::end().closure() {
        waiting.push(entry);
        entry = entry.field(MSG_LINK);
    }
    let mut first = true;
    for entry in waiting.into_iter().rev() {
        let t = Tso(thread_of(entry).load(Ordering::Relaxed));
        if t.is_end() {
            continue;
        }
        if let Some(c) = park::claim(hec, t, |why, on| why == BlockedOnBlackHole && on == entry.0) {
            if first || is_awaited(t) {
                first = false;
                c.resume_next(hec);
            } else {
                c.resume(hec);
            }
            blackhole_profile::woken(t);
        }
    }
}

/// Does a thread wait for one of this thread's thunks?
/// # Safety
/// `t` is live.
pub unsafe fn is_awaited(t: Tso) -> bool {
    Heap.hanging(t.0).load(Ordering::Relaxed) != Tso::end().0
}

/// A thread has lost a frame for a thunk that it no longer owns: wakes the threads that wait for it because of that
/// thunk.
/// # Safety
/// The caller acts for `t`.
pub(super) unsafe fn release_queues(hec: &mut Hec, t: Tso) {
    thunk::release_queues(&Heap, t.0, |pending| discharge(hec, pending));
}

/// Takes a thread out of the queue of the black hole that it waited for.
/// # Safety
/// The thread was blocked on a black hole. The caller owns it, or there is one HEC.
pub unsafe fn stop_waiting(t: Tso) {
    blackhole_profile::woken(t);
    abandon(Closure(t.obj().block_info));
}
