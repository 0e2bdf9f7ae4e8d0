//! The collector: generational copying, with aging and eager promotion.
//!
//! Ages (steps): the nursery is 0, survivors of one collection are 1, generation n is n+1. A
//! collection of generation N condemns every run of age up to N+1, which makes it from-space;
//! what is reached there is copied one step up (or saved in place, if it is large, pinned or
//! compact). An object that an old one refers to goes straight to the old one's generation.
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
//! The caller has stopped the world: every thread's registers are in its stack chunk, every
//! update frame's thunk is a black hole, and every HEC's Hp is saved.
pub mod arrays;
pub mod caf;
pub mod check;
pub mod compact;
pub mod evacuate;
pub mod policy;
pub mod roots;
pub mod scan;
pub mod selector;
pub mod shape;
pub mod stack;
pub mod statics;
#[cfg(test)]
mod tests;
pub mod weak;
pub mod worker;

use crate::contract::{Closure, Tso};
use crate::hec::{out_of_memory, Hec};
use crate::memory::blocks::{self, free_run, Run};
use crate::memory::{heap, Age, BLOCK_BYTES};
use crate::thread::queue::dirty_tso;
use roots::Visitor;
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
    /// their finalizers out and make them `DEAD_WEAK`: what they refer to is kept just now.
    pub dead_weaks: Vec<Closure>,
    pub copied_words: usize,
    /// Words in objects of all generations; after a full collection all of them are alive.
    pub live_words: usize,
    pub large_words: usize,
    /// Words lost at the ends of to-space runs.
    pub slop_words: usize,
    /// The program uses more memory than it may.
    pub over_limit: bool,
    /// GC threads that took part.
    pub threads: usize,
}

/// Full collections so far: marks static objects.
static mut FULL_COLLECTIONS: usize = 0;

/// Collects garbage. `extra_roots` shows the caller's own roots, beyond the registered ones,
/// the HECs' run queues and their current threads.
/// # Safety
/// The world is stopped, as the module's header says.
pub unsafe fn collect(
    hecs: &mut [&mut Hec],
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
        }
    }
    let check = policy::settings().check;
    if check {
        check::check_heap(hecs, extra_roots, "before a collection");
    }
    let outcome = if generation == oldest {
        run::<true>(hecs, generation, extra_roots)
    } else {
        run::<false>(hecs, generation, extra_roots)
    };
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
        if hec.r.current_tso != 0 {
            let mut c = Closure(hec.r.current_tso);
            visit(&mut c);
            hec.r.current_tso = c.0;
        }
    }
    roots::visit_registered(visit);
    extra_roots(visit);
}

unsafe fn run<const MAJOR: bool>(
    hecs: &mut [&mut Hec],
    generation: usize,
    extra_roots: &mut dyn FnMut(&mut Visitor),
) -> Outcome {
    let (from, mut uncertain) = condemn(hecs, generation);
    if MAJOR {
        FULL_COLLECTIONS += 1;
    }
    let mut w = Worker::<MAJOR>::new(generation, statics::reached_mark(FULL_COLLECTIONS));
    scan_remembered_sets(&mut w, hecs, generation);
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
    w.drain();
    w.settle_uncertain(&mut uncertain);
    roots::update_weak_tables(&mut |c| w.alive(c));
    if MAJOR {
        w.sweep_cafs();
    }
    finish(w, hecs, generation, from, uncertain)
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
        condemn_run(hec.alloc.run);
    }
    for &run in from.plain.iter().chain(&from.large) {
        condemn_run(run);
    }
    compact::join_regions(&mut from.large);
    (from, u)
}

/// Scans the old objects that may refer to condemned ones.
unsafe fn scan_remembered_sets<const MAJOR: bool>(
    w: &mut Worker<MAJOR>,
    hecs: &mut [&mut Hec],
    generation: usize,
) {
    let generations = heap().gens.len();
    for g in (0..generations).rev() {
        for hec in hecs.iter_mut() {
            let list = std::mem::take(&mut hec.remembered.by_generation[g]);
            if g <= generation {
                // Its objects are condemned: scanning their copies will list them anew.
                continue;
            }
            w.promoting(g as u8 + 1);
            for c in list {
                if w.in_heap(c.0) {
                    w.scan_remembered(c);
                } else {
                    w.scan_caf(c);
                }
            }
        }
        w.promoting(0);
    }
    w.drain();
}

/// Frees from-space, hands to-space to the generations, and starts a new cycle.
unsafe fn finish<const MAJOR: bool>(
    mut w: Worker<MAJOR>,
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
        threads: 1,
        ..Outcome::default()
    };
    for step in 1..=w.oldest as usize {
        for run in w.take_runs(step) {
            let used = (*run).free - (*run).start;
            outcome.copied_words += used / 8;
            outcome.slop_words += ((*run).len as usize * BLOCK_BYTES - used) / 8;
            gens[step - 1].add_plain(run);
        }
    }
    outcome.copied_words -= w.resumed_bytes / 8;
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
            outcome.large_words += ((*run).free - (*run).start) / 8;
            gens[age.generation()].add_large(run);
        }
    }
    for (g, list) in w.remembered.iter_mut().enumerate() {
        hecs[0].remembered.by_generation[g].append(list);
    }
    if MAJOR {
        outcome.live_words = gens.iter().map(|g| g.words()).sum();
        let live = gens.iter().map(|g| g.blocks()).sum();
        policy::set_limits(live, held);
    } else {
        outcome.live_words = outcome.copied_words + outcome.large_words;
    }
    start_cycles(hecs, policy::nursery_bytes(hecs.len()), poison);
    if MAJOR {
        policy::return_memory();
    }
    outcome.over_limit = policy::over_limit();
    outcome
}

/// Empties the nurseries; `bytes` is their new size.
unsafe fn start_cycles(hecs: &mut [&mut Hec], bytes: usize, poison: bool) {
    for hec in hecs.iter_mut() {
        let run = hec.alloc.run;
        if poison {
            fill(run);
        }
        blocks::set_age(run, Age::NURSERY);
        hec.alloc.start_cycle();
        if !hec.alloc.resize(bytes) {
            out_of_memory(bytes);
        }
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
