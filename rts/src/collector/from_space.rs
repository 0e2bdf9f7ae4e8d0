//! From-space and to-space: condemns runs before a collection, frees them afterwards, and starts the nurseries' next
//! cycle.
//!
//! *Protocol*
//! 1. [`condemn`] marks the runs of the collected generations and the nurseries as from-space.
//! 2. [`forward_to_copies`] forwards what has a fixed copy.
//! 3. [`take_remembered_sets`] takes the remembered sets of the generations that are not collected.
//! 4. The workers trace.
//! 5. [`finish`] frees from-space and hands the workers' to-space runs to the generations.
//! 6. [`resume`] resizes and empties the nurseries.
//!
//! *Locking*: the world is stopped, and one GC worker calls all of these.
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::collector::policy::{heap_limits, max_heap};
use crate::collector::request::Outcome;
use crate::collector::roots;
use crate::collector::trace::header::FORWARDED;
use crate::collector::trace::weak::Uncertain;
use crate::collector::trace::worker::Worker;
use crate::collector::{compact_regions, fixed_space};
use crate::hec::{out_of_memory, Hec};
use crate::memory::block_alloc;
use crate::memory::block_alloc::{free_run, used_bytes, Run};
use crate::memory::{
    age_of, blocks_of, heap, in_heap, nursery_distribution, remembered_set, used_by, Age, BLOCK_BYTES,
};

/// The runs that are being evacuated.
pub(super) struct FromSpace {
    plain: Vec<Run>,
    large: Vec<Run>,
}

unsafe fn condemn_run(run: Run) {
    let age = block_alloc::run_age(run);
    block_alloc::set_age(run, Age(age.0 | Age::CONDEMNED));
}

/// Hands to the oldest generation what HECs have pretenured in it: all of it if that generation is to be collected.
pub(super) unsafe fn take_pretenured(hecs: &mut [&mut Hec], generation: usize) {
    let oldest = heap().oldest();
    for hec in hecs.iter_mut() {
        hec.pretenured.release_to(&mut heap().gens[oldest], generation == oldest);
    }
}

/// Makes the nurseries and the generations up to `generation` from-space.
pub(super) unsafe fn condemn(hecs: &mut [&mut Hec], generation: usize) -> (FromSpace, Uncertain) {
    let mut from = FromSpace { plain: Vec::new(), large: Vec::new() };
    let mut u = Uncertain { weaks: Vec::new(), threads: Vec::new(), resurrected: Vec::new(), dead_weaks: Vec::new() };
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
    // What has become fixed in place belongs to no generation any more.
    from.large.retain(|&run| !block_alloc::run_age(run).is_fixed());
    for &run in from.plain.iter().chain(&from.large) {
        condemn_run(run);
    }
    compact_regions::join_regions(&mut from.large);
    (from, u)
}

/// Forwards condemned objects to the copies that others have made of them, if these are equal.
pub(super) unsafe fn forward_to_copies() {
    roots::show_copies(&mut |original, copy| {
        if !in_heap(original.0) || !age_of(original.0).is_condemned_plain() {
            return;
        }
        // In a full collection it may be garbage.
        if in_heap(copy.0) && age_of(copy.0).is(Age::CONDEMNED) {
            return;
        }
        let header = original.word(0);
        let is_constant = |info: Info| {
            let constructor = matches!(info.kind(), CONSTR..=CONSTR_NOCAF);
            constructor || matches!(info.kind(), FUN..=FUN_0_2 | PAP)
        };
        if header & FORWARDED == 0 && header == copy.word(0) && is_constant(Info(header)) {
            original.set_word(0, copy.0 | FORWARDED);
        }
    });
}

