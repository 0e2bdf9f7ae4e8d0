//! The collector: generational copying, with aging and eager promotion.
//!
//! Ages (steps): the nursery is 0, survivors of one collection are 1, generation n is n+1. A
//! collection of generation N condemns every run of age up to N+1, which makes it from-space;
//! what is reached there is copied one step up (or saved in place, if it is large, pinned or
//! compact). An object that an old one refers to goes straight to the old one's generation, and
//! where aging has been in vain all skip it (`tenure.rs`).
//!
//! A collection, by the files that do it:
//! 1. from-space is condemned (here); added compact blocks join their regions (`compact.rs`);
//! 2. remembered objects of the generations above N are scanned (`scan.rs`, `arrays.rs`,
//!    `stack.rs`), and what they lead to, so that it is promoted before anything else;
//! 3. roots are evacuated (`roots.rs`, `evacuate.rs`, `selector.rs`) and everything they lead
//!    to is scanned (`worker.rs`); a full collection traces static objects too (`statics.rs`);
//! 4. weak pointers and lost threads are settled (`weak.rs`), weak tables brought up to date,
//!    unreachable CAFs dropped;
//! 5. from-space is freed, nurseries are emptied and the generations' limits set (`policy.rs`).
//!
//! Invariant between collections: an object of generation n ≥ 1 that refers to one of a younger
//! generation is in some HEC's remembered set for n. `check.rs` verifies this and more.
//!
//! One thread begins and ends a collection. Where several cores are free and there is enough to
//! do (`muster.rs`), other GC threads take part in what lies between: `team.rs`, with `crew.rs`,
//! `quiet.rs` and `claim.rs`.
//!
//! The caller has stopped the world: every thread's registers are in its stack chunk, every
//! update frame's thunk is a black hole, and every HEC's Hp is saved.
mod allowance;
pub mod arrays;
pub mod caf;
pub mod check;
mod claim;
pub mod compact;
mod company;
pub mod cores;
pub mod crew;
mod cycle;
pub mod evacuate;
pub mod header;
mod history;
mod keeping;
pub mod muster;
pub mod policy;
pub mod quiet;
mod refresh;
pub mod roots;
pub mod scan;
pub mod selector;
pub mod shape;
mod small;
pub mod stack;
pub mod statics;
mod stretch;
mod team;
mod tenure;
#[cfg(test)]
mod tests;
pub mod weak;
pub mod worker;

use crate::contract::{Closure, Tso, WORD};
use crate::hec::{out_of_memory, Hec};
use crate::memory::blocks::{self, free_run, used_bytes, Run};
use crate::memory::{blocks_of, heap, pieces, used_by, Age, Used, BLOCK_BYTES};
use crate::observe::phases::{Phase, PhaseCosts, Watch};
use crate::thread::queue::dirty_tso;
use crate::thread::stack::dirty_stack;
use allowance::allowance;
use company::COMPANY;
use crew::Hand;
use cycle::Cycle;
use history::Measured;
use keeping::keeping;
use muster::Muster;
use roots::Visitor;
use team::Team;
use tenure::tenure;
use std::time::Instant;
use weak::Uncertain;
use worker::Worker;

/// What is asked for. More is collected if a generation has reached its limit.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub generation: usize,
    /// Nobody can run: find out which threads never will.
    pub deadlock: bool,
}

impl Request {
    pub const MINOR: Request = Request { generation: 0, deadlock: false };
    pub const MAJOR: Request = Request { generation: usize::MAX, deadlock: false };
}

/// What came of a collection.
#[derive(Default, Debug)]
pub struct Outcome {
    /// The oldest generation that was collected.
    pub generation: usize,
    pub major: bool,
    /// Threads that nothing refers to: each needs an exception, or it is lost for good.
    pub resurrected: Vec<Tso>,
    /// Weak pointers whose keys have died. Before anything else runs, the caller must take
    /// their finalizers out, which are kept just now, and make them `DEAD_WEAK`: they have lost their keys, and those without
    /// finalizers in C their values.
    pub dead_weaks: Vec<Closure>,
    pub copied_words: usize,
    /// Those of them that had survived one collection before.
    pub aged_words: usize,
    /// What all generations hold, those not collected included; after a full collection all of it is alive.
    pub live: Used,
    /// The bytes of their blocks that hold nothing.
    pub slop: usize,
    /// The program uses more memory than it may.
    pub over_limit: bool,
    /// GC threads that took part.
    pub threads: usize,
    /// The most that one of them copied, and the part of all that was evenly shared.
    pub max_copied_words: usize,
    pub balanced_words: usize,
    pub phases: PhaseCosts,
    /// How many nanoseconds after the call the first helper was there, if one came.
    pub helper_late: Option<f64>,
    /// The part of the work that helpers did, if any were called.
    pub helped: Option<f64>,
}

