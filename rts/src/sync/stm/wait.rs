//! Waiting for a TVar to change.
//!
//! A transaction that retries joins the queue of every TVar it has read, with all of them locked
//! at the versions it saw: either one has changed and it runs again at once, or no commit can
//! come between the check and its waiting. A commit wakes all who wait for what it writes,
//! longest waiting first. A thread stays in its queues until it runs again (or is killed), so
//! it may be met more than once; only the first wakes it.
//!
//! A queue is a doubly linked list {thread, next, previous}, latest first, under the TVar's
//! lock. The record keeps each entry where the log has the TVar's value.
use super::commit::lock_all;
use super::record::Record;
use super::tvar;
use crate::contract::closure::fields::TVAR_WAITERS;
use crate::contract::{layout::*, Closure, Tso};
use crate::hec::Hec;
use crate::thread::door;
use crate::{info, static_closure};

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

/// Makes the thread wait for any of the transaction's TVars. False if one has changed already.
/// # Safety
/// The record is live and `t` its thread, which then blocks.
pub unsafe fn join_queues(hec: &mut Hec, r: Record, t: Tso) -> bool {
    if !lock_all(r, |_| true) {
        return false;
    }
    for i in 0..r.len() {
        let v = r.tvar(i);
        let first = v.field(TVAR_WAITERS);
        let entry = hec.allocate(ENTRY_WORDS);
        entry.set_info(info!(stg_TVAR_WATCH_QUEUE_info));
        entry.set_word(TSO_FIELD, t.0);
        entry.set_word(NEXT, first.0);
        entry.set_word(PREVIOUS, end().0);
        if first != end() {
            set(hec, first, PREVIOUS, entry);
        }
        tvar::dirty(hec, v);
        v.set_word(TVAR_WAITERS, entry.0);
        r.set_value(i, entry);
        tvar::unlock(v, r.version(i));
    }
    r.set_waiting(true);
    true
}

/// Takes a waiting transaction out of all queues.
/// # Safety
/// The record is live and waiting.
pub unsafe fn leave_queues(hec: &mut Hec, r: Record) {
    for i in 0..r.len() {
        let (v, entry) = (r.tvar(i), r.value(i));
        let version = tvar::lock(v);
        let (next, previous) = (entry.field(NEXT), entry.field(PREVIOUS));
        if next != end() {
            set(hec, next, PREVIOUS, previous);
        }
        if previous != end() {
            set(hec, previous, NEXT, next);
        } else {
            tvar::dirty(hec, v);
            v.set_word(TVAR_WAITERS, next.0);
        }
        tvar::unlock(v, version);
    }
    r.set_waiting(false);
}

/// Wakes whoever waits for the TVar.
/// # Safety
/// The caller holds the TVar's lock.
pub(super) unsafe fn wake(hec: &mut Hec, v: Closure) {
    let mut entry = v.field(TVAR_WAITERS);
    if entry == end() {
        return;
    }
    while entry.field(NEXT) != end() {
        entry = entry.field(NEXT);
    }
    while entry != end() {
        let t = Tso(entry.word(TSO_FIELD));
        if t.obj().why_blocked as usize == BlockedOnSTM {
            door::unblock(hec, t);
        }
        entry = entry.field(PREVIOUS);
    }
}
