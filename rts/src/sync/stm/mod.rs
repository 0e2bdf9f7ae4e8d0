//! Software transactional memory [HMP05, §5].
//!
//! *Protocol*
//! 1. A transaction keeps a log of the TVars that it has touched ([`trec`]). It writes nothing shared while it runs.
//! 2. At its end it is committed or found invalid ([`commit`]). Versions are compared, not values. So a transaction
//!    that only reads writes nothing shared, and a value that changed and changed back is noticed.
//! 3. Nested transactions (`orElse`, `catchSTM`) are marks in the one log. Ending one costs nothing. Rolling one back
//!    undoes the writes since the mark and keeps the reads, on which the outcome depends.
//! 4. `retry#` puts the thread in the queues of all TVars that were read ([`retry`]).
//! 5. A transaction that has been invalidated may have seen an inconsistent state, and may loop for ever. The scheduler
//!    validates it when its time slice ends ([`validate`]). The slice ends early when the transaction has read many
//!    more TVars.
//! 6. A transaction that has lost several times gets commit priority (`contention.rs`).
//!
//! *Invariant*: the cost of a transaction is linear in the number of TVars that it touches.
pub mod commit;
mod contention;
pub mod retry;
pub mod scont_protocol;
#[cfg(test)]
mod tests;
pub mod thread_status;
pub mod trec;
pub mod tvar;

use crate::abi::layout::*;
use crate::abi::tso::TSO_SWITCHES;
use crate::abi::{Closure, Tso};
use crate::base::clock;
use crate::eval::frames::*;
use crate::eval::raise_async::{unwind, Goal};
use crate::hec::byte_budget::virtual_time;
use crate::hec::run_queue::dirty_tso;
use crate::hec::{many, Hec};
use crate::sync::stm::contention::CommitPriority;
use crate::sync::stm::retry::RecordLog;
use crate::sync::stm::trec::Record;
use crate::thread::park;
use crate::{info, static_closure};
use std::sync::atomic::Ordering;

/// The transaction that the thread is in.
/// # Safety
/// The thread is live.
pub unsafe fn current(t: Tso) -> Option<Record> {
    let r = Closure(t.obj().trec);
    (r != static_closure!(stg_NO_TREC_closure)).then_some(Record(r))
}

pub(super) unsafe fn running(hec: &Hec) -> Record {
    match current(hec.current()) {
        Some(r) => r,
        None => crate::base::fatal::broken("a TVar is used outside a transaction"),
    }
}

#[inline(always)]
pub(super) unsafe fn set_current(hec: &mut Hec, t: Tso, r: Closure) {
    t.obj().trec = r.0;
    // A thread that runs is usually dirty already.
    if t.obj().dirty == 0 {
        mark_dirty(hec, t);
    }
}

/// Not inlined, so that its callers keep few values in registers.
#[inline(never)]
unsafe fn mark_dirty(hec: &mut Hec, t: Tso) {
    dirty_tso(&mut hec.remembered, t);
}

/// Begins a transaction in the running thread.
/// # Safety
/// Called from Cmm with Hp saved; the thread is in no transaction.
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
        None if is_remote(tvar) => Closure::NULL,
        None => read_slow(hec, r, tvar),
    }
}

/// Is it a TVar of another processing element? Transactions cannot use it.
unsafe fn is_remote(tvar: Closure) -> bool {
    tvar.info() == info!(hec_REMOTE_TVAR_info)
}

/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_write(hec: &mut Hec, tvar: Closure, value: Closure) -> usize {
    let r = running(hec);
    match r.find_or_add(tvar) {
        Some(i) => r.write(hec, i, value),
        None if is_remote(tvar) => return 0,
        None => write_slow(hec, r, tvar, value),
    }
    1
}

#[inline(never)]
unsafe fn read_slow(hec: &mut Hec, r: Record, tvar: Closure) -> Closure {
    let i = find_or_read(hec, r, tvar);
    r.entries().value(i)
}

#[inline(never)]
unsafe fn write_slow(hec: &mut Hec, r: Record, tvar: Closure, value: Closure) {
    let i = find_or_read(hec, r, tvar);
    r.write(hec, i, value);
}

/// The TVar's entry in the record, which is added if it is not there.
pub(super) unsafe fn find_or_read(hec: &mut Hec, r: Record, tvar: Closure) -> usize {
    match r.find(hec, tvar) {
        Some(i) => i,
        None => read(hec, r, tvar),
    }
}

