//! Making a region of blocks whose contents came from another region, perhaps of another run
//! of the same program: every pointer is moved by as much as its block.
//!
//! Blocks are allocated one by one, chained through the `link` of their descriptors, and
//! overwritten whole by the importer, headers included. Until the pointers are fixed the
//! collector does not know them.
use super::region::{self, Block, Region, FIRST_HEADER};
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::hec::Hec;
use crate::memory::address_space::run_of;
use crate::memory::object_size::size_of_object;
use crate::memory::{in_heap, Run};
use crate::prims::alloc::{admit, Answer, NO};
use std::mem::size_of;
use std::ops::Range;

/// A block that will hold `bytes`, after the block `previous` if that is not null, or another [`Answer`].
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_compact_allocate_block(hec: &mut Hec, bytes: usize, previous: usize) -> Answer {
    let bytes = bytes.max(FIRST_HEADER);
    if let Err(answer) = admit(hec, bytes) {
        return answer;
    }
    let Some(run) = region::new_run(bytes) else { return NO };
    (*run).free = (*run).start + bytes;
    if previous != 0 {
        (*run_of(previous)).link = run as usize;
    }
    (*run).start
}

/// Where a block was, and where it is.
struct Moved {
    old: Range<usize>,
    new: usize,
}

/// Where `p` (tagged or not) points now, given the blocks by their old addresses; `None` if it
/// points into the heap but to no block.
fn adjusted(moved: &[Moved], p: usize) -> Option<usize> {
    let after = moved.partition_point(|m| m.old.start <= p);
    match moved[..after].last().filter(|m| m.old.contains(&p)) {
        Some(m) => Some(p - m.old.start + m.new),
        None => (!in_heap(p)).then_some(p),
    }
}

/// Positions of the pointers of an object in a region.
unsafe fn pointers(c: Closure, info: Info) -> Range<usize> {
    match info.kind() {
        MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
            MUT_ARR_PAYLOAD..MUT_ARR_PAYLOAD + c.word(MUT_ARR_PTRS)
        }
        SMALL_MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => {
            SMALL_ARR_PAYLOAD..SMALL_ARR_PAYLOAD + c.word(SMALL_ARR_PTRS)
        }
        ARR_WORDS => 0..0,
        _ => 1..1 + info.ptrs(),
    }
}

unsafe fn fix_block(moved: &[Moved], from: usize, to: usize) -> bool {
    let mut at = from;
    while at < to {
        let c = Closure(at);
        let info = c.info();
        for i in pointers(c, info) {
            match adjusted(moved, c.word(i)) {
                Some(p) => c.set_word(i, p),
                None => return false,
            }
        }
        at += size_of_object(c, info) * WORD;
    }
    true
}

/// Makes a region of the blocks that begin with `first`. Writes to `root` where the object
/// that was at `old_root` is, or null if the blocks do not belong together.
/// # Safety
/// The blocks came from [`hec_compact_allocate_block`] and have been filled with the contents
/// of a region of this program.
#[no_mangle]
pub unsafe extern "C" fn hec_compact_fixup(
    hec: &mut Hec,
    first: usize,
    old_root: usize,
    root: *mut usize,
) -> *mut Region {
    let mut runs: Vec<Run> = Vec::new();
    let mut run = run_of(first);
    while !run.is_null() {
        runs.push(run);
        run = std::mem::take(&mut (*run).link) as Run;
    }
    let mut moved: Vec<Moved> = runs
        .iter()
        .map(|&r| {
            let (new, old) = ((*r).start, (*((*r).start as *const Block)).this);
            Moved { old: old..old + ((*r).free - new), new }
        })
        .collect();
    moved.sort_by_key(|m| m.old.start);
    let region = (first + size_of::<Block>()) as *mut Region;
    region::init(region, (*region).auto_words);
    let mut good = true;
    for (i, &run) in runs.iter().enumerate() {
        let header = if i == 0 { FIRST_HEADER } else { size_of::<Block>() };
        good = good && fix_block(&moved, (*run).start + header, (*run).free);
        region::adopt(hec, region, run);
        region::allocate_in(region, run);
    }
    *root = if good { adjusted(&moved, old_root).unwrap_or(0) } else { 0 };
    region
}
