//! The collector: generational copying with aging and eager promotion.
//!
//! A *step* is an age: 0 is the nursery, 1 holds the survivors of one collection, n + 1 is generation n. A collection
//! of generation N condemns every run of step up to N + 1, which makes it from-space. Reachable objects in from-space
//! are copied one step up. Large, pinned and compact objects stay where they are, and only their age byte changes. A
//! full collection also marks and sweeps fixed objects ([`fixed_space`]).
//!
//! *Eager promotion*: an object that an old object refers to is copied straight to the generation of that object. Where
//! aging does not pay, all survivors skip step 1 ([`policy::aging`]).
//!
//! *Protocol*: the phases of a collection.
//! 1. [`from_space`] condemns from-space. [`compact_regions`] joins added compact runs to their regions.
//! 2. The workers scavenge the remembered sets of the generations above N ([`trace::scavenge`], [`trace::arrays`],
//!    [`trace::stacks`]) and all that these lead to. It is promoted before anything else is copied.
//! 3. The workers evacuate the roots ([`roots`], [`trace::evacuate`], [`trace::selector`]) and scavenge all that these
//!    lead to ([`trace::worker`]). A full collection also traces static objects ([`trace::static_objects`]).
//! 4. [`trace::weak`] resolves weak pointers and unreachable threads. In a collection over several processes it first
//!    traces what others have found ([`fixed_space`]). Weak tables are updated, and unreachable CAFs are
//!    dropped.
//! 5. [`from_space`] frees from-space and empties the nurseries. [`policy::heap_limits`] sets the generations' limits.
//!
//! One GC worker begins and ends a collection. If idle cores and enough work are available ([`policy::gc_threads`]),
//! other workers share phases 2 to 4 ([`parallel`], [`trace::forwarding`]).
//!
//! *Invariants*, between collections: an object of generation n ≥ 1 that refers to a younger generation is in some
//! HEC's remembered set for n.
//!
//! *Locking*: the caller has stopped the world. Every thread's registers are in its stack chunk, every update frame's
//! thunk is a black hole, and every HEC's Hp is saved.
//!
//! *Checked by*: [`sanity::heap_check`] before and after each collection of the unit tests in `tests/`, which run with
//! one, two and four GC workers, and on request in any program.
pub mod caf;
pub mod compact_regions;
pub mod fixed_space;
mod from_space;
pub mod parallel;
pub mod policy;
mod request;
pub mod roots;
pub mod sanity;
#[cfg(test)]
mod tests;
pub mod trace;

use crate::abi::WORD;
use crate::collector::from_space::{
    condemn, finish, forward_to_copies, resume, take_pretenured, take_remembered_sets, FromSpace,
};
use crate::collector::parallel::helper_pool::HelperId;
use crate::collector::parallel::work_sharing::ParallelGc;
use crate::collector::policy::aging::aging;
use crate::collector::policy::gc_cost_model::Measured;
use crate::collector::policy::gc_sample::GcSample;
use crate::collector::policy::gc_threads::{plan_threads, GcThreadPlan};
use crate::collector::policy::hec_activity::HEC_ACTIVITY;
use crate::collector::policy::nursery_budget::nursery_budget;
use crate::collector::policy::premature_promotion::premature_promotion;
use crate::collector::policy::survival_rate::survival_gate;
pub use crate::collector::request::{Outcome, Request};
use crate::collector::trace::weak::Uncertain;
use crate::collector::trace::worker::Worker;
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::memory::block_alloc::used_bytes;
use crate::memory::{blocks_of, heap, prefault, used_by, BLOCK_BYTES};
use crate::observe::gc_phases;
use crate::observe::gc_phases::{Phase, PhaseTimer};
use crate::thread::stack::dirty_stack;
use roots::Visitor;
use std::time::Instant;

/// The number of full collections so far. Its mark tells which static objects the current one has reached.
static mut FULL_COLLECTIONS: usize = 0;

