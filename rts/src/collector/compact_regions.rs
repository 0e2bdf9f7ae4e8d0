//! Compact regions: several runs that live and die together and are never scavenged.
//!
//! A region's objects refer only to each other and to static objects that lead to no CAF. So a pointer into the region
//! keeps the whole region alive, and nothing in it needs scavenging.
//!
//! *Invariants*
//! - `back` in the descriptor of each run is the address of the region's `StgCompactNFData`. That object lies in the
//!   first run, behind the header of its block.
//! - The blocks are chained through their headers `{self, owner, next}`.
//! - When tracing begins, all runs of a region have the age of its first run. A run added since the last collection has
//!   the age of the nursery, so [`join_regions`] corrects it first.
//!
//! *Checked by*: the unit test `compact_regions_live_and_die_whole`, and the heap checker.
use crate::memory::address_space::run_of;
use crate::memory::block_alloc;
use crate::memory::block_alloc::Run;
use crate::memory::{heap, Age};

/// Index of the word of a block's header that names the next block.
const BLOCK_NEXT: usize = 2;

/// Marks every run of a region as live.
/// # Safety
/// `first` is the first run of a complete region.
pub(super) unsafe fn keep_region(first: Run, saved: Age) {
    let mut block = (*first).start;
    while block != 0 {
        block_alloc::set_age(run_of(block), saved);
        block = *(block as *const usize).add(BLOCK_NEXT);
    }
}

/// Moves runs that were added to an old region into the generation of that region.
/// # Safety
/// All of from-space is condemned, and nothing has been traced.
pub(super) unsafe fn join_regions(new: &mut Vec<Run>) {
    new.retain(|&run| {
        if !block_alloc::run_age(run).is(Age::COMPACT) {
            return true;
        }
        let age = block_alloc::run_age(run_of((*run).back));
        if age.is(Age::CONDEMNED) {
            return true;
        }
        block_alloc::set_age(run, age);
        heap().gens[age.generation()].add_large(run);
        false
    });
}
