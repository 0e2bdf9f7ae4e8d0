//! Enters a CAF (a top-level thunk), and decides which CAFs are retained.
//!
//! *Protocol*
//! 1. The entry code of a `THUNK_STATIC` calls [`newCAF`] before anything else.
//! 2. [`newCAF`] claims the CAF by one compare-and-swap of its header to `WHITEHOLE`.
//! 3. The winner allocates a black hole and writes the CAF's fields; the old header goes to `saved_info`.
//! 4. The winner publishes the CAF as an `IND_STATIC` to the black hole and returns the black hole. The entry code
//!    pushes an update frame for it and evaluates the CAF.
//! 5. A loser returns null. Its entry code enters the CAF again, which is an indirection by then.
//!
//! *Invariants*
//! - The fields of an `IND_STATIC` are written before its header shows.
//! - Every entered CAF is in the heap's list `cafs` until a full collection finds it unreachable.
//!
//! *Locking*: with several HECs, `LISTS` guards the heap's lists of CAFs.
//!
//! *Checked by*: the unit test `cafs_live_as_long_as_code_can_reach_them`, and the heap checker.
use crate::abi::closure::fields::*;
use crate::abi::{Closure, Info, RegTable};
use crate::base::poison::unpoisoned;
use crate::hec::{many, out_of_memory, Hec};
use crate::info;
use crate::memory::heap;
use crate::observe::blackhole_profile;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// Retains every CAF. For programs that load code while they run.
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
    // Pairs with the load by a thread that enters the indirection.
    header.store(entered, Ordering::Release);
    hec.remembered.remember_static(caf);
    blackhole_profile::claimed(bh, Info(old));
    Some(bh)
}

/// Guards the heap's lists of CAFs when there are several HECs.
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

/// Claims a CAF for evaluation by the running thread. Returns its black hole, or null if another thread was first.
/// # Safety
/// Called by the entry code of `caf`; Hp is in its register, so the nursery is out of bounds.
#[no_mangle]
pub unsafe extern "C" fn newCAF(reg: *mut RegTable, caf: Closure) -> Closure {
    enter(reg, caf, false)
}

/// Claims a CAF like [`newCAF`], and retains it for good. For code that is never unloaded.
/// # Safety
/// As for [`newCAF`].
#[no_mangle]
pub unsafe extern "C" fn newRetainedCAF(reg: *mut RegTable, caf: Closure) -> Closure {
    enter(reg, caf, true)
}

/// Claims a CAF like [`newCAF`], whatever `keepCAFs` says.
/// # Safety
/// As for [`newCAF`].
#[no_mangle]
pub unsafe extern "C" fn newGCdCAF(reg: *mut RegTable, caf: Closure) -> Closure {
    newCAF(reg, caf)
}

/// Retains all CAFs from now on.
/// # Safety
/// Called before any CAF has been collected, that is, at start.
#[no_mangle]
pub unsafe extern "C" fn setKeepCAFs() {
    keepCAFs = true;
}

/// `keepCAFs` does not retain the CAFs of shared libraries.
static DROPS_HIGH: AtomicBool = AtomicBool::new(false);
/// Addresses below this limit belong to a static program: 2 GB, the small code model. Shared libraries lie above it.
const LOW_BYTES: usize = 1 << 31;

/// Lets the CAFs of shared libraries be collected, whatever `keepCAFs` says. A library loaded by `loadNativeObj` can
/// then be unloaded.
#[no_mangle]
pub extern "C" fn setHighMemDynamic() {
    DROPS_HIGH.store(true, Ordering::Relaxed);
}

/// Does `keepCAFs` retain this CAF?
pub fn is_kept_by_flag(caf: Closure) -> bool {
    caf.0 < LOW_BYTES || !DROPS_HIGH.load(Ordering::Relaxed)
}

/// Reverts the CAFs of code loaded while running to unevaluated thunks. No such code can be loaded, so this does
/// nothing.
#[no_mangle]
pub extern "C" fn revertCAFs() {}

/// Returns the header that an entered CAF had as a thunk.
/// # Safety
/// `caf` is an `IND_STATIC`.
pub unsafe fn saved_info(caf: Closure) -> Info {
    Info(caf.word(CAF_SAVED_INFO))
}