/// Collects garbage. The caller holds the HEC `leader`. `extra_roots` visits the caller's own roots, which are not
/// among the registered roots, the HECs' run queues and their current threads.
/// # Safety
/// The world is stopped, as the module's header says.
pub unsafe fn collect(
    hecs: &mut [&mut Hec],
    leader: usize,
    request: Request,
    extra_roots: &mut dyn FnMut(&mut Visitor),
) -> Outcome {
    let oldest = heap().oldest();
    let due =
        if request.deadlock { oldest } else { crate::collector::policy::heap_limits::next_generation_to_collect() };
    let generation = request.generation.max(due).min(oldest);
    for hec in hecs.iter_mut() {
        let t = hec.current();
        if !t.is_null() {
            dirty_tso(&mut hec.remembered, t);
            dirty_stack(hec, t.obj().stackobj);
        }
    }
    let settings = crate::collector::policy::heap_limits::settings();
    let check = settings.check && (!settings.spaced_checks || crate::collector::sanity::check_backoff::is_due());
    if check {
        crate::collector::sanity::heap_check::check_heap(hecs, extra_roots, "before a collection");
    }
    take_pretenured(hecs, generation);
    let before = Before::measure(hecs, generation);
    // In a collection over several processes what is found for others is noted by one worker.
    let plan = (!request.global).then(|| plan_threads(hecs.len(), before.several_hecs, generation, before.from));
    let plan = plan.flatten();
    fixed_space::set_global(request.global);
    crate::collector::policy::gc_threads::set_single_threaded(plan.is_none());
    let watch = &mut PhaseTimer::start(gc_phases::is_enabled());
    let started = Instant::now();
    let mut outcome = match (generation == oldest, &plan) {
        (true, None) => run_alone::<true>(hecs, leader, generation, extra_roots, watch),
        (false, None) => run_alone::<false>(hecs, leader, generation, extra_roots, watch),
        (true, Some(plan)) => run_together::<true>(plan, hecs, leader, generation, extra_roots, watch),
        (false, Some(plan)) => run_together::<false>(plan, hecs, leader, generation, extra_roots, watch),
    };
    let called = plan.map_or(1, |plan| plan.threads);
    record_sample(hecs, &before, &outcome, called, started, Instant::now());
    resume(hecs, &mut outcome);
    crate::collector::policy::gc_threads::set_single_threaded(false);
    watch.end(Phase::End);
    outcome.phases = watch.costs();
    if check {
        crate::collector::sanity::heap_check::check_heap(hecs, extra_roots, "after a collection");
    }
    outcome
}

/// The state of the heap when a collection begins, in bytes.
struct Before {
    allocated: usize,
    /// All that the collection may free.
    from: usize,
    /// Objects that have survived one collection.
    survivors: usize,
    /// All that the old generations hold.
    old: usize,
    /// Their small objects, if all old generations are to be collected; otherwise 0.
    old_small: usize,
    /// Several HECs allocate.
    several_hecs: bool,
}

impl Before {
    unsafe fn measure(hecs: &[&mut Hec], generation: usize) -> Before {
        let allocated: usize = hecs.iter().map(|hec| hec.alloc.used()).sum();
        let gens = &heap().gens;
        Before {
            allocated,
            from: allocated + blocks_of(&gens[..=generation]) * BLOCK_BYTES,
            survivors: gens[0].plain.iter().map(|&run| used_bytes(run)).sum(),
            old: blocks_of(&gens[1..]) * BLOCK_BYTES,
            old_small: if generation == heap().oldest() { used_by(&gens[1..]).plain } else { 0 },
            several_hecs: hecs.len() > 1 && !HEC_ACTIVITY.is_single(),
        }
    }
}

