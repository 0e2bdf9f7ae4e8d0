//! `retry#`: the wait queues of TVars, and a record's log as the commit protocol sees it.
//!
//! *Protocol*
//! 1. A transaction that retries is in the queue of every TVar that it has read.
//! 2. A commit wakes all threads that wait for the TVars it writes, the longest waiting first.
//! 3. A thread stays in its queues until it runs again or is killed. So several wakers may find it; the first to claim
//!    it wins.
//!
//! *Invariants*
//! - A queue is a doubly linked list {thread, next, previous}, latest first. The record keeps each entry in the log, in
//!   place of the TVar's value.
//! - The status TVar of a thread without activations of its own ([`crate::sync::substrate`]) has an entry for the
//!   thread that stays. It counts when the thread is passive and its status becomes `Ready`: the built-in scheduler
//!   resumes it.
//! - An entry without a thread belongs to a TVar whose value is the number of a HEC. The commit that writes the TVar
//!   ends the time slice of that HEC.
//! - The HEC that parks a thread examines its record after others may have woken the thread (step 3 of waiting in
//!   `commit.rs`). So with several HECs a record that has waited is not used again.
//!
//! *Locking*: the lock of a TVar protects its queue.
//!
//! *Checked by*: the unit tests in `rts/src/sync/stm/tests.rs`, and the models of the commit protocol.
use crate::abi::closure::fields::{TVAR_VALUE, TVAR_WAITERS};
use crate::abi::layout::*;
use crate::abi::tso::BlockedOnScheduler;
use crate::abi::{Closure, Tso};
use crate::hec::{self, many, Hec, SLICE_ENDED};
use crate::sync::stm::commit::{self, Log, Version, Waiter};
use crate::sync::stm::trec::{Entries, Record};
use crate::sync::stm::{thread_status, tvar};
use crate::thread::create;
use crate::thread::park;
use crate::thread::sched_record::SchedRecord;
use crate::{info, static_closure};
use std::sync::atomic::Ordering;

const TSO_FIELD: usize = 1;
const NEXT: usize = 2;
const PREVIOUS: usize = 3;
const ENTRY_WORDS: usize = 4;

fn end() -> Closure {
    static_closure!(stg_END_STM_WATCH_QUEUE_closure)
}

unsafe fn set(hec: &mut Hec, entry: Closure, field: usize, c: Closure) {
    entry.set_word(field, c.0);
    hec.remember(entry);
}

/// Adds an entry to the empty queue of a TVar, which stays there.
/// # Safety
/// The TVar is new.
pub unsafe fn add_permanent_entry(hec: &mut Hec, tvar: Closure, t: Tso) {
    let entry = new_entry(hec, t, end());
    tvar.set_word(TVAR_WAITERS, entry.0);
}

/// Adds an entry for a thread to the queue of a TVar, which stays there, if there is none.
/// # Safety
/// The caller has locked the TVar.
pub unsafe fn ensure_permanent_entry(hec: &mut Hec, tvar: Closure, t: Tso) {
    let mut entry = tvar.field(TVAR_WAITERS);
    while entry != end() {
        if entry.word(TSO_FIELD) == t.0 {
            return;
        }
        entry = entry.field(NEXT);
    }
    add_entry(hec, tvar, t);
}

/// Adds an entry to the queue of a TVar, which is locked.
unsafe fn add_entry(hec: &mut Hec, v: Closure, t: Tso) -> Closure {
    let first = v.field(TVAR_WAITERS);
    let entry = new_entry(hec, t, first);
    if first != end() {
        set(hec, first, PREVIOUS, entry);
    }
    tvar::dirty(hec, v);
    v.set_word(TVAR_WAITERS, entry.0);
    entry
}

/// Makes a TVar for a transaction to write: the commit ends the time slice of HEC `no`.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn new_preemption(hec: &mut Hec, no: usize) -> Closure {
    let number = create::boxed(hec, info!(ghczmprim_GHCziTypes_Wzh_con_info), no);
    let tvar = tvar::new(hec, number);
    add_permanent_entry(hec, tvar, Tso::end());
    tvar
}

unsafe fn new_entry(hec: &mut Hec, t: Tso, next: Closure) -> Closure {
    let entry = hec.allocate(ENTRY_WORDS);
    entry.set_info(info!(stg_TVAR_WATCH_QUEUE_info));
    entry.set_word(TSO_FIELD, t.0);
    entry.set_word(NEXT, next.0);
    entry.set_word(PREVIOUS, end().0);
    entry
}

/// Writes a TVar outside any transaction, and wakes the threads that wait for it. Before that, `act` is called, while
/// the TVar is locked.
/// # Safety
/// The caller holds no lock.
pub unsafe fn publish_alone(hec: &mut Hec, tvar: Closure, value: Closure, act: impl FnOnce(&mut Hec)) {
    publish_if(hec, tvar, |hec| {
        act(hec);
        Some((value, ()))
    });
}

/// Writes to a TVar outside any transaction what `decide` returns, which is called while the TVar is locked. Nothing is
/// written if that is `None`.
/// # Safety
/// As for [`publish_alone`].
pub unsafe fn publish_if<R>(
    hec: &mut Hec,
    tvar: Closure,
    decide: impl FnOnce(&mut Hec) -> Option<(Closure, R)>,
) -> Option<R> {
    commit::write_alone(tvar::version(tvar), many(), || {
        let (value, result) = decide(hec)?;
        publish(hec, tvar, value);
        Some(result)
    })
}

