//! Entering a CAF (a top-level thunk).
//!
//! The entry code of a `THUNK_STATIC` calls [`newCAF`] before anything else. It turns the CAF
//! into an `IND_STATIC` to a new black hole in the heap, and hands that back; the entry code
//! pushes an update frame for the black hole and goes on. Zero means that somebody else was
//! first: the code then enters the CAF again, which by now is an indirection. The old header
//! stays in `saved_info`. The claim is one compare-and-swap on the header, through
//! `WHITEHOLE`, so that the fields are in place before the indirection shows.
use crate::abi::closure::fields::*;
use crate::abi::{Closure, Info, RegTable};
use crate::base::poison::unpoisoned;
use crate::hec::{many, out_of_memory, Hec};
use crate::info;
use crate::memory::heap;
use crate::observe::blackhole_profile;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// No CAF is ever collected: for programs that load code while running.
#[no_mangle]
pub static mut keepCAFs: bool = false;

unsafe fn claim(reg: *mut RegTable, caf: Closure) -> Option<Closure> {
    let header = &*(caf.slot(0) as *const AtomicUsize);
    let old = header.load(Ordering::Relaxed);
    let (entered, claimed) = (info!(stg_IND_STATIC_info).0, info!(stg_WHITEHOLE_info).0);
    if old == entered || old == claimed {
        return None;
    }
    if header.compare_exchange(old, claimed, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return None;
    }
    let hec = Hec::of_reg(reg);
    let Some(bh) = hec.alloc.allocate_aside(2) else { out_of_memory(16) };
    bh.set_word(INDIRECTEE, hec.r.current_tso);
    bh.set_info(info!(stg_CAF_BLACKHOLE_info));
    caf.set_word(CAF_SAVED_INFO, old);
    caf.set_word(INDIRECTEE, bh.0);
    // Pairs with the load of whoever enters the indirection.
    header.store(entered, Ordering::Release);
    hec.remembered.remember_static(caf);
    blackhole_profile::claimed(bh, Info(old));
    Some(bh)
}

/// Guards the heap's lists of CAFs if there are several HECs.
static LISTS: Mutex<()> = Mutex::new(());

unsafe fn enter(reg: *mut RegTable, caf: Closure, keep: bool) -> Closure {
    let Some(bh) = claim(reg, caf) else { return Closure::NULL };
    let _lists = many().then(|| unpoisoned(LISTS.lock()));
    heap().cafs.push(caf);
    if keep {
        heap().kept_cafs.push(caf);
    }
    bh
}

/// Claims a CAF for evaluation by the running thread: its black hole, or null.
/// # Safety
/// Called by the entry code of `caf`; Hp is in its register, so the nursery is out of bounds.
#[no_mangle]
pub unsafe extern "C" fn newCAF(reg: *mut RegTable, caf: Closure) -> Closure {
    enter(reg, caf, false)
}

/// As [`newCAF`], for code that is never unloaded: the CAF is kept for good.
/// # Safety
/// As for [`newCAF`].
#[no_mangle]
pub unsafe extern "C" fn newRetainedCAF(reg: *mut RegTable, caf: Closure) -> Closure {
    enter(reg, caf, true)
}

/// As [`newCAF`], whatever `keepCAFs` says.
/// # Safety
/// As for [`newCAF`].
#[no_mangle]
pub unsafe extern "C" fn newGCdCAF(reg: *mut RegTable, caf: Closure) -> Closure {
    newCAF(reg, caf)
}

/// Keeps all CAFs from now on.
/// # Safety
/// Called before any CAF has been collected, that is, at start.
#[no_mangle]
pub unsafe extern "C" fn setKeepCAFs() {
    keepCAFs = true;
}

/// The CAFs of shared libraries are not kept by `keepCAFs`: those that lie above the first two gigabytes, where a static program is.
static DROPS_HIGH: AtomicBool = AtomicBool::new(false);
const LOW_BYTES: usize = 1 << 31;

/// Lets CAFs of shared libraries be collected, whatever `keepCAFs` says: a library that `loadNativeObj` has loaded may be unloaded then.
#[no_mangle]
pub extern "C" fn setHighMemDynamic() {
    DROPS_HIGH.store(true, Ordering::Relaxed);
}

/// Is this CAF among those that `keepCAFs` keeps?
pub fn is_kept_by_flag(caf: Closure) -> bool {
    caf.0 < LOW_BYTES || !DROPS_HIGH.load(Ordering::Relaxed)
}

/// Puts the CAFs of code loaded while running back to unevaluated thunks. No such code can be
/// loaded, so there are none.
#[no_mangle]
pub extern "C" fn revertCAFs() {}

/// The header that an entered CAF had as a thunk.
/// # Safety
/// `caf` is an `IND_STATIC`.
pub unsafe fn saved_info(caf: Closure) -> Info {
    Info(caf.word(CAF_SAVED_INFO))
}
