//! The collector: generational copying, with aging and eager promotion.
//!
//! Ages (steps): the nursery is 0, survivors of one collection are 1, generation n is n+1. A
//! collection of generation N condemns every run of age up to N+1, which makes it from-space;
//! what is reached there is copied one step up (or saved in place, if it is large, pinned or
//! compact). An object that an old one refers to goes straight to the old one's generation, and
//! where aging has been in vain all skip it (`policy/aging.rs`).
//!
//! A collection, by the files that do it:
//! 1. from-space is condemned (`from_space.rs`); added compact blocks join their regions (`compact_regions.rs`);
//! 2. remembered objects of the generations above N are scanned (`trace/scavenge.rs`, `trace/arrays.rs`,
//!    `trace/stacks.rs`), and what they lead to, so that it is promoted before anything else;
//! 3. roots are evacuated (`roots.rs`, `trace/evacuate.rs`, `trace/selector.rs`) and everything they lead
//!    to is scanned (`trace/worker.rs`); a full collection traces static objects too (`trace/static_objects.rs`);
//! 4. weak pointers and lost threads are settled (`trace/weak.rs`), weak tables brought up to date,
//!    unreachable CAFs dropped;
//! 5. from-space is freed, nurseries are emptied (`from_space.rs`) and the generations' limits set (`policy/heap_limits.rs`).
//!
//! Invariant between collections: an object of generation n ≥ 1 that refers to one of a younger
//! generation is in some HEC's remembered set for n. `sanity/heap_check.rs` verifies this and more, before each
//! collection and after it.
//!
//! One thread begins and ends a collection. Where several cores are free and there is enough to
//! do (`policy/gc_threads.rs`), other GC threads take part in what lies between: `parallel/work_sharing.rs`, with `parallel/helper_pool.rs`,
//! `parallel/termination.rs` and `trace/forwarding.rs`.
//!
//! The caller has stopped the world: every thread's registers are in its stack chunk, every
//! update frame's thunk is a black hole, and every HEC's Hp is saved.
pub mod caf;
pub mod compact_regions;
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
use crate::collector::from_space::{condemn, finish, resume, take_pretenured, take_remembered_sets, FromSpace};
use crate::collector::parallel::helper_pool::HelperId;
use crate::collector::parallel::work_sharing::ParallelGc;
use crate::collector::policy::aging::aging;
use crate::collector::policy::gc_cost_model::Measured;
use crate::collector::policy::gc_sample::GcSample;
use crate::collector::policy::gc_threads::GcThreadPlan;
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
use crate::observe::gc_phases::{Phase, Watch};
use crate::thread::stack::dirty_stack;
use roots::Visitor;
use std::time::Instant;

/// Full collections so far: marks static objects.
static mut FULL_COLLECTIONS: usize = 0;

/// Collects garbage. The caller holds the HEC `leader`. `extra_roots` shows the caller's own roots, beyond the registered ones,
/// the HECs' run queues and their current threads.
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
    let before = Before::look(hecs, generation);
    let muster =
        crate::collector::policy::gc_threads::plan_threads(hecs.len(), before.company, generation, before.from);
    crate::collector::policy::gc_threads::set_single_threaded(muster.is_none());
    let watch = &mut Watch::start(gc_phases::wanted());
    let started = Instant::now();
    let mut outcome = match (generation == oldest, &muster) {
        (true, None) => run_alone::<true>(hecs, leader, generation, extra_roots, watch),
        (false, None) => run_alone::<false>(hecs, leader, generation, extra_roots, watch),
        (true, Some(m)) => run_together::<true>(m, hecs, leader, generation, extra_roots, watch),
        (false, Some(m)) => run_together::<false>(m, hecs, leader, generation, extra_roots, watch),
    };
    let called = muster.map_or(1, |m| m.threads);
    learn(hecs, &before, &outcome, called, started, Instant::now());
    resume(hecs, &mut outcome);
    crate::collector::policy::gc_threads::set_single_threaded(false);
    watch.end(Phase::End);
    outcome.phases = watch.costs();
    if check {
        crate::collector::sanity::heap_check::check_heap(hecs, extra_roots, "after a collection");
    }
    outcome
}

/// What there is when a collection begins, in bytes.
struct Before {
    allocated: usize,
    /// All that it may free.
    from: usize,
    /// What has survived one collection.
    survivors: usize,
    /// What the old generations hold.
    old: usize,
    /// What they hold in small objects, if all of that is to be collected.
    old_small: usize,
    /// Several HECs work.
    company: bool,
}

impl Before {
    unsafe fn look(hecs: &[&mut Hec], generation: usize) -> Before {
        let allocated: usize = hecs.iter().map(|hec| hec.alloc.used()).sum();
        let gens = &heap().gens;
        Before {
            allocated,
            from: allocated + blocks_of(&gens[..=generation]) * BLOCK_BYTES,
            survivors: gens[0].plain.iter().map(|&run| used_bytes(run)).sum(),
            old: blocks_of(&gens[1..]) * BLOCK_BYTES,
            old_small: if generation == heap().oldest() { used_by(&gens[1..]).plain } else { 0 },
            company: hecs.len() > 1 && !HEC_ACTIVITY.is_single(),
        }
    }
}