/// Records a collection in the policies that learn from it. The plan was to use `called` threads.
unsafe fn record_sample(
    hecs: &[&mut Hec],
    before: &Before,
    outcome: &Outcome,
    called: usize,
    started: Instant,
    ended: Instant,
) {
    let copied = outcome.copied_words * WORD;
    crate::collector::policy::gc_threads::record(&Measured {
        generation: outcome.generation,
        hecs: before.several_hecs,
        threads: called,
        from: before.from,
        work: copied + outcome.scanned_bytes,
        gc_ns: (ended - started).as_nanos() as f64,
        delay: outcome.helper_delay,
        helped: outcome.helped,
    });
    // What a full collection copies does not measure what a nursery holds.
    let young = if outcome.major { 0 } else { copied };
    aging().record(before.allocated, young, before.survivors, outcome.aged_words * WORD);
    if outcome.major {
        aging().record_full(before.old_small, outcome.promoted_words * WORD, used_by(&heap().gens[1..]).plain);
    }
    let promoted = (blocks_of(&heap().gens[1..]) * BLOCK_BYTES).saturating_sub(before.old);
    let (mutator_ns, gc_ns) = crate::collector::policy::gc_sample::end_cycle(started, ended);
    let cycle = GcSample { full: outcome.major, allocated: before.allocated, copied, promoted, mutator_ns, gc_ns };
    survival_gate().record(&cycle);
    premature_promotion().record(&cycle);
    nursery_budget().record(&cycle, HEC_ACTIVITY.is_single());
    if let Some(mut trial) = crate::collector::policy::heap_limits::current_trial() {
        trial.record(&cycle);
    }
    HEC_ACTIVITY.record(hecs.iter().map(|hec| hec.alloc.used()));
}

/// Collects with one GC worker, on the calling thread.
unsafe fn run_alone<const MAJOR: bool>(
    hecs: &mut [&mut Hec],
    leader: usize,
    generation: usize,
    extra_roots: &mut dyn FnMut(&mut Visitor),
    watch: &mut PhaseTimer,
) -> Outcome {
    let (from, mut uncertain) = begin::<MAJOR>(hecs, generation);
    watch.end(Phase::Begin);
    let mut w = new_worker::<MAJOR, false>(0, generation);
    w.home = leader;
    for (_, step, set) in take_remembered_sets(hecs, generation) {
        w.scan_set(step, set);
    }
    w.drain();
    watch.end_copying(Phase::Remembered, w.copied_bytes());
    evacuate_common_roots(&mut w, extra_roots);
    for hec in hecs.iter_mut() {
        hec.roots(&mut |c| w.evacuate(&mut c.0));
    }
    w.drain();
    watch.end_copying(Phase::Roots, w.copied_bytes());
    w.finish_tracing(&mut uncertain);
    watch.end_copying(Phase::Rest, w.copied_bytes());
    finish(&mut [w], hecs, generation, from, uncertain)
}

/// Collects with several GC workers.
unsafe fn run_together<const MAJOR: bool>(
    plan: &GcThreadPlan,
    hecs: &mut [&mut Hec],
    leader: usize,
    generation: usize,
    extra_roots: &mut dyn FnMut(&mut Visitor),
    watch: &mut PhaseTimer,
) -> Outcome {
    let (from, mut uncertain) = begin::<MAJOR>(hecs, generation);
    watch.end(Phase::Begin);
    prefault::set_cores_busy(plan.threads >= crate::base::cpus::at_start());
    let mut parallel_gc = ParallelGc::new(plan, hecs);
    let mut workers: Vec<_> = (0..plan.threads).map(|i| new_worker::<MAJOR, true>(i, generation)).collect();
    workers.iter_mut().for_each(|w| w.attach(&mut parallel_gc));
    let remembered = take_remembered_sets(hecs, generation);
    for (hec, step, list) in &remembered {
        parallel_gc.add_remembered(*hec, *step, list);
    }
    let all = WorkerSet(workers.as_mut_ptr());
    let help = |helper: HelperId| all.help(helper.number, helper.hec.unwrap_or(leader + helper.number));
    let own = &mut *all.worker(0);
    parallel_gc.set_job(&help);
    parallel_gc.begin_stage(leader);
    own.scan_hec_queues(leader);
    own.drain();
    watch.end_copying(Phase::Remembered, all.copied_bytes(plan.threads));
    parallel_gc.begin_stage(leader);
    evacuate_common_roots(own, extra_roots);
    own.drain();
    watch.end_copying(Phase::Roots, all.copied_bytes(plan.threads));
    own.finish_tracing(&mut uncertain);
    watch.end_copying(Phase::Rest, all.copied_bytes(plan.threads));
    prefault::set_cores_busy(false);
    let mut outcome = finish(&mut workers, hecs, generation, from, uncertain);
    outcome.helper_delay = parallel_gc.helper_delay();
    if parallel_gc.was_called() {
        outcome.helped = Some(1.0 - own.done_bytes() as f64 / all.done_bytes(plan.threads).max(1) as f64);
    } else {
        outcome.threads = 1;
    }
    outcome
}