/// Takes the remembered sets of the generations that are not collected, older ones first. Each entry has the number of
/// its HEC, its step and the objects.
pub(super) unsafe fn take_remembered_sets(hecs: &mut [&mut Hec], generation: usize) -> Vec<(usize, u8, Vec<Closure>)> {
    let mut sets = Vec::new();
    for g in (0..heap().gens.len()).rev() {
        for (no, hec) in hecs.iter_mut().enumerate() {
            let list = std::mem::take(&mut hec.remembered.by_generation[g]);
            // Condemned objects are listed again when their copies are scavenged.
            if g > generation && !list.is_empty() {
                sets.push((no, g as u8 + 1, list));
            }
        }
    }
    sets
}

/// Frees from-space and hands to-space to the generations.
pub(super) unsafe fn finish<const MAJOR: bool, const PARALLEL: bool>(
    workers: &mut [Worker<MAJOR, PARALLEL>],
    hecs: &mut [&mut Hec],
    generation: usize,
    from: FromSpace,
    uncertain: Uncertain,
) -> Outcome {
    let poison = heap_limits::settings().check;
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
    if MAJOR {
        fixed_space::free_dead(|run| release(run, poison));
    }
    for run in from.plain {
        release(run, poison);
    }
    for run in from.large {
        let age = block_alloc::run_age(run);
        if age.is(Age::CONDEMNED) {
            release(run, poison);
        } else {
            gens[age.generation()].add_large(run);
        }
    }
    for w in workers.iter_mut() {
        let hec = &mut *hecs[w.home];
        for (set, list) in hec.remembered.by_generation.iter_mut().zip(&mut w.remembered) {
            remembered_set::append(set, std::mem::take(list));
        }
    }
    let kept = blocks_of(gens);
    outcome.live = used_by(gens);
    outcome.slop = kept * BLOCK_BYTES - outcome.live.all();
    if MAJOR {
        let statics = workers.iter().map(|w| w.statics_scanned).sum();
        heap_limits::set_limits(kept, held, statics);
    }
    outcome
}

/// Starts a new allocation cycle.
pub(super) unsafe fn resume(hecs: &mut [&mut Hec], outcome: &mut Outcome) {
    start_cycles(hecs, heap_limits::nursery_bytes(hecs.len()), heap_limits::settings().check);
    if outcome.major {
        heap_limits::return_memory();
    }
    outcome.over_limit = max_heap::has_overflowed(outcome.major);
    outcome.full_is_due = !outcome.major && max_heap::is_used_up();
}

/// Hands all to-space to the generations. Open runs come last: the next collection continues to fill them.
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
    outcome.scanned_bytes = workers.iter().map(|w| w.scanned_in_place).sum();
    outcome.aged_words = workers.iter().map(|w| w.copied_from[Age::SURVIVOR.step()]).sum();
    outcome.promoted_words = workers.iter().flat_map(|w| &w.copied_from[Age::SURVIVOR.step() + 1..]).sum();
    outcome.balance(&copied);
}

/// Empties the nurseries and sets their size to `bytes`.
unsafe fn start_cycles(hecs: &mut [&mut Hec], bytes: usize, poison: bool) {
    for hec in hecs.iter_mut() {
        for run in hec.alloc.runs() {
            if poison {
                fill(run);
            }
            block_alloc::set_age(run, Age::NURSERY);
        }
        hec.alloc.start_cycle();
        hec.spare_chunks.clear();
    }
    let mut areas: Vec<_> = hecs.iter_mut().map(|hec| &mut hec.alloc).collect();
    let chunk = heap_limits::chunk_bytes(areas.len(), bytes);
    if !nursery_distribution::distribute(&mut areas, bytes, chunk) {
        out_of_memory(bytes);
    }
    for hec in hecs.iter_mut() {
        hec.alloc.large_limit = heap_limits::large_limit(bytes);
        hec.pretenured.start_cycle(bytes);
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

/// Overwrites a run with a pattern that is no valid address.
unsafe fn fill(run: Run) {
    std::ptr::write_bytes((*run).start as *mut u8, 0xaa, (*run).len as usize * BLOCK_BYTES);
}
