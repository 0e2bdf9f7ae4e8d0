//! Full collections of fixed objects: which of them others may refer to, and which of others' this PE still does.
//!
//! *Protocol*
//! 1. A full collection begins ([`condemned`]). Own runs of which others hold weights, or to which graphs refer that
//!    the protocols keep, are roots: all that their objects lead to. Other own runs, and all blocks of others that this
//!    PE holds weights on, have their objects marked (`rts/src/collector/fixed_space.rs`).
//! 2. Absent objects that have been asked for are roots, too: the answers will come. So is what clones of lent thunks
//!    refer to: if it is of a lost PE, nobody brings it again.
//! 3. At its end ([`on_swept`]) weights on blocks in which nothing was reached are returned.
//! 4. In a collection over all PEs (`global_gc/`) all own runs are condemned, and such weights are forgotten.
//!
//! *Why a returned weight and a packet on its way do not disturb each other*: what was reached in no block has been
//! cleared before its weight is returned. A packet that comes later has a weight of its own, and brings all that its
//! code needs.
//!
//! *Locking*: the world is stopped. The network task goes on, under the element's lock, but only adds and subtracts
//! weights: an own run with no weight gets none.
use crate::abi::{Closure, Info};
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Block;
use crate::collector::fixed_space::{self, FixedObjects, Swept};
use crate::collector::roots::{self, Scope, Visitor};
use crate::memory::address_space::{base, block_index, is_own, run_of};
use crate::memory::{block_alloc, exits, fixed_blocks, in_heap, Age, Run, BLOCK_BYTES};
use crate::spread::global_gc::{self, Exchanged};
use crate::spread::heap::{block_of, owner_of_block};
use crate::spread::remote_objects::{self, REMOTE_EXIT};
use crate::spread::travel::{self, present_function, Demand, ThunkKinds};
use crate::spread::{export, fields, parts, retained, run};
use std::collections::BTreeSet;
use std::sync::Mutex;

#[derive(Default)]
struct Roots {
    /// The own runs that are roots of the last full collection; or would be, if it went over all PEs.
    runs: Vec<usize>,
    are_condemned: bool,
    /// Blocks that others refer to within this process.
    rehearsed: BTreeSet<Block>,
}

static ROOTS: Mutex<Roots> = Mutex::new(Roots { runs: Vec::new(), are_condemned: false, rehearsed: BTreeSet::new() });

/// Keeps what a graph refers to, although there is no other processing element.
pub fn keep_blocks(blocks: &[Block]) {
    unpoisoned(ROOTS.lock()).rehearsed.extend(blocks);
}

fn is_evictable(address: usize) -> bool {
    let is_lost = || run::current().is_some_and(|run| run.is_lost(owner_of_block(block_of(address), run.count())));
    !retained::has_results(block_of(address)) && !is_lost()
}

/// Shows the references of a constructor, each with whether it may be cut.
unsafe fn each_reference(c: Closure, show: &mut dyn FnMut(*mut usize, bool)) {
    let (info, kinds) = (c.info(), &mut ThunkKinds::default());
    fields::each(c, info, &|function| present_function(function), |i| {
        let p = c.field(i);
        // What has been dropped already was no companion.
        let is_dropped = || p.untag().word(0) == 0;
        let is_free =
            in_heap(p.0) && (is_dropped() || matches!(travel::demand(kinds, info, false, p, p), Demand::Nothing));
        show(c.slot(i), is_free);
    });
}

/// Forgets what was kept.
#[cfg(test)]
pub fn clear() {
    *unpoisoned(ROOTS.lock()) = Roots::default();
}

unsafe fn run_of_block(block: Block) -> Run {
    run_of(base() + block.0 as usize * BLOCK_BYTES)
}

fn condemned(is_global: bool) -> Vec<Run> {
    let (mut referenced, mut held) = (unpoisoned(ROOTS.lock()).rehearsed.clone(), Vec::new());
    if let Some(run) = run::current() {
        run.step_without_hec(|step| {
            referenced.append(&mut step.referenced_blocks());
            held = step.held_blocks();
        });
    }
    // SAFETY: the world is stopped, and the runs are in use.
    unsafe {
        let first = |run: Run| block_index((*run).start) as u64;
        let is_root = |run: Run| {
            let blocks = Block(first(run))..Block(first(run) + u64::from((*run).len));
            referenced.range(blocks).next().is_some()
        };
        let (root, mut condemned): (Vec<Run>, Vec<Run>) =
            fixed_blocks::own_runs().into_iter().partition(|&r| is_root(r));
        if is_global {
            condemned.extend(&root);
        }
        let mut roots = unpoisoned(ROOTS.lock());
        roots.runs = root.into_iter().map(|run| run as usize).collect();
        roots.are_condemned = is_global;
        drop(roots);
        let pieces = &export::lock().pieces;
        held.retain(|block| pieces.is_usable(base() + block.0 as usize * BLOCK_BYTES));
        condemned.extend(held.into_iter().map(|block| run_of_block(block)));
        condemned
    }
}

