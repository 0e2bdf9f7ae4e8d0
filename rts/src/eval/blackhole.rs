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
use crate::base::config::checks;
use crate::eval::thunk_steal::steal;
use crate::eval::thunk_words::*;
use crate::hec::run_queue::dirty_tso;
use crate::hec::{many, Hec};
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

unsafe fn new_entry(hec: &mut Hec, t: Tso, thunk: Closure) -> Closure {
    let entry = hec.allocate(MSG_WORDS);
    entry.set_info(info!(stg_MSG_BLACKHOLE_info));
    entry.set_word(MSG_LINK, Tso::end().0);
    entry.set_word(MSG_TSO, t.0);
    entry.set_word(MSG_BH, thunk.0);
    entry
}

unsafe fn new_queue(hec: &mut Hec, owner: Tso, thunk: Closure, entry: Closure) -> Closure {
    let queue = hec.allocate(BQ_WORDS);
    queue.set_info(info!(stg_BLOCKING_QUEUE_DIRTY_info));
    queue.set_word(BQ_LINK, Tso::end().0);
    queue.set_word(BQ_BH, thunk.0);
    queue.set_word(BQ_OWNER, owner.0);
    queue.set_word(BQ_QUEUE, entry.0);
    queue
}

/// Marks a queue dirty. Call this before storing a pointer in it.
unsafe fn dirty_queue(hec: &mut Hec, queue: Closure) {
    if queue.info() == info!(stg_BLOCKING_QUEUE_CLEAN_info) {
        queue.set_info(info!(stg_BLOCKING_QUEUE_DIRTY_info));
        hec.remember(queue);
    }
}

/// Spins for a moment if another HEC is running the thread that evaluates `thunk`. Returns 1 if the thunk is finished.
/// # Safety
/// Called from Cmm by the running thread; `thunk` is untagged and was found claimed.
#[no_mangle]
pub unsafe extern "C" fn hec_await_briefly(hec: &mut Hec, thunk: Closure) -> usize {
    if !many() {
        return 0;
    }
    let Some(owner) = owner_of(thunk) else { return 1 };
    let there = park::ownership(owner).owner.load(Ordering::Relaxed) as *const Hec;
    let wait = !std::ptr::eq(there, hec) && runs_on(there, owner);
    (wait && hec.thunk_spin.spin_until(THUNK_SPINS, || owner_of(thunk).is_none())) as usize
}

/// The most polls of a thunk: a few microseconds, which is what parking and waking a thread takes.
const THUNK_SPINS: usize = 400;

/// Parks a thread on a claimed thunk. Returns false if it need not wait: the value has arrived, or the thread has
/// stolen the thunk.
/// # Safety
/// The thread is at rest, with a frame on top that enters the thunk. When this returns true, another HEC may already
/// own the thread.
pub unsafe fn park(hec: &mut Hec, t: Tso, thunk: Closure) -> bool {
    loop {
        let State::Claimed(_, claim) = thunk::inspect(&Heap, thunk.0) else { return false };
        let Some(owner) = thunk::owner(&Heap, claim).map(Tso) else { return false };
        if owner != t && is_far_back(hec, owner) && steal(hec, owner, thunk) {
            return false;
        }
        let entry = new_entry(hec, t, thunk);
        // A waker that finds the entry before the thread is marked as blocked on it waits for this lock.
        let held = park::lock(t);
        let joined = match claim {
            Claim::By(_) => {
                if many() {
                    dirty_tso(&mut hec.remembered, owner);
                }
                let queue = new_queue(hec, owner, thunk, entry);
                hec.remember(thunk);
                thunk::open(&Heap, queue.0)
            }
            Claim::Queue(queue) => {
                let queue = Closure(queue);
                dirty_queue(hec, queue);
                thunk::enqueue(&Heap, queue.0, entry.0)
            }
            Claim::Value => false,
        };
        if joined {
            blackhole_profile::blocked(t, thunk);
            park::block(hec, t, BlockedOnBlackHole, entry.0);
            drop(held);
            prioritise_owner(hec, entry);
            return true;
        }
        drop(held);
        abandon(entry);
    }
}

/// Is the thread not among those that run soon on this HEC?
unsafe fn is_far_back(hec: &Hec, t: Tso) -> bool {
    let long = hec.run_queue.len() > MAX_QUEUE_SEARCH;
    long && !hec.run_queue.is_among_first(t, MAX_QUEUE_SEARCH) || checks().steal_thunks
}

/// Makes the thread run next for which the thread of `entry` waits, directly or through others. If it waits in another
/// HEC's queue, asks that HEC to do so. The caller holds no thread's lock.
unsafe fn prioritise_owner(hec: &mut Hec, mut entry: Closure) {
    for _ in 0..MAX_CHAIN_STEPS {
        let thunk = entry.field(MSG_BH).untag();
        let Some(owner) = owner_of(thunk) else { return };
        if hec.run_queue.bring_forward(&mut hec.remembered, owner, MAX_QUEUE_SEARCH) {
            return;
        }
        let held = park::lock(owner);
        match park::why(owner) {
            // Its wait information is valid only while the lock prevents others from waking it.
            BlockedOnBlackHole => entry = Closure(owner.obj().block_info),
            NotBlocked => {
                let there = park::ownership(owner).elsewhere(hec.address(), &held);
                drop(held);
                if let Some(there) = there.map(|h| h as *const Hec) {
                    if !runs_on(there, owner) {
                        (*there).post_message(entry);
                    }
                }
                return;
            }
            _ => return,
        }
    }
}

/// Handles a message from another HEC: the thread of this entry waits for a thread that this HEC owned.
/// # Safety
/// All threads of this HEC are at rest.
pub unsafe fn prioritise_message(hec: &mut Hec, entry: Closure) {
    let thunk = entry.field(MSG_BH).untag();
    let Some(owner) = owner_of(thunk) else { return };
    if !(is_far_back(hec, owner) && steal(hec, owner, thunk)) {
        hec.run_queue.bring_forward(&mut hec.remembered, owner, MAX_QUEUE_SEARCH);
    }
}

/// Does a HEC currently run the thread? Reads another HEC's field, so the result is only a hint.
unsafe fn runs_on(hec: *const Hec, t: Tso) -> bool {
    std::ptr::read_volatile(std::ptr::addr_of!((*hec).r.current_tso)) == t.0
}

/// The most threads of a chain that are followed from owner to owner. Longer chains are rare, and each step takes a
/// lock.
const MAX_CHAIN_STEPS: usize = 32;
/// The most threads at the front of a run queue that are searched for an owner. Finding one farther back costs more
/// than stealing its work.
pub(super) const MAX_QUEUE_SEARCH: usize = 64;

unsafe fn abandon(entry: Closure) {
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