/// Adds an entry for the TVar. Validates the transaction each time the record has doubled, so that the cost of
/// validation stays linear.
unsafe fn read(hec: &mut Hec, r: Record, tvar: Closure) -> usize {
    let i = r.read(hec, tvar);
    let n = i + 1;
    if n >= MIN_TVARS_TO_VALIDATE && n.is_power_of_two() && many() && !validate(hec.current()) {
        hec.context_switch.store(1, Ordering::Relaxed);
        hec.interrupt();
    }
    i
}

/// The least number of TVars read before a running transaction is validated. More than the fast path of
/// [`Record::find_or_add`] handles.
const MIN_TVARS_TO_VALIDATE: usize = 32;

/// Ends the running thread's transaction. [`DONE`]: it has been committed. [`AGAIN`]: it must run again, and a new one
/// has begun. [`YIELD`]: the thread must yield before it tries to commit again.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_commit(hec: &mut Hec) -> usize {
    let r = running(hec);
    let me = hec.current();
    if COMMIT_PRIORITY.is_held() && must_yield(r, me) {
        return YIELD;
    }
    // With one HEC the whole commit is inlined.
    let done = if many() { commit_shared(hec, r, me) } else { commit::commit(&mut RecordLog::new(hec, r, me), false) };
    if done {
        set_current(hec, me, static_closure!(stg_NO_TREC_closure));
        r.keep(hec);
        hec.conflicts = 0;
        if me.obj().losses != 0 {
            clear_losses(me);
        }
        DONE
    } else {
        record_loss(me, r.len());
        back_off(hec);
        r.keep(hec);
        hec_stm_begin(hec);
        AGAIN
    }
}

// Results of `hec_stm_commit`, also defined in Stm.cmm.
const AGAIN: usize = 0;
const DONE: usize = 1;
const YIELD: usize = 2;

#[inline(never)]
unsafe fn commit_shared(hec: &mut Hec, r: Record, me: Tso) -> bool {
    commit::commit(&mut RecordLog::new(hec, r, me), true)
}

/// Backs off after another transaction has won, longer each time. Two transactions that alternate on a TVar spend their
/// time moving it from cache to cache; one that runs alone for a while completes many commits in that time.
#[inline(never)]
fn back_off(hec: &mut Hec) {
    hec.conflicts = (hec.conflicts + 1).min(MAX_CONFLICTS);
    for _ in 0..MIN_PAUSES << hec.conflicts {
        std::hint::spin_loop();
    }
}

/// The number of pauses that is doubled for each conflict in a row.
const MIN_PAUSES: usize = 4;
/// Limits the back-off to 4 << 7 pauses, a few microseconds.
const MAX_CONFLICTS: u32 = 7;

static COMMIT_PRIORITY: CommitPriority = CommitPriority::new();

/// A thread asks for commit priority once its losses reach this weight. Fewer losses are common under short contention.
const PRIORITY_THRESHOLD: u8 = 64;
/// A loss has weight 1, and 1 more for this many TVars of the transaction, because a long one loses more work.
const TVARS_PER_LOSS: usize = 16;
/// The most weight that one loss adds, so that no thread asks for priority after two losses.
const MAX_LOSS_WEIGHT: usize = 24;
/// The shortest lease in milliseconds: several time slices, so that its holder is scheduled again within it.
const MIN_LEASE_MS: usize = 100;
/// A lease is one millisecond longer for this many TVars of the transaction, because a long one takes longer to run.
const TVARS_PER_LEASE_MS: usize = 100;
/// The longest lease in milliseconds: other threads wait no longer than this for one that is descheduled.
const MAX_LEASE_MS: usize = 1000;

fn milliseconds() -> u32 {
    (virtual_time::now().unwrap_or_else(|| clock::getMonotonicNSec()) / 1_000_000) as u32
}

#[inline(never)]
unsafe fn must_yield(r: Record, t: Tso) -> bool {
    r.has_written() && COMMIT_PRIORITY.must_yield(t.obj().id, milliseconds())
}

/// Records that a transaction of the thread, which had touched `tvars` TVars, has been invalidated.
/// # Safety
/// The thread is the running one, or is at rest and owned by this HEC.
#[inline(never)]
pub unsafe fn record_loss(t: Tso, tvars: usize) {
    let o = t.obj();
    o.losses = o.losses.saturating_add((1 + tvars / TVARS_PER_LOSS).min(MAX_LOSS_WEIGHT) as u8);
    if o.losses >= PRIORITY_THRESHOLD {
        let lease = (MIN_LEASE_MS + tvars / TVARS_PER_LEASE_MS).min(MAX_LEASE_MS);
        COMMIT_PRIORITY.acquire(o.id, milliseconds(), lease as u32);
    }
}

