//! When a collection happens, and what follows one: finalizers, deadlocked threads, the heap limit.
pub(super) mod announce;
pub mod events;
pub mod finalize;
pub(super) mod helper_spin;
pub mod sync_time;
use crate::abi::{Tso, WORD};
use crate::base::config::generation_name;
use crate::collector;
use crate::collector::policy::{heap_limits, max_heap};
use crate::collector::roots::Visitor;
use crate::hec;
use crate::hec::{GcRequest, Hec};
use crate::memory::{block_alloc, BLOCK_BYTES};
use crate::observe::stats;
use crate::sched::gc::announce::{AnnounceTarget, Announcement};
use crate::sched::task::TaskRef;
use crate::sched::{bound_threads, handoff, lenient, packets, safe_call, stop_world, task_table};
use crate::static_closure;
use crate::sync::{deadlock, throwto};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;

static HEAP_EXHAUSTED: AtomicBool = AtomicBool::new(false);
static ALLOC_LIMIT_GRACE: AtomicUsize = AtomicUsize::new(100 * 1024);

/// The bytes that an exceeded allocation limit leaves for its handler.
pub fn alloc_limit_grace() -> usize {
    ALLOC_LIMIT_GRACE.load(Ordering::Relaxed)
}
pub fn set_alloc_limit_grace(bytes: usize) {
    ALLOC_LIMIT_GRACE.store(bytes, Ordering::Relaxed);
}

/// Has the program ended because of its heap limit?
pub fn heap_exhausted() -> bool {
    HEAP_EXHAUSTED.load(Ordering::Relaxed)
}

/// The collection that is due now, if any. A HEC with a full nursery chunk takes the next one, if there is one. With a
/// full nursery it continues in the overflow area as long as it is better that another HEC collects.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn due(hec: &mut Hec) -> Option<GcRequest> {
    if hec.gc_requested.is_some() {
        return hec.gc_requested;
    }
    let at_end = hec.alloc.run_full && !next_chunk(hec);
    let announced = hec::many() && (at_end || ANNOUNCEMENT.is_active());
    let now = if announced { is_last_to_see(hec) || at_end && !use_overflow(hec) } else { at_end };
    (now || hec.alloc.wants_gc).then_some(GcRequest::Minor)
}

/// Might [`due`] have something to do?
pub(super) fn may_be_due(hec: &Hec) -> bool {
    hec.gc_requested.is_some() || hec.alloc.must_stop() || hec::many() && ANNOUNCEMENT.is_active()
}

/// Continues in the overflow area, because other HECs are late. Returns false if it is full.
unsafe fn use_overflow(hec: &mut Hec) -> bool {
    heap_limits::settings().max_heap_bytes.is_none() && hec.alloc.next_run_or_overflow()
}

/// The number of a HEC that sees announcements.
#[derive(Clone, Copy)]
struct Listener(usize);

impl AnnounceTarget for Listener {
    fn has_seen_gc(self) -> &'static AtomicBool {
        // SAFETY: accesses an atomic of a HEC that exists.
        unsafe { &(*hec::address(self.0)).has_seen_gc }
    }

    fn is_held(self) -> bool {
        !hec::is_idle(self.0) && handoff::is_held(self.0)
    }

    fn request_return(self) {
        // SAFETY: writes two atomics of a HEC that exists.
        unsafe { (*hec::address(self.0)).request_return() }
    }
}

static ANNOUNCEMENT: Announcement = Announcement(AtomicBool::new(false));

fn is_last_to_see(hec: &Hec) -> bool {
    let me = hec.no as usize;
    ANNOUNCEMENT.is_last(Listener(me), (0..hec::count()).filter(|&no| no != me).map(Listener))
}

/// Continues in the next chunk of the HEC's nursery. Returns false if there is none, or if it is better to collect now.
/// # Safety
/// As for [`due`].
pub unsafe fn next_chunk(hec: &mut Hec) -> bool {
    !heap_limits::should_collect_early() && hec.alloc.next_run()
}

/// Stops the world and collects. With `deadlock`, throws exceptions to threads that nothing can wake. Returns false if
/// another task stopped the world instead: the caller then checks again whether it must collect.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn collect(me: TaskRef, request: GcRequest, deadlock: bool) -> bool {
    events::requested();
    let stopped = stop_world::stop(me);
    if stopped {
        collect_stopped(request, deadlock);
        stop_world::resume(me);
    }
    stopped
}

/// Collects, and handles what follows.
/// # Safety
/// The caller has stopped the world.
pub unsafe fn collect_stopped(request: GcRequest, deadlock: bool) {
    let generation = if request == GcRequest::Major { usize::MAX } else { 0 };
    let mut outcome = collect_once(collector::Request { generation, deadlock, global: false });
    if outcome.full_is_due {
        outcome = collect_once(collector::Request::MAJOR);
    }
    see_to_limit(&outcome);
}

/// Does this process's part of a collection over several, and handles what follows.
/// # Safety
/// As for [`collect_stopped`].
pub unsafe fn collect_globally() {
    let outcome = collect_once(collector::Request::GLOBAL);
    see_to_limit(&outcome);
}

