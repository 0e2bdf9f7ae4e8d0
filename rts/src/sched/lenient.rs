//! Lenient evaluation: HECs that have nothing else to do evaluate what may be needed later [FN96, §2].
//!
//! *Protocol*
//! 1. Code that the plugin `Hecaton.Lenient` has changed sparks a thunk when it makes one ([`hec_lenient`]). The thunk
//!    goes to the lenient pool of its HEC, if the budgets allow.
//! 2. A HEC without runnable threads and sparks takes the oldest lenient spark, its own or another HEC's, and makes a
//!    *lenient thread* for it. It does so only while no thread waits on another HEC ([`may_run`]). If one does, the HEC
//!    becomes idle, and is given threads.
//! 3. A lenient thread that stops goes to its HEC's `at_rest`, not to a run queue. So any other thread runs first.
//!    After a *turn* of time slices it waits behind the others at rest.
//! 4. A thread that is not lenient and waits for a thunk of a lenient thread makes it an ordinary one
//!    ([`crate::eval::wait_for_thunk`]).
//! 5. Other processes take sparks, too (`rts/src/spread/loans.rs`). The thread that waits for such a loan here is
//!    lenient, so that those who wait for it are noticed: then the borrower is told.
//! 6. What is not to be evaluated ahead is frozen: the thread ends, and its work continues when somebody needs the
//!    thunk. This happens to work that is about to have effects (`noDuplicate#`), has a large stack, or uses many time
//!    slices while others wait; and to all when the heap grows by lenient work.
//!
//! *Invariants*
//! - Lenient threads and pools are no roots. A thread at rest has claimed its thunk, which then refers to it; so it
//!   lives as long as the thunk does.
//! - An exception that ends a lenient thread is in the thunks that it evaluated, and reported nowhere else.
//! - Under a random run order there is no lenient evaluation: the order would depend on the clock.
use super::settings;
use crate::abi::tso::{LENIENT_NESTING_SHIFT, TSO_LENIENT};
use crate::abi::{Closure, RegTable, Tso, TAG_MASK};
use crate::collector::policy::heap_limits;
use crate::collector::roots::IsAlive;
use crate::eval::lazy_blackholing::thread_paused;
use crate::eval::raise_async::raise_async;
use crate::hec::lenient_pool::{self, AtRest, LenientSpark, MAX_NESTING};
use crate::hec::lenient_work::{has_work, may_run, pool_of};
use crate::hec::run_order;
use crate::hec::{self, Hec};
use crate::observe::stats;
use crate::sched::{handoff, packets, spark, stop_world};
use crate::static_closure;
use crate::sync::throwto::finished;
use crate::thread::create::new_eval_thread;
use crate::thread::park::is_lenient;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The time slices that a lenient thread uses before others at rest have their turn: 200 ms.
const TURN_SLICES: u32 = 10;
/// The most threads at rest with which a HEC begins another spark. Each is work half done, and alive.
const MAX_AT_REST: usize = 8;
/// A thread that has used this many time slices is frozen when there are too many at rest: 10 s.
const MAX_SLICES: u32 = 500;
/// The most words of stack: 1 MB. What needs more may be an endless recursion.
const MAX_STACK_WORDS: u32 = 1 << 17;
/// The time slices without any other thread after which a collection looks for deadlock: about as long as an idle
/// program waits for it.
const ALONE_SLICES: usize = 20;
/// Growth of the heap below this is not looked at, in bytes.
const MIN_GROWTH: usize = 32 << 20;

/// The bytes that were alive after the last full collection.
static LAST_LIVE: AtomicUsize = AtomicUsize::new(0);
/// The bytes that lenient threads have allocated since.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
/// The time slices since another thread than a lenient one has run.
static ALONE: AtomicUsize = AtomicUsize::new(0);

/// What the package gets of this runtime: a function that sparks a thunk.
#[no_mangle]
pub extern "C" fn hec_lenient_function() -> Closure {
    static_closure!(hecatonzmrts_Lenient_spark_closure)
}

/// Sparks a closure for lenient evaluation.
/// # Safety
/// Called from Cmm by the running thread. Hp is in its register.
#[no_mangle]
pub unsafe extern "C" fn hec_lenient(reg: *mut RegTable, closure: Closure) {
    let has_others = hec::many() || packets::are_served();
    if !has_others || !settings().threaded || lenient_pool::is_paused() {
        return;
    }
    let hec = Hec::of_reg(reg);
    let Some(nesting) = nesting_of_sparks(hec.current()) else { return };
    if !lenient_pool::is_enabled() || run_order::is_random() || !spark::is_thunk(closure) {
        return;
    }
    if !hec.lenient.put(LenientSpark { thunk: closure, nesting }) {
        hec.lenient.counts.overflowed += 1;
        return;
    }
    hec.lenient.counts.kept += 1;
    lenient_pool::note_used();
    if hec::many() {
        spark::on_stealable(hec);
    }
}