/// Tells those who choose sizes and helpers by experience what the collection was like. `called` threads were to do it.
unsafe fn learn(
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
        hecs: before.company,
        threads: called,
        from: before.from,
        work: copied + outcome.scanned_bytes,
        nanoseconds: (ended - started).as_nanos() as f64,
        late: outcome.helper_late,
        helped: outcome.helped,
    });
    // All that a full collection copies is no measure of what a nursery holds.
    let young = if outcome.major { 0 } else { copied };
    aging().record(before.allocated, young, before.survivors, outcome.aged_words * WORD);
    if outcome.major {
        aging().record_full(before.old_small, outcome.promoted_words * WORD, used_by(&heap().gens[1..]).plain);
    }
    let promoted = (blocks_of(&heap().gens[1..]) * BLOCK_BYTES).saturating_sub(before.old);
    let (run, stopped) = crate::collector::policy::gc_sample::times(started, ended);
    let cycle = GcSample { full: outcome.major, allocated: before.allocated, copied, promoted, run, stopped };
    survival_gate().record(&cycle);
    premature_promotion().record(&cycle);
    nursery_budget().record(&cycle, HEC_ACTIVITY.is_single());
    if let Some(mut stretch) = crate::collector::policy::heap_limits::tried_now() {
        stretch.record(&cycle);
    }
    HEC_ACTIVITY.record(hecs.iter().map(|hec| hec.alloc.used()));
}

/// A collection by this thread alone.
unsafe fn run_alone<const MAJOR: bool>(
    hecs: &mut [&mut Hec],
    leader: usize,
    generation: usize,
    extra_roots: &mut dyn FnMut(&mut Visitor),
    watch: &mut Watch,
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
    w.settle_rest(&mut uncertain);
    watch.end_copying(Phase::Rest, w.copied_bytes());
    finish(&mut [w], hecs, generation, from, uncertain)
}

/// A collection by this thread and others.
unsafe fn run_together<const MAJOR: bool>(
    muster: &GcThreadPlan,
    hecs: &mut [&mut Hec],
    leader: usize,
    generation: usize,
    extra_roots: &mut dyn FnMut(&mut Visitor),
    watch: &mut Watch,
) -> Outcome {
    let (from, mut uncertain) = begin::<MAJOR>(hecs, generation);
    watch.end(Phase::Begin);
    prefault::set_cores_busy(muster.threads >= crate::base::cpus::at_start());
    let mut parallel_gc = ParallelGc::new(muster, hecs);
    let mut workers: Vec<_> = (0..muster.threads).map(|i| new_worker::<MAJOR, true>(i, generation)).collect();
    workers.iter_mut().for_each(|w| w.join(&mut parallel_gc));
    let remembered = take_remembered_sets(hecs, generation);
    for (hec, step, list) in &remembered {
        parallel_gc.deal(*hec, *step, list);
    }
    let all = Everybody(workers.as_mut_ptr());
    let help = |hand: HelperId| all.help(hand.number, hand.hec.unwrap_or(leader + hand.number));
    let own = &mut *all.worker(0);
    parallel_gc.employ(&help);
    parallel_gc.begin(leader);
    own.scan_hec_queues(leader);
    own.drain();
    watch.end_copying(Phase::Remembered, all.copied_bytes(muster.threads));
    parallel_gc.begin(leader);
    evacuate_common_roots(own, extra_roots);
    own.drain();
    watch.end_copying(Phase::Roots, all.copied_bytes(muster.threads));
    own.settle_rest(&mut uncertain);
    watch.end_copying(Phase::Rest, all.copied_bytes(muster.threads));
    prefault::set_cores_busy(false);
    let mut outcome = finish(&mut workers, hecs, generation, from, uncertain);
    outcome.helper_late = parallel_gc.helper_late();
    if parallel_gc.was_called() {
        outcome.helped = Some(1.0 - own.done_bytes() as f64 / all.done_bytes(muster.threads).max(1) as f64);
    } else {
        outcome.threads = 1;
    }
    outcome
}

/// The workers of a parallel collection, of which each thread uses its own.
struct Everybody<const MAJOR: bool>(*mut Worker<MAJOR, true>);

// SAFETY: as it says.
unsafe impl<const MAJOR: bool> Sync for Everybody<MAJOR> {}

impl<const MAJOR: bool> Everybody<MAJOR> {
    fn worker(&self, me: usize) -> *mut Worker<MAJOR, true> {
        // SAFETY: there is one for each number that a crew's job can be called with.
        unsafe { self.0.add(me) }
    }
    /// What all `threads` of them have copied. They are at rest.
    unsafe fn copied_bytes(&self, threads: usize) -> usize {
        (0..threads).map(|i| (*self.worker(i)).copied_bytes()).sum()
    }
    /// The same, with what they have scanned in place.
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
    condemn(hecs, generation)
}

unsafe fn new_worker<const MAJOR: bool, const PARALLEL: bool>(me: usize, generation: usize) -> Worker<MAJOR, PARALLEL> {
    Worker::new(me, generation, crate::collector::trace::static_objects::reached_mark(FULL_COLLECTIONS))
}

/// Evacuates what roots refer to that are nobody's in particular.
unsafe fn evacuate_common_roots<const MAJOR: bool, const PARALLEL: bool>(
    w: &mut Worker<MAJOR, PARALLEL>,
    extra_roots: &mut dyn FnMut(&mut Visitor),
) {
    let visit: &mut Visitor = &mut |c| {
        if !c.is_null() {
            w.evacuate(&mut c.0);
        }
    };
    roots::visit_registered(visit);
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
    /// What follows when all that the roots lead to has been saved.
    unsafe fn settle_rest(&mut self, uncertain: &mut Uncertain) {
        self.settle_uncertain(uncertain);
        roots::update_weak_tables(&mut |c| self.alive(c));
        if MAJOR {
            self.sweep_cafs();
        }
    }
}