impl Outcome {
    /// Rates how evenly the work was shared, from what each thread copied. Up to an even share
    /// each is *useful*; one thread alone does `1/n` of the work usefully, which counts as
    /// nothing, so that the balanced part is between none (serial) and all (perfect).
    fn balance(&mut self, copied: &[usize]) {
        let (n, all) = (copied.len(), self.copied_words);
        self.max_copied_words = copied.iter().copied().max().unwrap_or(0);
        if n > 1 {
            let useful: usize = copied.iter().map(|&c| (n * c).min(all)).sum();
            self.balanced_words = useful.saturating_sub(all) / (n - 1);
        }
    }
}

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
    let due = if request.deadlock { oldest } else { policy::next_generation_to_collect() };
    let generation = request.generation.max(due).min(oldest);
    for hec in hecs.iter_mut() {
        let t = hec.current();
        if !t.is_null() {
            dirty_tso(&mut hec.remembered, t);
            dirty_stack(hec, t.obj().stackobj);
        }
    }
    let check = policy::settings().check;
    if check {
        check::check_heap(hecs, extra_roots, "before a collection");
    }
    let allocated: usize = hecs.iter().map(|hec| hec.alloc.used()).sum();
    let from = allocated + blocks_of(&heap().gens[..=generation]) * BLOCK_BYTES;
    let survivors: usize = heap().gens[0].plain.iter().map(|&run| used_bytes(run)).sum();
    let old = blocks_of(&heap().gens[1..]);
    let muster = muster::muster(hecs.len(), generation, from);
    let watch = &mut Watch::start();
    let started = Instant::now();
    let mut outcome = match (generation == oldest, &muster) {
        (true, None) => run_alone::<true>(hecs, leader, generation, extra_roots, watch),
        (false, None) => run_alone::<false>(hecs, leader, generation, extra_roots, watch),
        (true, Some(m)) => run_together::<true>(m, hecs, leader, generation, extra_roots, watch),
        (false, Some(m)) => run_together::<false>(m, hecs, leader, generation, extra_roots, watch),
    };
    let ended = Instant::now();
    muster::record(&Measured {
        generation,
        threads: muster.map_or(1, |m| m.threads),
        from,
        copied: outcome.copied_words * WORD,
        nanoseconds: (ended - started).as_nanos() as f64,
        late: outcome.helper_late,
        helped: outcome.helped,
    });
    // All that a full collection copies is no measure of what a nursery holds.
    let copied = if outcome.major { 0 } else { outcome.copied_words * WORD };
    tenure().record(copied, survivors, outcome.aged_words * WORD);
    let promoted = blocks_of(&heap().gens[1..]).saturating_sub(old) * BLOCK_BYTES;
    let (run, stopped) = cycle::times(started, ended);
    let cycle = Cycle { full: outcome.major, allocated, copied: outcome.copied_words * WORD, promoted, run, stopped };
    keeping().record(&cycle);
    allowance().record(&cycle, COMPANY.is_one());
    if let Some(mut stretch) = policy::tried_now() {
        stretch.record(&cycle);
    }
    COMPANY.record(hecs.iter().map(|hec| hec.alloc.used()));
    resume(hecs, &mut outcome);
    watch.end(Phase::End);
    outcome.phases = watch.costs();
    if check {
        check::check_heap(hecs, extra_roots, "after a collection");
    }
    outcome
}

/// Shows every root but the remembered sets.
unsafe fn visit_roots(
    hecs: &mut [&mut Hec],
    extra_roots: &mut dyn FnMut(&mut Visitor),
    visit: &mut Visitor,
) {
    for hec in hecs.iter_mut() {
        hec.run_queue.roots(visit);
        hec.mail_roots(visit);
        if hec.r.current_tso != 0 {
            let mut c = Closure(hec.r.current_tso);
            visit(&mut c);
            hec.r.current_tso = c.0;
        }
    }
    roots::visit_registered(visit);
    extra_roots(visit);
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
    for (_, step, list) in take_remembered_sets(hecs, generation) {
        w.promoting(step);
        for c in list {
            w.scan_listed(c);
        }
    }
    w.drain();
    watch.end_copying(Phase::Remembered, w.copied_bytes());
    evacuate_roots(&mut w, hecs, extra_roots);
    w.drain();
    watch.end_copying(Phase::Roots, w.copied_bytes());
    w.settle_rest(&mut uncertain);
    watch.end_copying(Phase::Rest, w.copied_bytes());
    finish(&mut [w], hecs, generation, from, uncertain)
}

