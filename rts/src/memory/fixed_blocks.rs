//! Blocks of fixed objects: objects that never move, because other processing elements (PEs) may refer to them.
//!
//! *Invariants*
//!
//! - They have the age [`Age::FIXED`]. So they are old for compiled code, and only a full collection condemns them
//!   (`rts/src/collector/fixed_space.rs`).
//! - In this PE's slice they are runs that [`Area`]s fill from the front. In the slices of others a word that is not 0
//!   belongs to an object that has arrived, or is the header of an absent one.
//! - An object ends in the block in which it begins, or it is alone in a run of its own. So references can be counted
//!   by blocks, and a block can be cleared by itself.
//!
//! *When a full collection is due*: when as much has been made or has arrived since the last one as that one has left,
//! and a quarter of what the old generations hold.
//!
//! *Locking*: the export lock (`rts/src/spread/export.rs`). The list of runs has a lock, too. The collector has stopped
//! the world.
use crate::abi::{Closure, WORD};
use crate::base::poison::unpoisoned;
use crate::memory::address_space::{commit_piece, in_heap, is_own, piece_of, piece_start};
use crate::memory::object_size::size_of_object;
use crate::memory::{age_of, alloc_run, block_alloc, blocks_of, heap, Age, Run, BLOCK_BYTES};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Mutex;

/// Growth for which no collection is due (8 MB): less than the nurseries of a HEC may have.
const MIN_GROWTH: usize = 8 << 20;
/// Which part of the old generations the growth must reach: they are traced, too.
const OLD_DIVISOR: usize = 4;

struct Runs(Vec<Run>);

// SAFETY: descriptors of runs may be read by any thread; who writes them is said where they are used.
unsafe impl Send for Runs {}

/// This PE's runs of fixed objects.
static RUNS: Mutex<Runs> = Mutex::new(Runs(Vec::new()));
/// Bytes made or arrived since the last full collection, and bytes that it has left.
static GROWN: AtomicUsize = AtomicUsize::new(0);
static LEFT: AtomicUsize = AtomicUsize::new(0);
/// Bytes that the last full collection has left in the slices of others, and that have arrived there since.
static CACHED: AtomicUsize = AtomicUsize::new(0);

/// Does the closure, with any tag, lie in a block of fixed objects?
#[inline(always)]
pub fn is_fixed(c: Closure) -> bool {
    in_heap(c.0) && age_of(c.0).is_fixed()
}

/// A run of this PE's slice that is being filled.
#[derive(Default)]
pub struct Area {
    run: Option<Run>,
}

// SAFETY: a run is used by the holder of the area alone.
unsafe impl Send for Area {}

impl Area {
    /// Room for an object of `words` words, which the caller fills at once. `None` if memory is exhausted.
    /// # Safety
    /// The heap's range has been reserved.
    pub unsafe fn allocate(&mut self, words: usize) -> Option<Closure> {
        let bytes = words * WORD;
        let room = |run: Run| (*run).start + BLOCK_BYTES - (*run).free;
        let run = match self.run {
            Some(run) if room(run) >= bytes => run,
            _ => {
                let run = new_run(bytes.div_ceil(BLOCK_BYTES))?;
                if bytes < BLOCK_BYTES {
                    self.run = Some(run);
                }
                run
            }
        };
        let at = (*run).free;
        (*run).free = at + bytes;
        Some(Closure(at))
    }

    /// These runs are freed.
    pub fn leave(&mut self, dead: &[Run]) {
        self.run = self.run.filter(|run| !dead.contains(run));
    }
}

unsafe fn new_run(blocks: usize) -> Option<Run> {
    let run = alloc_run(blocks, Age::FIXED)?;
    unpoisoned(RUNS.lock()).0.push(run);
    note_growth(blocks * BLOCK_BYTES);
    Some(run)
}

/// This PE's runs of fixed objects.
pub fn own_runs() -> Vec<Run> {
    unpoisoned(RUNS.lock()).0.clone()
}