unsafe fn see_to_limit(outcome: &collector::Outcome) {
    if outcome.over_limit {
        heap_overflow(crate::sched::hec());
    } else if outcome.major {
        max_heap::clear_quota();
    }
}

/// Does one collection, and schedules the work that it leaves for Haskell threads.
unsafe fn collect_once(request: collector::Request) -> collector::Outcome {
    let outcome = measure(request);
    let hec = crate::sched::hec();
    if !outcome.dead_weaks.is_empty() {
        crate::sched::gc::finalize::start(hec, &outcome.dead_weaks);
    }
    deadlock::resurrect(hec, &outcome.resurrected);
    if outcome.major {
        lenient::after_full_collection(outcome.live.all());
        packets::after_full_collection(outcome.live.all());
    }
    outcome
}

/// Collects all generations to measure what is alive. Nothing follows, because Haskell has ended.
/// # Safety
/// As for [`collect_stopped`]; there are no weak pointers.
pub unsafe fn measure_live() {
    measure(collector::Request::MAJOR);
}

/// The bytes allocated so far.
/// # Safety
/// The world is stopped.
pub unsafe fn allocated() -> u64 {
    stop_world::hecs().iter().map(|h| h.alloc.allocated()).sum()
}

/// Collects and measures it.
unsafe fn measure(request: collector::Request) -> collector::Outcome {
    let mut hecs = stop_world::hecs();
    hecs.iter_mut().for_each(|h| h.gc_requested = None);
    ANNOUNCEMENT.clear((0..hec::count()).map(Listener));
    let allocated = stats::allocated_since_last(allocated());
    stats::begin_gc();
    let leader = crate::sched::hec().no;
    events::begin(leader);
    let outcome = collector::collect(&mut hecs, leader as usize, request, &mut |_| ());
    let measured = measured(&outcome, allocated);
    stats::end_gc(&measured, outcome.major);
    events::end(leader, &hecs, &measured, outcome.major);
    outcome
}

fn measured(outcome: &collector::Outcome, allocated: u64) -> stats::Collection {
    let bytes = |words: usize| (words * WORD) as u64;
    let memory = |blocks: usize| (blocks * BLOCK_BYTES) as u64;
    stats::Collection {
        gen: generation_name(outcome.generation),
        threads: outcome.threads,
        allocated,
        live: outcome.live.all() as u64,
        large: outcome.live.large as u64,
        compact: outcome.live.compact as u64,
        slop: outcome.slop as u64,
        copied: bytes(outcome.copied_words),
        par_max_copied: if outcome.threads > 1 { bytes(outcome.max_copied_words) } else { 0 },
        par_balanced_copied: bytes(outcome.balanced_words),
        sync: sync_time::took(),
        phases: outcome.phases,
        mem_in_use: memory(block_alloc::blocks_resident()),
        mem_peak: memory(block_alloc::peak_blocks_resident()),
    }
}

/// More is alive than `-M` allows: throws an exception to the main thread, again each time the thread has used up its
/// grace. If the thread masks exceptions, it gets the exception when it unmasks them. Without a main thread the program
/// ends.
unsafe fn heap_overflow(hec: &mut Hec) {
    if !max_heap::must_report_overflow() {
        return;
    }
    let Some(t) = bound_threads::main_thread() else {
        if max_heap::exceeds_grace() {
            HEAP_EXHAUSTED.store(true, Ordering::Relaxed);
            heap_exhausted_exit();
        }
        return;
    };
    max_heap::set_quota();
    let e = static_closure!(base_GHCziIOziException_heapOverflow_closure);
    if !throwto::is_pending(hec, t, e) {
        throwto::throw_from_outside(hec, t, e);
        // Before other threads use up the grace.
        hec.run_queue.bring_forward(&mut hec.remembered, t, usize::MAX);
    }
}

static ON_EXHAUSTED: OnceLock<fn() -> !> = OnceLock::new();

/// Sets how the program ends when its heap limit is exceeded for good.
pub fn on_heap_exhausted(f: fn() -> !) {
    let _ = ON_EXHAUSTED.set(f);
}

fn heap_exhausted_exit() -> ! {
    match ON_EXHAUSTED.get() {
        Some(f) => f(),
        None => crate::base::fatal::exit_with(251, "heap exhausted"),
    }
}

/// Records the stack size of a thread that has hit its stack limit, which is reported if nothing catches the exception.
pub fn note_stack_overflow(t: Tso) {
    LAST_OVERFLOWED.store(unsafe { t.obj().tot_stack_size as usize }, Ordering::Relaxed);
}

static LAST_OVERFLOWED: AtomicUsize = AtomicUsize::new(0);

/// The words of the stack that overflowed last.
pub fn last_overflowed_words() -> usize {
    LAST_OVERFLOWED.load(Ordering::Relaxed)
}

/// Does a collection that the program itself requests.
/// # Safety
/// The caller does not hold the HEC.
pub unsafe fn perform(request: GcRequest) {
    let me = task_table::current();
    handoff::acquire(me);
    while !collect(me, request, false) {}
    handoff::release_to_c(me);
}

/// Visits the roots of this folder.
pub fn roots(visit: &mut Visitor) {
    safe_call::roots(visit);
    bound_threads::roots(visit);
}