/// In how many lenient evaluations what the thread sparks is nested. `None` if that is too deep.
unsafe fn nesting_of_sparks(t: Tso) -> Option<usize> {
    if !is_lenient(t) {
        return Some(0);
    }
    let nesting = (t.obj().flags >> LENIENT_NESTING_SHIFT) as usize & TAG_MASK;
    Some(nesting + 1).filter(|&n| n < MAX_NESTING)
}

/// The lenient thread that runs next on a HEC with nothing else to do.
/// # Safety
/// The caller holds the HEC, and no thread runs on it. It runs the thread at once.
pub unsafe fn take(hec: &mut Hec) -> Option<Tso> {
    if !has_work(hec) {
        return None;
    }
    let pool = &mut hec.lenient;
    let is_due = |at: &AtRest, full: bool| full || !at.slices.is_multiple_of(TURN_SLICES);
    let full = pool.at_rest.len() >= MAX_AT_REST;
    if !pool.at_rest.front().is_some_and(|at| is_due(at, full)) {
        if let Some(t) = begin(hec) {
            return Some(t);
        }
    }
    while let Some(AtRest { thread, slices }) = hec.lenient.at_rest.pop_front() {
        if !finished(thread) {
            hec.lenient.slices = slices;
            note_running(hec);
            return Some(thread);
        }
    }
    None
}

/// Makes a thread for the oldest spark that is worth it.
unsafe fn begin(hec: &mut Hec) -> Option<Tso> {
    let spark = take_oldest(hec)?;
    hec.lenient.counts.converted += 1;
    let t = new_eval_thread(hec, spark.thunk, &settings().stack);
    make_lenient(t, spark.nesting);
    hec.lenient.slices = 0;
    note_running(hec);
    Some(t)
}

/// Does any HEC have sparks?
pub fn any() -> bool {
    lenient_pool::is_used() && (0..hec::count()).any(|no| !pool_of(no).is_empty())
}

/// Takes the oldest spark that is worth evaluating, from this HEC's pool first.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn take_oldest(hec: &mut Hec) -> Option<LenientSpark> {
    let (own, n) = (hec.no as usize, hec::count());
    loop {
        let spark = (0..n).find_map(|i| pool_of((own + i) % n).take())?;
        if spark::is_thunk(spark.thunk) {
            return Some(spark);
        }
        hec.lenient.counts.fizzled += 1;
    }
}

/// Gives back a spark that another process cannot have.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn give_back(hec: &mut Hec, spark: LenientSpark) {
    if !hec.lenient.put(spark) {
        hec.lenient.counts.overflowed += 1;
    }
}

/// Marks a new thread as lenient.
/// # Safety
/// The caller holds the HEC that has made it. The nesting is less than [`MAX_NESTING`].
pub unsafe fn make_lenient(t: Tso, nesting: usize) {
    t.obj().flags |= TSO_LENIENT | (nesting as u32) << LENIENT_NESTING_SHIFT;
}

/// Adds a new thread for work of another process to those at rest.
/// # Safety
/// As for [`make_lenient`].
pub unsafe fn add(hec: &mut Hec, t: Tso, nesting: usize) {
    make_lenient(t, nesting);
    lenient_pool::note_used();
    hec.lenient.at_rest.push_back(AtRest { thread: t, slices: 0 });
}

fn note_running(hec: &mut Hec) {
    hec.lenient.runs.store(true, Ordering::Relaxed);
    hec.lenient.allocated_at_start = hec.alloc.allocated();
}

/// A lenient thread has left Haskell.
fn note_stopped(hec: &mut Hec) {
    hec.lenient.runs.store(false, Ordering::Relaxed);
    let bytes = hec.alloc.allocated().saturating_sub(hec.lenient.allocated_at_start);
    hec.lenient.allocated_at_start += bytes;
    ALLOCATED.fetch_add(bytes as usize, Ordering::Relaxed);
}

/// A thread blocks or has finished: if it is lenient, what it has allocated counts.
/// # Safety
/// The caller holds the HEC, which owns the thread.
pub unsafe fn note_blocking(hec: &mut Hec, t: Tso) {
    if is_lenient(t) {
        note_stopped(hec);
    }
}

