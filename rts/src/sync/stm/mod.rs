//! Software transactional memory (2005 paper, §5).
//!
//! A transaction keeps a log of the TVars it has touched (`record`), writes nothing shared while
//! it runs, and is committed or found invalid at its end (`protocol`). Each TVar has a version,
//! which is also its lock: odd while a commit is writing to it or a waiter joins its queue.
//! Versions, not values, are compared, so a transaction that only reads writes nothing shared
//! at all, and a value that went away and came back is noticed.
//!
//! Nested transactions (`orElse`, `catchSTM`) are marks in the one log: their end is free, their
//! failure undoes what was written since the mark and keeps what was read, on which the outcome
//! depends. `retry#` puts the thread in the queues of all TVars read (`wait`).
//!
//! A transaction that has been overtaken may have seen what never was together, and loop for
//! ever. It is found out when its time slice ends ([`validate`]), or when it goes on to read many
//! more TVars: then its time slice ends early. One that has lost several times gets the right of way (`contention.rs`).
//!
//! The cost of a transaction is linear in the TVars it touches.
pub mod commit;
mod contention;
pub mod retry;
#[cfg(test)]
mod tests;
pub mod trec;
pub mod tvar;

use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::base::clock;
use crate::eval::frames::*;
use crate::eval::raise_async::{unwind, Goal};
use crate::hec::run_queue::dirty_tso;
use crate::hec::{many, Hec};
use crate::sync::stm::contention::CommitPriority;
use crate::sync::stm::retry::AtWork;
use crate::sync::stm::trec::Record;
use crate::thread::park;
use crate::{info, static_closure};
use std::sync::atomic::Ordering;

/// The thread's transaction.
unsafe fn current(t: Tso) -> Option<Record> {
    let r = Closure(t.obj().trec);
    (r != static_closure!(stg_NO_TREC_closure)).then_some(Record(r))
}

unsafe fn running(hec: &Hec) -> Record {
    match current(hec.current()) {
        Some(r) => r,
        None => crate::base::fatal::broken("a TVar is used outside a transaction"),
    }
}

#[inline(always)]
unsafe fn set_current(hec: &mut Hec, t: Tso, r: Closure) {
    t.obj().trec = r.0;
    // A thread that runs is dirty.
    if t.obj().dirty == 0 {
        soil(hec, t);
    }
}

/// Apart, so that those who set it keep little in registers.
#[inline(never)]
unsafe fn soil(hec: &mut Hec, t: Tso) {
    dirty_tso(&mut hec.remembered, t);
}

/// Begins a transaction of the running thread.
/// # Safety
/// Called from Cmm with Hp saved; the thread has none.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_begin(hec: &mut Hec) {
    let r = Record::begin(hec);
    let me = hec.current();
    set_current(hec, me, r.0);
}

/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_read(hec: &mut Hec, tvar: Closure) -> Closure {
    let r = running(hec);
    match r.find_or_add(tvar) {
        Some(i) => r.entries().value(i),
        None => read_at_length(hec, r, tvar),
    }
}

/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_write(hec: &mut Hec, tvar: Closure, value: Closure) {
    let r = running(hec);
    match r.find_or_add(tvar) {
        Some(i) => r.write(hec, i, value),
        None => write_at_length(hec, r, tvar, value),
    }
}

#[inline(never)]
unsafe fn read_at_length(hec: &mut Hec, r: Record, tvar: Closure) -> Closure {
    let i = find_or_read(hec, r, tvar);
    r.entries().value(i)
}

#[inline(never)]
unsafe fn write_at_length(hec: &mut Hec, r: Record, tvar: Closure, value: Closure) {
    let i = find_or_read(hec, r, tvar);
    r.write(hec, i, value);
}

/// The TVar's entry in the record; a new one if need be.
unsafe fn find_or_read(hec: &mut Hec, r: Record, tvar: Closure) -> usize {
    match r.find(hec, tvar) {
        Some(i) => i,
        None => read(hec, r, tvar),
    }
}