fn on_swept(swept: &Swept) {
    // SAFETY: the world is stopped.
    let oldest = run::current().and_then(|run| run.step_without_hec(|step| step.oldest_loan()));
    unsafe {
        let export = &mut *export::lock();
        export.leave(&swept.dead);
        parts::forget_unreached(|address| is_own(address) || export.pieces.is_usable(address), oldest);
    }
    if let Some(run) = run::current() {
        // SAFETY: the runs are in use.
        let block = |&run: &Run| unsafe { Block(block_index((*run).start) as u64) };
        let reached: BTreeSet<Block> = swept.reached.iter().map(block).collect();
        retained::retain(|block| reached.contains(&block));
        let is_global = run.cycle.is_marked();
        run.step_without_hec(|step| step.collected(is_global, |block| reached.contains(&block)));
    }
}

fn is_held(address: usize) -> bool {
    let block = Block(block_index(address) as u64);
    run::current().is_none_or(|run| run.step_without_hec(|step| step.is_held(block)))
}

/// Shows all that an object of a root run refers to.
unsafe fn visit_fields(c: Closure, visit: &mut Visitor) {
    let info: Info = c.info();
    let kind = info.kind();
    if fields::is_function(kind) || fields::is_thunk(kind) {
        if let Some(mut srt) = info.srt() {
            visit(&mut srt);
        }
    }
    let mut visit_field = |i| visit(&mut *(c.slot(i) as *mut Closure));
    if remote_objects::is_remote(info) {
        return visit_field(REMOTE_EXIT);
    }
    fields::each(c, info, &|function| present_function(function), visit_field);
}

/// What others do in unit tests. In the end each phase is over.
#[cfg(test)]
static PLAYED: Mutex<std::collections::VecDeque<Exchanged>> = Mutex::new(std::collections::VecDeque::new());

#[cfg(test)]
pub fn play(others: impl IntoIterator<Item = Exchanged>) {
    *unpoisoned(PLAYED.lock()) = others.into_iter().collect();
}

fn exchange_with_others(found: Vec<usize>) -> Exchanged {
    #[cfg(test)]
    if run::current().is_none() {
        return unpoisoned(PLAYED.lock()).pop_front().unwrap_or(Exchanged::PhaseOver);
    }
    global_gc::exchange(run::joined(), found)
}

/// In a collection over all PEs: what others have marked here, when there is nothing more to trace.
fn exchange(found: Vec<usize>) -> Option<Vec<usize>> {
    match exchange_with_others(found) {
        Exchanged::Trace(objects) => Some(objects),
        Exchanged::PhaseOver => None,
        Exchanged::GivenUp => take_referenced_objects(),
    }
}

/// The objects of what would be roots in a collection of this PE alone; `None` if they have been taken.
fn take_referenced_objects() -> Option<Vec<usize>> {
    let mut objects = Vec::new();
    let runs = std::mem::take(&mut unpoisoned(ROOTS.lock()).runs);
    for &run in &runs {
        // SAFETY: the world is stopped, and the runs are condemned.
        unsafe {
            let run = run as Run;
            if block_alloc::run_age(run).is(Age::LARGE | Age::PINNED) {
                fixed_space::keep_run(run);
            } else {
                fixed_blocks::each_object(run, |c, _| objects.push(c.0));
            }
        }
    }
    (!runs.is_empty()).then_some(objects)
}

unsafe fn visit_roots(visit: &mut Visitor) {
    let roots = unpoisoned(ROOTS.lock());
    let (runs, are_condemned) =
        (if roots.are_condemned { Vec::new() } else { roots.runs.clone() }, roots.are_condemned);
    drop(roots);
    for run in runs.into_iter().map(|run| run as Run) {
        // What has become fixed in place are byte arrays.
        if !block_alloc::run_age(run).is(Age::LARGE | Age::PINNED) {
            fixed_blocks::each_object(run, |c, _| visit_fields(c, visit));
        }
    }
    if let Some(run) = run::current() {
        let asked = run.step_without_hec(|step| step.asked_addresses());
        asked.into_iter().for_each(|address| visit(&mut Closure(address.0 as usize)));
        let mut of_clones = run.step_without_hec(|step| step.clone_pointers());
        of_clones.iter_mut().for_each(&mut *visit);
        if are_condemned {
            global_gc::visit_roots(run, visit);
        }
    }
}

/// Registers what collections need to know.
/// # Safety
/// Called at start, by the one OS thread there is.
pub unsafe fn init() {
    fixed_space::register(FixedObjects { condemned, exchange, on_swept, is_evictable, each_reference, is_held });
    // SAFETY: roots are visited with the world stopped.
    roots::register_scoped(|visit: &mut Visitor, scope| unsafe {
        match scope {
            Scope::Young => exits::visit_young(visit),
            Scope::All => visit_roots(visit),
        }
    });
}