/// A thread is at rest and could run on. If it is lenient, it goes to those at rest. `at_slice_end`: it has used up its
/// time slice.
/// # Safety
/// The caller holds the HEC, which owns the thread. The thread is on no queue.
pub unsafe fn withdraw(hec: &mut Hec, t: Tso, at_slice_end: bool) -> bool {
    if !is_lenient(t) {
        return false;
    }
    note_stopped(hec);
    // It is found by the thunks that it has claimed.
    thread_paused(hec, t);
    if t.obj().tot_stack_size > MAX_STACK_WORDS {
        freeze(hec, t);
        return true;
    }
    let slices = hec.lenient.slices + at_slice_end as u32;
    let full = hec.lenient.at_rest.len() >= MAX_AT_REST;
    if full && slices >= MAX_SLICES {
        freeze(hec, t);
    } else if at_slice_end && slices.is_multiple_of(TURN_SLICES) {
        hec.lenient.at_rest.push_back(AtRest { thread: t, slices });
    } else {
        hec.lenient.at_rest.push_front(AtRest { thread: t, slices });
    }
    if at_slice_end {
        let mut others = (0..hec::count()).filter(|&no| no != hec.no as usize);
        let alone = others.all(|no| !handoff::is_held(no) || pool_of(no).runs.load(Ordering::Relaxed));
        let n = if alone { ALONE.load(Ordering::Relaxed) + 1 } else { 0 };
        ALONE.store(n, Ordering::Relaxed);
    }
    true
}

/// Has lenient evaluation alone kept HECs busy so long that deadlock must be looked for? Once for each such time.
pub fn must_look_for_deadlock() -> bool {
    ALONE.load(Ordering::Relaxed) == ALONE_SLICES && ALONE.fetch_add(1, Ordering::Relaxed) == ALONE_SLICES
}

/// Another task has stopped the world for a collection that did not look for deadlock.
pub fn look_for_deadlock_again() {
    ALONE.store(ALONE_SLICES, Ordering::Relaxed);
}

/// A lenient thread has yielded: it was about to have effects. Freezes its work, if the thread is lenient.
/// # Safety
/// As for [`withdraw`].
pub unsafe fn stop_before_effects(hec: &mut Hec, t: Tso) -> bool {
    if is_lenient(t) {
        note_stopped(hec);
        freeze(hec, t);
    }
    is_lenient(t)
}

/// Freezes a lenient thread's work, and ends it.
unsafe fn freeze(hec: &mut Hec, t: Tso) {
    raise_async(hec, t, None);
    packets::on_frozen(t);
    hec.lenient.counts.dud += 1;
}

/// Makes idle HECs look for lenient work, if this HEC has some to give.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn wake_idle_hecs(hec: &Hec) {
    if hec.lenient.is_empty() {
        return;
    }
    let own = hec.no as usize;
    if let Some(no) = (0..hec::enabled()).find(|&no| no != own && hec::is_idle(no) && may_run(no)) {
        if hec::idle_available() > 0 {
            handoff::give(no, |_| ());
        }
    }
}

/// A full collection has found `live` bytes alive. Decides whether lenient evaluation goes on, and freezes that under
/// way if it does not.
/// # Safety
/// The world is stopped.
pub unsafe fn after_full_collection(live: usize) {
    let before = LAST_LIVE.swap(live, Ordering::Relaxed);
    let allocated = ALLOCATED.swap(0, Ordering::Relaxed);
    let growth = live.saturating_sub(before);
    let grows = growth > MIN_GROWTH.max(before / 2) && allocated > growth / 2;
    let scarce = heap_limits::settings().max_heap_bytes.is_some_and(|max| live > max / 2);
    lenient_pool::pause(grows || scarce);
    if grows || scarce {
        for hec in stop_world::hecs() {
            for at in std::mem::take(&mut hec.lenient.at_rest) {
                if !finished(at.thread) {
                    freeze(hec, at.thread);
                }
            }
            hec.lenient.counts.collected += hec.lenient.take_all().len() as u64;
        }
    }
}

/// The counters of all HECs together. Frozen evaluations are counted as duds.
/// # Safety
/// The world is stopped.
pub unsafe fn counts() -> stats::Sparks {
    stop_world::hecs().iter().fold(stats::Sparks::default(), |sum, h| sum + h.lenient.counts)
}

/// Updates pools and threads at rest after a collection: they have moved, or are garbage.
pub fn update(is_alive: &mut IsAlive) {
    if !lenient_pool::is_used() {
        return;
    }
    // SAFETY: the world is stopped.
    for h in unsafe { stop_world::hecs() } {
        for spark in h.lenient.take_all() {
            match is_alive(spark.thunk) {
                Some(thunk) if unsafe { spark::is_thunk(thunk) } => {
                    h.lenient.put(LenientSpark { thunk, ..spark });
                }
                Some(_) => h.lenient.counts.fizzled += 1,
                None => h.lenient.counts.collected += 1,
            }
        }
        let pool = &mut h.lenient;
        pool.at_rest.retain_mut(|at| match is_alive(at.thread.closure()) {
            Some(now) => {
                at.thread = Tso(now.0);
                true
            }
            None => {
                pool.counts.collected += 1;
                false
            }
        });
    }
}

/// Drops all lenient work of a HEC, in the child of a fork or when all threads have been ended.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn clear(hec: &mut Hec) {
    hec.lenient.take_all();
    hec.lenient.at_rest.clear();
}