/// A full collection has left these runs, and `cached` bytes in the slices of others.
/// # Safety
/// They are in use.
pub unsafe fn on_collected(runs: Vec<Run>, cached: usize) {
    let own: usize = runs.iter().map(|&run| (*run).len as usize * BLOCK_BYTES).sum();
    LEFT.store(own + cached, Relaxed);
    CACHED.store(cached, Relaxed);
    GROWN.store(0, Relaxed);
    unpoisoned(RUNS.lock()).0 = runs;
}

/// Bytes in the slices of others have arrived.
pub fn note_arrival(bytes: usize) {
    CACHED.fetch_add(bytes, Relaxed);
    note_growth(bytes);
}

/// Bytes made or arrived since the last full collection.
pub fn grown() -> usize {
    GROWN.load(Relaxed)
}

/// Bytes in the slices of others.
pub fn cached() -> usize {
    CACHED.load(Relaxed)
}

/// Bytes that the last full collection has left, those of other slices included.
pub fn left() -> usize {
    LEFT.load(Relaxed)
}

/// Forgets all runs, because the heap is empty.
#[cfg(test)]
pub fn clear() {
    // SAFETY: there is none.
    unsafe { on_collected(Vec::new(), 0) }
}

/// Bytes of fixed objects have been made.
fn note_growth(bytes: usize) {
    GROWN.fetch_add(bytes, Relaxed);
}

/// Is a full collection due, to free fixed objects?
/// # Safety
/// The caller holds a HEC, or has stopped the world.
pub unsafe fn is_collection_due() -> bool {
    let grown = GROWN.load(Relaxed);
    grown > MIN_GROWTH && {
        let old = blocks_of(&heap().gens[1..]) * BLOCK_BYTES / OLD_DIVISOR;
        grown > LEFT.load(Relaxed).max(old)
    }
}

/// Calls `f` with each object in a run of copies or cells. Words of 0 are skipped: there is nothing.
/// # Safety
/// The run is in use, and its objects are whole.
pub unsafe fn each_object(run: Run, mut f: impl FnMut(Closure, usize)) {
    let mut at = Closure((*run).start);
    while at.0 < (*run).free {
        let words = if at.word(0) == 0 { 1 } else { size_of_object(at, at.info()) };
        if at.word(0) != 0 {
            f(at, words);
        }
        at = Closure(at.slot(words) as usize);
    }
}

/// Makes a large object, or a block of pinned arrays, fixed where it is. It stays on the lists of its generation until
/// the next collection of that.
/// # Safety
/// `run` is large or pinned, and in this PE's slice.
pub unsafe fn fix_in_place(run: Run) {
    let age = block_alloc::run_age(run);
    debug_assert!(age.is(Age::LARGE | Age::PINNED));
    block_alloc::set_age(run, Age(Age::FIXED.0 | age.0 & (Age::LARGE | Age::PINNED)));
    unpoisoned(RUNS.lock()).0.push(run);
    note_growth((*run).len as usize * BLOCK_BYTES);
}

/// The pieces of other slices that are usable.
#[derive(Default)]
pub struct Pieces(HashSet<usize>);

impl Pieces {
    /// Makes the memory of other slices usable from one address to another. False if the system refuses.
    /// # Safety
    /// The addresses are in the heap's range and in no part of this PE's slice.
    pub unsafe fn make_usable(&mut self, from: usize, to: usize) -> bool {
        (piece_of(from)..=piece_of(to - WORD)).all(|piece| {
            if self.0.contains(&piece) {
                return true;
            }
            let at = from.max(piece_start(piece));
            debug_assert!(!is_own(at));
            let Some(blocks) = commit_piece(at) else { return false };
            block_alloc::adopt_fixed(blocks);
            self.0.insert(piece)
        })
    }

    /// May the word at an address of the heap's range be read?
    pub fn is_usable(&self, addr: usize) -> bool {
        is_own(addr) || self.0.contains(&piece_of(addr))
    }
}