/// The workers of a parallel collection. Each thread uses its own.
struct WorkerSet<const MAJOR: bool>(*mut Worker<MAJOR, true>);

// SAFETY: each thread uses only the worker of its number.
unsafe impl<const MAJOR: bool> Sync for WorkerSet<MAJOR> {}

impl<const MAJOR: bool> WorkerSet<MAJOR> {
    fn worker(&self, me: usize) -> *mut Worker<MAJOR, true> {
        // SAFETY: there is one worker for each number that the pool calls the job with.
        unsafe { self.0.add(me) }
    }
    /// Returns the bytes that all `threads` workers have copied. They are idle.
    unsafe fn copied_bytes(&self, threads: usize) -> usize {
        (0..threads).map(|i| (*self.worker(i)).copied_bytes()).sum()
    }
    /// Returns the bytes that all `threads` workers have copied or scavenged in place. They are idle.
    unsafe fn done_bytes(&self, threads: usize) -> usize {
        (0..threads).map(|i| (*self.worker(i)).done_bytes()).sum()
    }
    unsafe fn help(&self, me: usize, home: usize) {
        let w = &mut *self.worker(me);
        (*w.parallel_gc).enter();
        w.scan_hec_queues(home);
        w.drain();
    }
}

/// Makes the generations up to `generation` from-space.
unsafe fn begin<const MAJOR: bool>(hecs: &mut [&mut Hec], generation: usize) -> (FromSpace, Uncertain) {
    if MAJOR {
        FULL_COLLECTIONS += 1;
    }
    let condemned = condemn(hecs, generation);
    if MAJOR {
        fixed_space::condemn();
    }
    forward_to_copies();
    condemned
}

unsafe fn new_worker<const MAJOR: bool, const PARALLEL: bool>(me: usize, generation: usize) -> Worker<MAJOR, PARALLEL> {
    Worker::new(me, generation, crate::collector::trace::static_objects::reached_mark(FULL_COLLECTIONS))
}

/// Evacuates what the roots that belong to no HEC refer to.
unsafe fn evacuate_common_roots<const MAJOR: bool, const PARALLEL: bool>(
    w: &mut Worker<MAJOR, PARALLEL>,
    extra_roots: &mut dyn FnMut(&mut Visitor),
) {
    let visit: &mut Visitor = &mut |c| {
        if !c.is_null() {
            w.evacuate(&mut c.0);
        }
    };
    roots::visit_registered(visit, if MAJOR { roots::Scope::All } else { roots::Scope::Young });
    extra_roots(visit);
    if MAJOR {
        let by_flag: &[_] = if caf::keepCAFs { &heap().cafs } else { &[] };
        let by_flag = by_flag.iter().filter(|&&caf| caf::is_kept_by_flag(caf));
        for caf in by_flag.chain(&heap().kept_cafs) {
            w.reach_static(caf.0);
        }
    }
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Resolves weak pointers, threads, weak tables and CAFs, once all that the roots lead to has been evacuated.
    unsafe fn finish_tracing(&mut self, uncertain: &mut Uncertain) {
        self.resolve_uncertain(uncertain);
        roots::update_weak_tables(&mut |c| self.live_copy(c));
        if MAJOR {
            self.sweep_cafs();
            fixed_space::sweep();
        }
    }
}
