//! The end of a transaction.
//!
//! 1. Lock each TVar that was written, at the version that was seen; if one has moved on or is
//!    locked, unlock and give up (a retry is rarer and cheaper than an order of locking).
//! 2. Check that each TVar that was only read is unlocked and at the version that was seen.
//! 3. Write the values, unlock each TVar at its next version, wake who waits for it.
//!
//! The transaction took place when step 1 ended: every TVar read before then was still at its
//! version some time after, and none of those written could change. Two transactions that each
//! read what the other writes cannot both pass: the one that checks later finds a lock or a
//! new version. A transaction that wrote nothing only does step 2, and writes nothing shared.
use super::record::Record;
use super::{tvar, wait};
use crate::hec::Hec;

/// Is everything still as the transaction saw it?
/// # Safety
/// The record is live.
pub unsafe fn valid(r: Record) -> bool {
    (0..r.len()).all(|i| tvar::is_at(r.tvar(i), r.version(i)))
}

/// Locks the entries that `which` selects. False, and none is locked, if one has changed.
pub(super) unsafe fn lock_all(r: Record, which: impl Fn(usize) -> bool) -> bool {
    for i in 0..r.len() {
        if which(i) && !tvar::lock_at(r.tvar(i), r.version(i)) {
            for k in (0..i).filter(|&k| which(k)) {
                tvar::unlock(r.tvar(k), r.version(k));
            }
            return false;
        }
    }
    true
}

/// Does what the transaction wrote, all at once; false if it has not seen a consistent state.
/// # Safety
/// The record is live, and no nested transaction is open.
pub unsafe fn commit(hec: &mut Hec, r: Record) -> bool {
    let written = |i: usize| r.written(i);
    if !lock_all(r, written) {
        return false;
    }
    let reads_hold = (0..r.len())
        .filter(|&i| !written(i))
        .all(|i| tvar::is_at(r.tvar(i), r.version(i)));
    if !reads_hold {
        for i in (0..r.len()).filter(|&i| written(i)) {
            tvar::unlock(r.tvar(i), r.version(i));
        }
        return false;
    }
    for i in (0..r.len()).filter(|&i| written(i)) {
        let v = r.tvar(i);
        tvar::set_value(hec, v, r.value(i));
        wait::wake(hec, v);
        tvar::unlock(v, tvar::next_version(r.version(i)));
    }
    true
}