/// A new entry for the TVar. Looks whether the transaction has been overtaken each time the record
/// has doubled, so that the cost of that stays linear.
unsafe fn read(hec: &mut Hec, r: Record, tvar: Closure) -> usize {
    let i = r.read(hec, tvar);
    let n = i + 1;
    if n >= FIRST_LOOK && n.is_power_of_two() && many() && !validate(hec.current()) {
        hec.context_switch.store(1, Ordering::Relaxed);
        hec.interrupt();
    }
    i
}

/// TVars read before a transaction is first looked at while it runs: more than [`Record::find_or_add`] goes for.
const FIRST_LOOK: usize = 32;

/// Ends the running thread's transaction: [`DONE`], its writes are; [`AGAIN`], it must be run again, and a fresh one has begun;
/// [`GIVES_WAY`], others should run before it tries once more.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_commit(hec: &mut Hec) -> usize {
    let r = running(hec);
    let me = hec.current();
    if RIGHT_OF_WAY.is_taken() && gives_way(r, me) {
        return GIVES_WAY;
    }
    // With one HEC all of it is inlined.
    let done =
        if many() { commit_among_others(hec, r, me) } else { commit::commit(&mut AtWork::new(hec, r, me), false) };
    if done {
        set_current(hec, me, static_closure!(stg_NO_TREC_closure));
        r.keep(hec);
        hec.conflicts = 0;
        if me.obj().losses != 0 {
            won(me);
        }
        DONE
    } else {
        lost(me, r.len());
        stand_back(hec);
        r.keep(hec);
        hec_stm_begin(hec);
        AGAIN
    }
}

/// As Stm.cmm knows them.
const AGAIN: usize = 0;
const DONE: usize = 1;
const GIVES_WAY: usize = 2;

#[inline(never)]
unsafe fn commit_among_others(hec: &mut Hec, r: Record, me: Tso) -> bool {
    commit::commit(&mut AtWork::new(hec, r, me), true)
}

/// Another transaction has won: lets it go on for a while, longer each time. Two that take
/// turns on a TVar spend their time on passing it from cache to cache; one that is left alone does a
/// good deal in the meantime.
#[inline(never)]
fn stand_back(hec: &mut Hec) {
    hec.conflicts = (hec.conflicts + 1).min(MOST_CONFLICTS);
    for _ in 0..FIRST_PAUSES << hec.conflicts {
        std::hint::spin_loop();
    }
}

const FIRST_PAUSES: usize = 4;
/// At most some microseconds.
const MOST_CONFLICTS: u32 = 7;

static RIGHT_OF_WAY: CommitPriority = CommitPriority::new();

/// Who has lost so much asks for the right of way.
const MOST_LOSSES: u8 = 64;
/// A loss counts once, and once more for so many TVars, but not more than so often: nobody asks who has lost only twice.
const TVARS_OF_A_LOSS: usize = 16;
const MOST_OF_A_LOSS: usize = 24;
/// For how long it is had, in milliseconds: with these, and for so many TVars one more, but no longer than so.
const SHORTEST_LEASE: usize = 100;
const TVARS_OF_A_MILLISECOND: usize = 100;
const LONGEST_LEASE: usize = 1000;

fn milliseconds() -> u32 {
    (clock::getMonotonicNSec() / 1_000_000) as u32
}

#[inline(never)]
unsafe fn gives_way(r: Record, t: Tso) -> bool {
    r.has_written() && RIGHT_OF_WAY.is_anothers(t.obj().id, milliseconds())
}

/// A transaction of the thread, which had touched so many TVars, has been overtaken.
/// # Safety
/// It is the running thread, or one at rest that is ours.
#[inline(never)]
pub unsafe fn lost(t: Tso, tvars: usize) {
    let o = t.obj();
    o.losses = o.losses.saturating_add((1 + tvars / TVARS_OF_A_LOSS).min(MOST_OF_A_LOSS) as u8);
    if o.losses >= MOST_LOSSES {
        let lease = (SHORTEST_LEASE + tvars / TVARS_OF_A_MILLISECOND).min(LONGEST_LEASE);
        RIGHT_OF_WAY.take(o.id, milliseconds(), lease as u32);
    }
}

/// The thread's transaction has succeeded, or waits.
#[inline(never)]
unsafe fn won(t: Tso) {
    t.obj().losses = 0;
    RIGHT_OF_WAY.give_up(t.obj().id);
}

