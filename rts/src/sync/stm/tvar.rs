//! TVars {value, waiters, version}.
//!
//! A commit that stores a young value in an old TVar has to remember the TVar, and the next collection looks at both, and copies the value.
//! Programs with many TVars mostly hold small values in them (numbers, single words), which soon give way to others: where many are written
//! between two collections, such a value is copied into the oldest generation at once (`memory/pretenure.rs`), and nothing need be remembered.
use crate::abi::closure::fields::{TVAR_UPDATES, TVAR_VALUE};
use crate::abi::layout::*;
use crate::abi::Closure;
use crate::hec::Hec;
use crate::info;
use crate::memory::{age_of, in_heap};
use crate::sync::stm::commit::Version;
use std::sync::atomic::{AtomicUsize, Ordering};

/// # Safety
/// `tvar` is a TVar that stays where it is while the result is in use; so for all functions here.
pub unsafe fn version<'a>(tvar: Closure) -> &'a Version {
    &*(tvar.slot(TVAR_UPDATES) as *const Version)
}

unsafe fn value<'a>(tvar: Closure) -> &'a AtomicUsize {
    &*(tvar.slot(TVAR_VALUE) as *const AtomicUsize)
}

/// Version and value, as they were at one moment.
/// # Safety
/// See [`version`].
pub unsafe fn read(tvar: Closure) -> (usize, Closure) {
    let (version, found) = version(tvar).read(value(tvar));
    (version, Closure(found))
}

/// The same if no commit is writing the TVar.
/// # Safety
/// See [`version`].
#[inline(always)]
pub unsafe fn try_read(tvar: Closure) -> Option<(usize, Closure)> {
    version(tvar).try_read(value(tvar)).map(|(version, found)| (version, Closure(found)))
}

/// Waits until no commit is writing the TVar.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_tvar_settled(tvar: Closure) {
    version(tvar).settled();
}

/// Writes the value.
/// # Safety
/// See [`version`]; the caller holds the lock.
#[inline]
pub unsafe fn set_value(hec: &mut Hec, tvar: Closure, new: Closure) {
    let new = if tvar.info() == info!(stg_TVAR_CLEAN_info) { as_stored(hec, tvar, new) } else { new };
    value(tvar).store(new.0, Ordering::Release);
}

/// So many TVars a HEC remembers in a cycle before it makes their values old.
pub(super) const FEW: usize = 8;
/// Values of more words are left to the collector.
const MOST_WORDS: usize = 4;

/// The value, as it is to be stored in a TVar that is old and not remembered; or a copy of it, or the TVar is remembered now.
#[inline(never)]
unsafe fn as_stored(hec: &mut Hec, tvar: Closure, new: Closure) -> Closure {
    let generation = age_of(tvar.0).generation();
    if !in_heap(new.0) || age_of(new.0).generation() >= generation {
        return new;
    }
    if hec.remembered.by_generation[generation].len() >= FEW {
        if let Some(old) = made_old(hec, new) {
            return old;
        }
    }
    soil(hec, tvar);
    new
}

/// A copy in the oldest generation, if the object is a small constructor without pointers, and there is room.
unsafe fn made_old(hec: &mut Hec, value: Closure) -> Option<Closure> {
    let (tag, object) = (value.tag(), value.untag());
    if tag == 0 {
        return None;
    }
    let info = object.info();
    let words = match info.kind() {
        CONSTR_0_1 => 2,
        CONSTR_0_2 => 3,
        CONSTR | CONSTR_NOCAF if info.ptrs() == 0 && (2..MOST_WORDS).contains(&info.nptrs()) => 1 + info.nptrs(),
        _ => return None,
    };
    let oldest = hec.remembered.by_generation.len() - 1;
    let copy = hec.pretenured.allocate(words, oldest)?;
    // Nearly always two: no call for that.
    *copy = info.0;
    *copy.add(1) = object.word(1);
    (2..words).for_each(|i| *copy.add(i) = object.word(i));
    Some(Closure(copy as usize | tag))
}

/// Call before storing a pointer in the TVar, unless it is by [`set_value`].
/// # Safety
/// As for [`set_value`].
#[inline]
pub unsafe fn dirty(hec: &mut Hec, tvar: Closure) {
    if tvar.info() == info!(stg_TVAR_CLEAN_info) {
        soil(hec, tvar);
    }
}

#[inline(never)]
unsafe fn soil(hec: &mut Hec, tvar: Closure) {
    tvar.set_info(info!(stg_TVAR_DIRTY_info));
    hec.remember(tvar);
}
