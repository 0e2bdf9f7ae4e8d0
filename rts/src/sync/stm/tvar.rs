//! TVars {value, waiters, version}: access to the fields, and pretenuring of small values.
//!
//! A commit that stores a young value in an old TVar must remember the TVar, and the next collection scans the TVar and
//! copies the value. Programs with many TVars mostly keep small values in them, such as numbers, that are soon
//! replaced. Where a HEC writes many TVars between two collections, it copies such a value into the oldest generation
//! at once ([`crate::memory::pretenure`]). Then the TVar need not be remembered.
use crate::abi::closure::fields::{TVAR_UPDATES, TVAR_VALUE, TVAR_WAITERS};
use crate::abi::layout::*;
use crate::abi::Closure;
use crate::hec::Hec;
use crate::memory::{age_of, in_heap};
use crate::sync::stm::commit::Version;
use crate::{info, static_closure};
use std::sync::atomic::{AtomicUsize, Ordering};

const TVAR_WORDS: usize = 4;

/// Makes a TVar.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn new(hec: &mut Hec, value: Closure) -> Closure {
    let tvar = hec.allocate(TVAR_WORDS);
    tvar.set_info(info!(stg_TVAR_DIRTY_info));
    tvar.set_word(TVAR_VALUE, value.0);
    tvar.set_word(TVAR_WAITERS, static_closure!(stg_END_STM_WATCH_QUEUE_closure).0);
    tvar.set_word(TVAR_UPDATES, 0);
    tvar
}

/// # Safety
/// `tvar` is a TVar that does not move while the result is in use. This holds for all functions here.
pub unsafe fn version<'a>(tvar: Closure) -> &'a Version {
    &*(tvar.slot(TVAR_UPDATES) as *const Version)
}

unsafe fn value<'a>(tvar: Closure) -> &'a AtomicUsize {
    &*(tvar.slot(TVAR_VALUE) as *const AtomicUsize)
}

/// Reads version and value as they were at one moment.
/// # Safety
/// See [`version`].
pub unsafe fn read(tvar: Closure) -> (usize, Closure) {
    let (version, found) = version(tvar).read(value(tvar));
    (version, Closure(found))
}

/// As [`read`], but returns `None` while a commit writes the TVar.
/// # Safety
/// See [`version`].
#[inline(always)]
pub unsafe fn try_read(tvar: Closure) -> Option<(usize, Closure)> {
    version(tvar).try_read(value(tvar)).map(|(version, found)| (version, Closure(found)))
}

/// Waits until no commit writes the TVar.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_tvar_wait_unlocked(tvar: Closure) {
    version(tvar).wait_unlocked();
}

/// Writes the value.
/// # Safety
/// See [`version`]; the caller holds the lock.
#[inline]
pub unsafe fn set_value(hec: &mut Hec, tvar: Closure, new: Closure) {
    let new = if tvar.info() == info!(stg_TVAR_CLEAN_info) { pretenure_or_remember(hec, tvar, new) } else { new };
    value(tvar).store(new.0, Ordering::Release);
}

/// The least number of objects that a HEC remembers in a cycle before it pretenures values of TVars. Below it,
/// remembering is cheap, and pretenured values would only fill the old generation.
pub(super) const MIN_REMEMBERED_TO_PRETENURE: usize = 8;
/// The most words of a value that is pretenured, header included. Larger values are left to the collector.
const MAX_PRETENURED_WORDS: usize = 4;

/// The value to store in a clean old TVar: `new` or a pretenured copy of it. Remembers the TVar if neither is old
/// enough.
#[inline(never)]
unsafe fn pretenure_or_remember(hec: &mut Hec, tvar: Closure, new: Closure) -> Closure {
    let generation = age_of(tvar.0).generation();
    if !in_heap(new.0) || age_of(new.0).generation() >= generation {
        return new;
    }
    if hec.remembered.by_generation[generation].len() >= MIN_REMEMBERED_TO_PRETENURE {
        if let Some(old) = pretenured_copy(hec, new) {
            return old;
        }
    }
    mark_dirty(hec, tvar);
    new
}

/// Copies a small constructor without pointers into the oldest generation, if there is room.
unsafe fn pretenured_copy(hec: &mut Hec, value: Closure) -> Option<Closure> {
    let (tag, object) = (value.tag(), value.untag());
    if tag == 0 {
        return None;
    }
    let info = object.info();
    let words = match info.kind() {
        CONSTR_0_1 => 2,
        CONSTR_0_2 => 3,
        CONSTR | CONSTR_NOCAF if info.ptrs() == 0 && (2..MAX_PRETENURED_WORDS).contains(&info.nptrs()) => {
            1 + info.nptrs()
        }
        _ => return None,
    };
    let oldest = hec.remembered.by_generation.len() - 1;
    let copy = hec.pretenured.allocate(words, oldest)?;
    // Most values have two words, which need no call to copy.
    *copy = info.0;
    *copy.add(1) = object.word(1);
    (2..words).for_each(|i| *copy.add(i) = object.word(i));
    Some(Closure(copy as usize | tag))
}

/// Marks the TVar dirty. Call this before storing a pointer in it by other means than [`set_value`].
/// # Safety
/// As for [`set_value`].
#[inline]
pub unsafe fn dirty(hec: &mut Hec, tvar: Closure) {
    if tvar.info() == info!(stg_TVAR_CLEAN_info) {
        mark_dirty(hec, tvar);
    }
}

#[inline(never)]
unsafe fn mark_dirty(hec: &mut Hec, tvar: Closure) {
    tvar.set_info(info!(stg_TVAR_DIRTY_info));
    hec.remember(tvar);
}