/// Records that the thread's transaction has committed, or waits.
#[inline(never)]
unsafe fn clear_losses(t: Tso) {
    t.obj().losses = 0;
    COMMIT_PRIORITY.release(t.obj().id);
}

/// Does the thread hold commit priority?
/// # Safety
/// `t` is live.
pub unsafe fn has_commit_priority(t: Tso) -> bool {
    COMMIT_PRIORITY.is_held() && COMMIT_PRIORITY.is_held_by(t.obj().id)
}

/// The number of TVars that the thread's transaction has touched.
/// # Safety
/// As for [`record_loss`].
pub unsafe fn touched_tvars(t: Tso) -> usize {
    current(t).map_or(0, |r| r.len())
}

/// Resets contention management in the child of a fork.
pub fn after_fork() {
    COMMIT_PRIORITY.reset();
}

/// `retry#`: returns 0 if the thread continues with the frame on top of its stack, which is the alternative of an
/// `orElse` or the transaction from its start. Returns 1 if the thread must wait.
/// # Safety
/// Called from Cmm with Sp and Hp saved; the frame on top needs no register.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_retry(hec: &mut Hec) -> usize {
    let me = hec.current();
    let frame = unwind(hec, me, Goal::Alternative).frame;
    match frame.info().kind() {
        CATCH_RETRY_FRAME => {
            roll_back(hec, me, frame.word(NESTED_BEGIN), frame.word(NESTED_ENCLOSING));
            let alternative = frame.word(NESTED_OTHER);
            let call = [info!(stg_enter_info).0, alternative, info!(stg_ap_v_info).0];
            set_top(me, Frame(frame.0.add(NESTED_WORDS)), &call);
            0
        }
        ATOMICALLY_FRAME => {
            wait_at(frame);
            park::hec_about_to_wait(hec, BlockedOnSTM, running(hec).0 .0);
            1
        }
        _ => crate::base::fatal::broken("retry# outside a transaction"),
    }
}

/// Parks a thread until a TVar that its transaction has read changes. Returns false if one has changed already: the
/// transaction begins again.
/// # Safety
/// The thread is at rest, with the waiting frame on top of its stack.
pub(super) unsafe fn park(hec: &mut Hec, t: Tso, record: Closure) -> bool {
    let r = Record(record);
    r.set_waiting(true);
    r.clear_stale();
    if t.obj().losses != 0 {
        clear_losses(t);
    }
    let waits = commit::wait(&mut RecordLog::new(hec, r, t), many());
    if !waits {
        r.set_waiting(false);
    }
    waits
}

/// The running thread has been woken: it leaves the queues, and its transaction begins again.
/// # Safety
/// Called from Cmm, by the waiting frame.
#[no_mangle]
pub unsafe extern "C" fn hec_stm_woken(hec: &mut Hec) {
    let me = hec.current();
    abort(hec, me);
}

/// Drops the thread's transaction, if it has one.
/// # Safety
/// The thread is stopped, or is the caller.
pub unsafe fn abort(hec: &mut Hec, t: Tso) {
    if let Some(r) = current(t) {
        t.obj().flags &= !TSO_SWITCHES;
        if COMMIT_PRIORITY.is_held() {
            COMMIT_PRIORITY.release(t.obj().id);
        }
        let waited = r.is_waiting();
        if waited {
            commit::leave_queues(&mut RecordLog::new(hec, r, t), r.len(), many());
            r.set_waiting(false);
        }
        set_current(hec, t, static_closure!(stg_NO_TREC_closure));
        // The HEC that parked the thread may still examine it. It compares the record to tell whether the thread is
        // still in the same wait, so no later wait may use the record.
        if !waited || !many() {
            r.keep(hec);
        }
    }
}

/// Has the thread's transaction, if any, seen a consistent state that still holds? An invalid one may loop for ever.
/// The scheduler asks when it preempts a thread; if the answer is no, it calls
/// [`crate::eval::raise_async::restart_transaction`].
/// # Safety
/// The thread is stopped, or is the caller.
pub unsafe fn validate(t: Tso) -> bool {
    current(t).is_none_or(|r| r.is_waiting() || r.is_valid())
}

/// Undoes the writes since a nested transaction began, and ends it.
/// # Safety
/// As for [`abort`]; `begin` and `enclosing` come from the nested transaction's frame.
pub unsafe fn roll_back(_hec: &mut Hec, t: Tso, begin: usize, enclosing: usize) {
    if let Some(r) = current(t) {
        r.roll_back(begin, enclosing);
    }
}
