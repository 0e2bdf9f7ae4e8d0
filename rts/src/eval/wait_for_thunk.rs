//! Parks a thread that needs a thunk under evaluation by another thread, and lets the evaluator run first.
//!
//! *Protocol*: [`crate::eval::blackhole`] describes the queue of waiting threads, and how chains of them stay short.
use super::thunk::{self, Claim, State};
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, TSO_SWITCHES, TSO_UPCALL};
use crate::abi::{Closure, Tso};
use crate::base::atomics::Ordering;
use crate::base::config::checks;
use crate::eval::blackhole::{abandon, dirty_queue, owner_of};
use crate::eval::raise_async::raise_async;
use crate::eval::thunk_copy;
use crate::eval::thunk_steal::{is_at_rest_here, steal, steal_at_rest};
use crate::eval::thunk_words::*;
use crate::eval::unwind_hooks;
use crate::hec::run_queue::dirty_tso;
use crate::hec::{many, Hec};
use crate::observe::blackhole_profile;
use crate::thread::park;
use crate::thread::park::is_lenient;
use crate::{info, static_closure};

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
        if is_lenient(owner) && !is_lenient(t) && is_at_rest_here(hec, owner) {
            park::end_leniency(hec, owner);
        }
        let chooses = t.obj().flags & (TSO_SWITCHES | TSO_UPCALL) != 0;
        if owner != t && (chooses || is_far_back(hec, owner)) && steal(hec, owner, thunk) {
            return false;
        }
        if chooses && owner == t {
            // It would wait for ever, and no thread of its scheduler would run here.
            let e = static_closure!(base_ControlziExceptionziBase_nonTermination_closure);
            raise_async(hec, t, Some(e));
            return false;
        }
        if chooses {
            return poll(hec, t, owner, thunk);
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

/// A thread in the transaction of a `switch`, or an upcall, needs a thunk of `owner`. Until it has chosen a thread, no
/// thread of its scheduler runs on this HEC. So it takes the thunk from a passive owner, or evaluates a copy of the
/// owner's work, and returns false. If neither is possible, the owner runs here until its slice ends. An owner that
/// runs on another HEC, or is blocked, may become passive. So the thread does not sleep, but enters the thunk again
/// when others have had their turn.
#[cold]
unsafe fn poll(hec: &mut Hec, t: Tso, owner: Tso, thunk: Closure) -> bool {
    let mut copy = None;
    let mut take = |hec: &mut Hec| {
        steal_at_rest(hec, owner, thunk) || {
            copy = thunk_copy::copy(hec, t, owner, thunk);
            copy.is_some()
        }
    };
    if (unwind_hooks::get().take_from_passive)(hec, owner, &mut take) == Some(true) {
        if let Some(copy) = copy {
            thunk_copy::evaluate(t, thunk, copy);
        }
        return false;
    }
    hec.blame.wait();
    hec.run_queue.push_again(&mut hec.remembered, t);
    if !hec.run_queue.bring_forward(&mut hec.remembered, owner, usize::MAX) {
        // No tick gives threads of other parts, or batch threads, their turn.
        hec.run_queue.end_slice(&mut hec.remembered, true);
        std::thread::yield_now();
    }
    true
}

/// Is the thread not among those that run soon on this HEC?
unsafe fn is_far_back(hec: &Hec, t: Tso) -> bool {
    let long = hec.run_queue.len() > MAX_QUEUE_SEARCH;
    long && !hec.run_queue.is_among_first(t, MAX_QUEUE_SEARCH) || checks().steal_thunks
}

/// Makes the thread run next for which the thread of `entry` waits, directly or through others. If it waits in another
/// HEC's queue, asks that HEC to do so. The caller holds no thread's lock.
unsafe fn prioritise_owner(hec: &mut Hec, mut entry: Closure) {
    let waiter = Tso(entry.field(MSG_TSO).0);
    let promotes = !waiter.is_end() && !is_lenient(waiter);
    for _ in 0..MAX_CHAIN_STEPS {
        let thunk = entry.field(MSG_BH).untag();
        let Some(owner) = owner_of(thunk) else { return };
        let was_lenient = promotes && is_lenient(owner);
        if was_lenient && is_at_rest_here(hec, owner) {
            park::end_leniency(hec, owner);
        }
        if hec.run_queue.bring_forward(&mut hec.remembered, owner, MAX_QUEUE_SEARCH) {
            return;
        }
        let held = park::lock(owner);
        if was_lenient && park::why(owner) != NotBlocked {
            park::end_leniency(hec, owner);
        }
        match park::why(owner) {
            // Its wait information is valid only while the lock prevents others from waking it.
            BlockedOnBlackHole => entry = Closure(owner.obj().block_info),
            NotBlocked => {
                let there = park::ownership(owner).elsewhere(hec.address(), &held);
                drop(held);
                if let Some(there) = there.map(|h| h as *const Hec) {
                    if was_lenient || !runs_on(there, owner) {
                        (*there).post_message(entry);
                    }
                }
                return;
            }
            BlockedOnAbsent if was_lenient => {
                drop(held);
                return (unwind_hooks::get().demand_elsewhere)(hec, owner);
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
    let waiter = Tso(entry.field(MSG_TSO).0);
    if is_lenient(owner) && !waiter.is_end() && !is_lenient(waiter) {
        return prioritise_owner(hec, entry);
    }
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
