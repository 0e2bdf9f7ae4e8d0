//! Compact regions: several runs that live and die together and are never scanned.
//!
//! `back` in the descriptor of each run is the address of the region's `StgCompactNFData`,
//! which lies in the first run, behind the header of its block; the blocks are chained through
//! their headers `{self, owner, next}`. Any pointer into the region keeps all of it. Objects in
//! it refer only to each other and to static objects that refer to no CAF, so a region need
//! not be looked into. A run added to a region since the last collection has the age of the
//! nursery while the region may be old: it joins the region before anything is traced.
use crate::memory::address_space::run_of;
use crate::memory::block_alloc;
use crate::memory::block_alloc::Run;
use crate::memory::{heap, Age};

/// Word of a block's header that names the next block.
const BLOCK_NEXT: usize = 2;

/// Marks every run of a region as saved.
/// # Safety
/// `first` is the first run of a region that is whole.
pub(super) unsafe fn keep_region(first: Run, saved: Age) {
    let mut block = (*first).start;
    while block != 0 {
        block_alloc::set_age(run_of(block), saved);
        block = *(block as *const usize).add(BLOCK_NEXT);
    }
}

/// Moves the runs that were added to older regions to the generation of their region.
/// # Safety
/// All of from-space is condemned already, and nothing traced yet.
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