/// A collection by this thread and others.
unsafe fn run_together<const MAJOR: bool>(
    muster: &Muster,
    hecs: &mut [&mut Hec],
    leader: usize,
    generation: usize,
    extra_roots: &mut dyn FnMut(&mut Visitor),
    watch: &mut Watch,
) -> Outcome {
    let (from, mut uncertain) = begin::<MAJOR>(hecs, generation);
    watch.end(Phase::Begin);
    let mut team = Team::new(muster, hecs.len());
    let mut workers: Vec<_> =
        (0..muster.threads).map(|i| new_worker::<MAJOR, true>(i, generation)).collect();
    workers.iter_mut().for_each(|w| w.join(&mut team));
    let remembered = take_remembered_sets(hecs, generation);
    for (hec, step, list) in &remembered {
        team.deal(*hec, *step, list);
    }
    let all = Everybody(workers.as_mut_ptr());
    let help = |hand: Hand| all.help(hand.number, hand.hec.unwrap_or(leader + hand.number));
    let own = &mut *all.worker(0);
    team.employ(&help);
    team.begin();
    own.scan_deals(leader);
    own.drain();
    watch.end_copying(Phase::Remembered, all.copied_bytes(muster.threads));
    team.begin();
    evacuate_roots(own, hecs, extra_roots);
    own.drain();
    watch.end_copying(Phase::Roots, all.copied_bytes(muster.threads));
    own.settle_rest(&mut uncertain);
    watch.end_copying(Phase::Rest, all.copied_bytes(muster.threads));
    let mut outcome = finish(&mut workers, hecs, generation, from, uncertain);
    outcome.helper_late = team.helper_late();
    if team.was_called() {
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
        (*w.team).enter();
        w.scan_deals(home);
        w.drain();
    }
}

/// Makes the generations up to `generation` from-space.
unsafe fn begin<const MAJOR: bool>(
    hecs: &mut [&mut Hec],
    generation: usize,
) -> (FromSpace, Uncertain) {
    if MAJOR {
        FULL_COLLECTIONS += 1;
    }
    condemn(hecs, generation)
}

unsafe fn new_worker<const MAJOR: bool, const PARALLEL: bool>(
    me: usize,
    generation: usize,
) -> Worker<MAJOR, PARALLEL> {
    Worker::new(me, generation, statics::reached_mark(FULL_COLLECTIONS))
}

