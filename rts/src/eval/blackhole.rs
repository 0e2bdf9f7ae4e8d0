//! Waiting for a thunk that another thread evaluates.
//!
//! A thread that meets a claimed thunk waits in a queue of the thunk's own (2010 paper, §8.3),
//! a BLOCKING_QUEUE in the thunk's indirectee, with a MSG_BLACKHOLE for an entry. Whoever gives
//! the thunk its value finds the queue there and wakes all of it. With several HECs the queue may
//! be overwritten, and hangs on the thunk's owner as well: `thunk.rs` has the protocol.
//!
//! Threads that update something shared lazily (`atomicModifyIORef`) wait for each other in a chain,
//! each for the one before it. Run in turn they would stay so for ever: each is woken, does its
//! own short evaluation, and comes to wait at the chain's end. So who waits has the thread run
//! next for which all of the chain waits, and a thread that is woken runs at once, before the one that has
//! woken it can come to wait for it. (The 2016 paper met this in GHC's own name cache.) Where that one is far back in the
//! queue, its work is taken from it (`thunk_steal.rs`). Where it is another HEC's, that one is told to do so, by a letter.
//!
//! Most thunks are done sooner than a thread can be put to sleep and woken. And who stops claims what it evaluates itself, so that the
//! other soon waits in turn: two that go on evaluating each other's thunks without a claim do it twice now and then, which costs less. So
//! if the owner runs on another HEC just now, who would wait stays awake for a moment, as long as that has lately been worth it.
//!
//! An entry is used once. A thread that gives up waiting leaves its entry behind without a
//! thread; one that is found by a waker in a queue which it did not join after all, or has left
//! just now, is not blocked on that entry, and the waker lets it be.
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

/// The value of an indirection or a black hole; `None` while it is under evaluation.
/// # Safety
/// `c` is live, and its header IND or one of the black holes.
pub unsafe fn value(c: Closure) -> Option<Closure> {
    let indirectee = c.field(INDIRECTEE);
    (Heap.claim(indirectee.0) == Claim::Value).then_some(indirectee)
}

/// The thread that evaluates a thunk, if it is claimed at this moment.
/// # Safety
/// `thunk` is live and untagged.
pub unsafe fn owner_of(thunk: Closure) -> Option<Tso> {
    match thunk::look(&Heap, thunk.0) {
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

/// Call before a pointer is stored in a queue.
unsafe fn dirty_queue(hec: &mut Hec, queue: Closure) {
    if queue.info() == info!(stg_BLOCKING_QUEUE_CLEAN_info) {
        queue.set_info(info!(stg_BLOCKING_QUEUE_DIRTY_info));
        hec.remember(queue);
    }
}

/// Stays awake for a moment if another HEC is running the thread that evaluates `thunk`. 1 if it need not be waited for any more.
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
    (wait && hec.thunk_spin.spin_until(LOOKS, || owner_of(thunk).is_none())) as usize
}

/// How often it is looked whether the thunk is done, in some microseconds: to sleep and to be woken takes as long.
const LOOKS: usize = 400;

/// Makes a thread wait for a claimed thunk. False if it need not: the value has come, or the thunk has been
/// stolen for it.
/// # Safety
/// The thread is at rest, with a frame on top that enters the thunk. When this returns true,
/// another HEC may have it already.
pub unsafe fn park(hec: &mut Hec, t: Tso, thunk: Closure) -> bool {
    loop {
        let State::Claimed(_, claim) = thunk::look(&Heap, thunk.0) else { return false };
        let Some(owner) = thunk::owner(&Heap, claim).map(Tso) else { return false };
        if owner != t && is_far(hec, owner) && steal(hec, owner, thunk) {
            return false;
        }
        let entry = new_entry(hec, t, thunk);
        // A waker may find the entry before the thread is marked as blocked on it, and waits.
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
        give_up(entry);
    }
}

/// Would it be in vain to look for the thread among those that run soon here?
unsafe fn is_far(hec: &Hec, t: Tso) -> bool {
    let long = hec.run_queue.len() > MOST_PASSED;
    long && !hec.run_queue.is_among_first(t, MOST_PASSED) || checks().steal
}

/// Lets the thread run next for which the thread of `entry` waits, directly or by way of others, or has the HEC do so where that waits for
/// its turn. The caller holds no thread's lock.
unsafe fn prioritise_owner(hec: &mut Hec, mut entry: Closure) {
    for _ in 0..MOST_STEPS {
        let thunk = entry.field(MSG_BH).untag();
        let Some(owner) = owner_of(thunk) else { return };
        if hec.run_queue.bring_forward(&mut hec.remembered, owner, MOST_PASSED) {
            return;
        }
        let held = park::lock(owner);
        match park::why(owner) {
            // What it waits for says so much only as long as nobody can wake it.
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

/// A letter from another HEC: the thread of this entry waits for one that was here.
/// # Safety
/// All threads of this HEC are at rest.
pub unsafe fn prioritise_message(hec: &mut Hec, entry: Closure) {
    let thunk = entry.field(MSG_BH).untag();
    let Some(owner) = owner_of(thunk) else { return };
    if !(is_far(hec, owner) && steal(hec, owner, thunk)) {
        hec.run_queue.bring_forward(&mut hec.remembered, owner, MOST_PASSED);
    }
}

/// Does a HEC run the thread just now? Another's word, and only a hint.
unsafe fn runs_on(hec: *const Hec, t: Tso) -> bool {
    std::ptr::read_volatile(std::ptr::addr_of!((*hec).r.current_tso)) == t.0
}

/// How far it is looked for the thread on which a thunk waits, from owner to owner and in the queue.
const MOST_STEPS: usize = 32;
pub(super) const MOST_PASSED: usize = 64;

unsafe fn give_up(entry: Closure) {
    thread_of(entry).store(Tso::end().0, Ordering::Relaxed);
}

/// Does what the protocol leaves to its caller.
/// # Safety
/// The caller acts for the thread whose frame has gone; that is dirty.
pub(super) unsafe fn discharge(hec: &mut Hec, owed: Pending) {
    match owed {
        Pending::Wake(entries) => wake(hec, entries),
        Pending::Relink(queue) => dirty_queue(hec, Closure(queue)),
    }
}

/// Wakes those whose entries a queue had when it was closed, first come, first served.
/// # Safety
/// They are the caller's to wake.
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
                c.go_on(hec);
            }
            blackhole_profile::woken(t);
        }
    }
}

/// Does some thread wait for one of this thread's thunks?
/// # Safety
/// `t` is live.
pub unsafe fn is_awaited(t: Tso) -> bool {
    Heap.hanging(t.0).load(Ordering::Relaxed) != Tso::end().0
}

/// A thread has lost a frame for a thunk that was no longer its own: wakes who waits for it in
/// vain.
/// # Safety
/// The caller acts for `t`.
pub(super) unsafe fn settle(hec: &mut Hec, t: Tso) {
    thunk::settle(&Heap, t.0, |owed| discharge(hec, owed));
}

/// Takes a thread out of the queue of the black hole that it waited for.
/// # Safety
/// The thread was blocked on a black hole; it is the caller's, or there is one HEC.
pub unsafe fn stop_waiting(t: Tso) {
    blackhole_profile::woken(t);
    give_up(Closure(t.obj().block_info));
}
