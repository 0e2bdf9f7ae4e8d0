//! Blocks of fixed objects: objects that never move, because other processing elements (PEs) may refer to them.
//!
//! *Invariants*
//!
//! - They have the age [`Age::FIXED`]. So they are old for compiled code, and no collection condemns them.
//! - In this PE's slice they are runs that [`Area`]s fill from the front. In the slices of others a word that is not 0
//!   belongs to an object that has arrived, or is the header of an absent one.
//! - They are not freed yet.
//!
//! *Locking*: the export lock (`rts/src/spread/export.rs`). The collector reads ages and descriptors only.
use crate::abi::{Closure, WORD};
use crate::memory::address_space::{commit_piece, in_heap, is_own, piece_of, piece_start};
use crate::memory::{age_of, alloc_run, block_alloc, Age, Run, BLOCK_BYTES};
use std::collections::HashSet;

/// Blocks of a run (256 KB): objects that are exported together are mostly adjacent.
const RUN_BLOCKS: usize = 16;

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
        let room = |run: Run| (*run).start + (*run).len as usize * BLOCK_BYTES - (*run).free;
        let run = match self.run {
            Some(run) if room(run) >= bytes => run,
            _ => {
                let run = alloc_run(RUN_BLOCKS.max(bytes.div_ceil(BLOCK_BYTES)), Age::FIXED)?;
                self.run = Some(run);
                run
            }
        };
        let at = (*run).free;
        (*run).free = at + bytes;
        Some(Closure(at))
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