/// Evacuates what every root but the remembered sets refers to.
unsafe fn evacuate_roots<const MAJOR: bool, const PARALLEL: bool>(
    w: &mut Worker<MAJOR, PARALLEL>,
    hecs: &mut [&mut Hec],
    extra_roots: &mut dyn FnMut(&mut Visitor),
) {
    visit_roots(hecs, extra_roots, &mut |c| {
        if !c.is_null() {
            w.evacuate(&mut c.0);
        }
    });
    if MAJOR {
        let kept = if caf::keepCAFs { &heap().cafs } else { &heap().kept_cafs };
        for &caf in kept {
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

/// The runs that are being evacuated.
struct FromSpace {
    plain: Vec<Run>,
    large: Vec<Run>,
}

unsafe fn condemn_run(run: Run) {
    let age = blocks::run_age(run);
    blocks::set_age(run, Age(age.0 | Age::CONDEMNED));
}

/// Makes the nurseries and the generations up to `generation` from-space.
unsafe fn condemn(hecs: &mut [&mut Hec], generation: usize) -> (FromSpace, Uncertain) {
    let mut from = FromSpace { plain: Vec::new(), large: Vec::new() };
    let mut u = Uncertain {
        weaks: Vec::new(),
        threads: Vec::new(),
        resurrected: Vec::new(),
        dead_weaks: Vec::new(),
    };
    for gen in &mut heap().gens[..=generation] {
        gen.collections += 1;
        from.plain.append(&mut gen.take_plain());
        from.large.append(&mut gen.take_large());
        u.weaks.append(&mut gen.weaks);
        u.threads.append(&mut gen.threads);
    }
    for hec in hecs.iter_mut() {
        let (mut extra, mut large) = hec.alloc.end_cycle();
        from.plain.append(&mut extra);
        from.large.append(&mut large);
        u.weaks.append(&mut hec.new_weaks);
        u.threads.append(&mut hec.new_threads);
        hec.alloc.runs().for_each(|run| condemn_run(run));
        hec.spare_record = Closure::NULL;
    }
    for &run in from.plain.iter().chain(&from.large) {
        condemn_run(run);
    }
    compact::join_regions(&mut from.large);
    (from, u)
}

/// The old objects that may refer to condemned ones, old generations first, with the HECs that have remembered them and their steps.
unsafe fn take_remembered_sets(
    hecs: &mut [&mut Hec],
    generation: usize,
) -> Vec<(usize, u8, Vec<Closure>)> {
    let mut sets = Vec::new();
    for g in (0..heap().gens.len()).rev() {
        for (no, hec) in hecs.iter_mut().enumerate() {
            let list = std::mem::take(&mut hec.remembered.by_generation[g]);
            // Condemned ones are listed anew when their copies are scanned.
            if g > generation && !list.is_empty() {
                sets.push((no, g as u8 + 1, list));
            }
        }
    }
    sets
}

/// Frees from-space, and hands to-space to the generations.
unsafe fn finish<const MAJOR: bool, const PARALLEL: bool>(
    workers: &mut [Worker<MAJOR, PARALLEL>],
    hecs: &mut [&mut Hec],
    generation: usize,
    from: FromSpace,
    uncertain: Uncertain,
) -> Outcome {
    let poison = policy::settings().check;
    let gens = &mut heap().gens;
    let mut outcome = Outcome {
        generation,
        major: MAJOR,
        resurrected: uncertain.resurrected,
        dead_weaks: uncertain.dead_weaks,
        threads: workers.len(),
        ..Outcome::default()
    };
    collect_copies(workers, &mut outcome);
    for hec in hecs.iter_mut() {
        hec.alloc.drop_dead_pinned();
    }
    let held: usize = from.plain.iter().chain(&from.large).map(|&run| (*run).len as usize).sum();
    for run in from.plain {
        release(run, poison);
    }
    for run in from.large {
        let age = blocks::run_age(run);
        if age.is(Age::CONDEMNED) {
            release(run, poison);
        } else {
            gens[age.generation()].add_large(run);
        }
    }
    for w in workers.iter_mut() {
        let hec = &mut *hecs[w.home];
        for (set, list) in hec.remembered.by_generation.iter_mut().zip(&mut w.remembered) {
            set.append(list);
        }
    }
    let kept = blocks_of(gens);
    outcome.live = used_by(gens);
    outcome.slop = kept * BLOCK_BYTES - outcome.live.all();
    if MAJOR {
        let statics = workers.iter().map(|w| w.statics_scanned).sum();
        policy::set_limits(kept, held, statics);
    }
    outcome
}

/// Starts a new cycle.
unsafe fn resume(hecs: &mut [&mut Hec], outcome: &mut Outcome) {
    start_cycles(hecs, policy::nursery_bytes(hecs.len()), policy::settings().check);
    if outcome.major {
        policy::return_memory();
    }
    outcome.over_limit = policy::over_limit();
}

/// Hands all to-space to the generations. The runs that may have room left come last: the next
/// collection goes on filling them.
unsafe fn collect_copies<const MAJOR: bool, const PARALLEL: bool>(
    workers: &mut [Worker<MAJOR, PARALLEL>],
    outcome: &mut Outcome,
) {
    let gens = &mut heap().gens;
    let mut copied = vec![0; workers.len()];
    for step in 1..=gens.len() {
        let mut hand_over = |worker: usize, run: Run| {
            copied[worker] += used_bytes(run) / WORD;
            gens[step - 1].add_plain(run);
        };
        for (i, w) in workers.iter_mut().enumerate() {
            w.take_filled(step).into_iter().for_each(|run| hand_over(i, run));
        }
        for (i, w) in workers.iter_mut().enumerate() {
            w.take_open(step).into_iter().for_each(|run| hand_over(i, run));
        }
    }
    for (copied, w) in copied.iter_mut().zip(workers.iter()) {
        *copied -= w.resumed_bytes / WORD;
    }
    outcome.copied_words = copied.iter().sum();
    outcome.aged_words = workers.iter().map(|w| w.copied_from[Age::SURVIVOR.step()]).sum();
    outcome.balance(&copied);
}

/// Empties the nurseries; `bytes` is their new size.
unsafe fn start_cycles(hecs: &mut [&mut Hec], bytes: usize, poison: bool) {
    for hec in hecs.iter_mut() {
        for run in hec.alloc.runs() {
            if poison {
                fill(run);
            }
            blocks::set_age(run, Age::NURSERY);
        }
        hec.alloc.start_cycle();
        hec.spare_chunks.clear();
    }
    let mut areas: Vec<_> = hecs.iter_mut().map(|hec| &mut hec.alloc).collect();
    let piece = policy::piece_bytes(areas.len(), bytes);
    if !pieces::deal(&mut areas, bytes, piece) {
        out_of_memory(bytes);
    }
    for hec in hecs.iter_mut() {
        hec.alloc.large_limit = policy::large_limit(bytes);
        hec.r.current_nursery = hec.alloc.run;
    }
}

/// Frees a run.
unsafe fn release(run: Run, poison: bool) {
    if poison {
        fill(run);
    }
    free_run(run);
}

/// Overwrites a run with what is no address.
unsafe fn fill(run: Run) {
    std::ptr::write_bytes((*run).start as *mut u8, 0xaa, (*run).len as usize * BLOCK_BYTES);
}