/// Unlocks a TVar that the caller has locked at this version, and writes it before if there is a value.
/// # Safety
/// The caller holds no other lock.
pub unsafe fn unlock_alone(hec: &mut Hec, tvar: Closure, version: usize, value: Option<Closure>) {
    if let Some(value) = value {
        publish(hec, tvar, value);
    }
    tvar::version(tvar).unlock(if value.is_some() { commit::next(version) } else { version });
}

#[inline(always)]
unsafe fn publish(hec: &mut Hec, tvar: Closure, value: Closure) {
    tvar::set_value(hec, tvar, value);
    if tvar.field(TVAR_WAITERS) != end() {
        wake(hec, tvar);
    }
}

/// A thread's record during a commit or a wait.
pub struct RecordLog<'a> {
    hec: &'a mut Hec,
    record: Record,
    len: usize,
    entries: Entries,
    thread: Tso,
}

impl RecordLog<'_> {
    /// # Safety
    /// The record is live, and the caller owns the thread. No collection happens and no entry is added while this is in
    /// use.
    #[inline(always)]
    pub unsafe fn new(hec: &mut Hec, record: Record, thread: Tso) -> RecordLog<'_> {
        RecordLog { hec, record, len: record.len(), entries: record.entries(), thread }
    }

    pub fn hec(&mut self) -> &mut Hec {
        self.hec
    }
}

// Entry numbers passed to the methods below are less than `len`.
impl Log for RecordLog<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }
    #[inline(always)]
    fn version(&self, i: usize) -> &Version {
        // SAFETY: see [`RecordLog::new`].
        unsafe { tvar::version(self.entries.tvar(i)) }
    }
    #[inline(always)]
    fn seen(&self, i: usize) -> usize {
        // SAFETY: see [`RecordLog::new`].
        unsafe { self.entries.version(i) }
    }
    #[inline(always)]
    fn is_written(&self, i: usize) -> bool {
        // SAFETY: see [`RecordLog::new`].
        unsafe { self.entries.is_written(i) }
    }
    fn order(&self, i: usize) -> usize {
        // SAFETY: see [`RecordLog::new`].
        unsafe { self.entries.tvar(i).0 }
    }
    #[inline(always)]
    fn publish(&mut self, i: usize) {
        // SAFETY: the commit protocol has locked the TVar.
        unsafe { publish(self.hec, self.entries.tvar(i), self.entries.value(i)) }
    }
}

impl Waiter for RecordLog<'_> {
    fn join(&mut self, i: usize) {
        // SAFETY: the commit protocol has locked the TVar, and with it the queue.
        unsafe {
            let entry = add_entry(self.hec, self.entries.tvar(i), self.thread);
            self.record.set_value(i, entry);
        }
    }
    fn leave(&mut self, i: usize) {
        // SAFETY: as for `join`, which was called for this entry.
        unsafe {
            let (v, entry) = (self.entries.tvar(i), self.entries.value(i));
            let (next, previous) = (entry.field(NEXT), entry.field(PREVIOUS));
            if next != end() {
                set(self.hec, next, PREVIOUS, previous);
            }
            if previous != end() {
                set(self.hec, previous, NEXT, next);
            } else {
                tvar::dirty(self.hec, v);
                v.set_word(TVAR_WAITERS, next.0);
            }
        }
    }
    fn block(&mut self) {
        // SAFETY: the thread is at rest, and in all queues.
        unsafe {
            let held = park::lock(self.thread);
            park::block(self.hec, self.thread, BlockedOnSTM, self.record.0 .0);
            drop(held);
        }
    }
    fn claim(&mut self) -> bool {
        let record = self.record.0 .0;
        // SAFETY: the thread is live.
        unsafe {
            let here = |why, on| why == BlockedOnSTM && on == record;
            let Some(claim) = park::claim(self.hec, self.thread, here) else { return false };
            claim.keep();
        }
        true
    }
}

/// Wakes the threads that wait for the TVar, which is locked.
#[inline(never)]
unsafe fn wake(hec: &mut Hec, v: Closure) {
    let mut entry = v.field(TVAR_WAITERS);
    while entry.field(NEXT) != end() {
        entry = entry.field(NEXT);
    }
    while entry != end() {
        let t = Tso(entry.word(TSO_FIELD));
        if t.is_end() {
            end_slice(thread_status::constructor(v.field(TVAR_VALUE)).word(1));
            entry = entry.field(PREVIOUS);
            continue;
        }
        let wakes = |why, _| why == BlockedOnSTM || why == BlockedOnScheduler && is_for_built_in(t, v);
        if let Some(c) = park::claim(hec, t, wakes) {
            if c.why == BlockedOnScheduler {
                let claimed = thread_status::boxed(hec, thread_status::in_locked(v).claimed());
                tvar::set_value(hec, v, claimed);
            }
            c.resume(hec);
        }
        entry = entry.field(PREVIOUS);
    }
}

/// Ends the time slice of a HEC.
unsafe fn end_slice(no: usize) {
    let hec = &*hec::address(no);
    hec.user_slot.preempt();
    hec.context_switch.store(SLICE_ENDED, Ordering::Relaxed);
    hec.request_return();
}

/// Has the thread, which is passive, been given to the built-in scheduler by what is written to the TVar, which is
/// locked?
unsafe fn is_for_built_in(t: Tso, v: Closure) -> bool {
    let own = SchedRecord::of(t).filter(|r| r.status() == v && !r.has_activations());
    own.is_some() && thread_status::in_locked(v).is_ready()
}