/// Do others wait with their commits for the thread's?
/// # Safety
/// `t` is live.
pub unsafe fn has_right_of_way(t: Tso) -> bool {
    RIGHT_OF_WAY.is_taken() && RIGHT_OF_WAY.is_of(t.obj().id)
}

/// TVars that the thread's transaction has touched.
/// # Safety
/// As for [`lost`].
pub unsafe fn touched(t: Tso) -> usize {
    current(t).map_or(0, |r| r.len())
}

/// In the child of a fork.
pub fn after_fork() {
    RIGHT_OF_WAY.forget();
}

/// `retry#`: the thread goes on with the frame on top of its stack (0), which is the alternative
/// of an `orElse` or the transaction from its start, or it waits (1).
/// # Safety
/// Called from Cmm with Sp and Hp saved; the frame on top needs no register.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_retry(hec: &mut Hec) -> usize {
    let me = hec.current();
    let frame = unwind(hec, me, Goal::Alternative);
    match frame.info().kind() {
        CATCH_RETRY_FRAME => {
            roll_back(hec, me, frame.word(NESTED_BEGIN), frame.word(NESTED_ENCLOSING));
            let alternative = frame.word(NESTED_OTHER);
            let call = [info!(stg_enter_info).0, alternative, info!(stg_ap_v_info).0];
            set_top(me, Frame(frame.0.add(NESTED_WORDS)), &call);
            0
        }
        ATOMICALLY_FRAME => {
            frame.set_info(info!(stg_atomically_waiting_frame_info));
            park::hec_about_to_wait(hec, BlockedOnSTM, running(hec).0 .0);
            1
        }
        _ => crate::base::fatal::broken("retry# outside a transaction"),
    }
}

/// Makes a thread wait for what its transaction has read. False if that has changed: the
/// transaction begins again.
/// # Safety
/// The thread is at rest, with the waiting frame on top.
pub(super) unsafe fn park(hec: &mut Hec, t: Tso, record: Closure) -> bool {
    let r = Record(record);
    r.set_waiting(true);
    r.forget_the_past();
    if t.obj().losses != 0 {
        won(t);
    }
    let waits = commit::wait(&mut AtWork::new(hec, r, t), many());
    if !waits {
        r.set_waiting(false);
    }
    waits
}

/// The running thread has been woken from its wait: it leaves the queues, to begin again.
/// # Safety
/// Called from Cmm, from the waiting frame.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_awake(hec: &mut Hec) {
    let me = hec.current();
    abort(hec, me);
}

/// Forgets the thread's transaction, if it has one.
/// # Safety
/// The thread is stopped, or calls this itself.
pub unsafe fn abort(hec: &mut Hec, t: Tso) {
    if let Some(r) = current(t) {
        if RIGHT_OF_WAY.is_taken() {
            RIGHT_OF_WAY.give_up(t.obj().id);
        }
        let waited = r.waiting();
        if waited {
            commit::leave_queues(&mut AtWork::new(hec, r, t), r.len(), many());
            r.set_waiting(false);
        }
        set_current(hec, t, static_closure!(stg_NO_TREC_closure));
        // Who parked the thread may still be looking at what it waited for, and asks by the record whether it still waits there:
        // no other wait may have the same one.
        if !waited || !many() {
            r.keep(hec);
        }
    }
}

/// Has the thread's transaction, if any, seen a consistent state that still holds? One that has
/// not may loop for ever: the scheduler asks when it preempts a thread, and if the answer is no
/// calls `eval::freeze::restart_transaction`.
/// # Safety
/// The thread is stopped, or calls this itself.
pub unsafe fn validate(t: Tso) -> bool {
    current(t).map_or(true, |r| r.waiting() || r.valid())
}

/// Undoes what was written since a nested transaction began, and ends it.
/// # Safety
/// As for [`abort`]; `begin` and `enclosing` come from the nested transaction's frame.
pub unsafe fn roll_back(_hec: &mut Hec, t: Tso, begin: usize, enclosing: usize) {
    if let Some(r) = current(t) {
        r.roll_back(begin, enclosing);
    }
}
