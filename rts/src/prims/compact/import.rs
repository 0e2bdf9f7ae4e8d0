//! Import of a region: a region is made of blocks with the contents of another one, perhaps of another run of the same
//! program.
//!
//! *Protocol*
//!
//! 1. Blocks are allocated one by one, and chained through the `link` of their descriptors.
//! 2. The importer overwrites each block as a whole, including its header.
//! 3. Every pointer is moved by the same distance as the block that it points into. Until then the collector does not
//!    know the blocks.
use super::region::{self, Block, Region, FIRST_HEADER};
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::hec::Hec;
use crate::memory::address_space::run_of;
use crate::memory::object_size::size_of_object;
use crate::memory::{in_heap, Run};
use crate::prims::alloc::{admit, Answer, REFUSED};
use std::mem::size_of;
use std::ops::Range;

/// A block for `bytes` bytes, or another [`Answer`]. It follows the block `previous`, unless that is null.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_compact_allocate_block(hec: &mut Hec, bytes: usize, previous: usize) -> Answer {
    let bytes = bytes.max(FIRST_HEADER);
    if let Err(answer) = admit(hec, bytes) {
        return answer;
    }
    let Some(run) = region::new_run(bytes) else { return REFUSED };
    (*run).free = (*run).start + bytes;
    if previous != 0 {
        (*run_of(previous)).link = run as usize;
    }
    (*run).start
}

/// The old addresses of a block, and its new address.
struct Moved {
    old: Range<usize>,
    new: usize,
}

/// The new value of pointer `p` (tagged or not), given the blocks by their old addresses. `None` if it points into the
/// heap but not into a block.
fn new_address(moved: &[Moved], p: usize) -> Option<usize> {
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
            match new_address(moved, c.word(i)) {
                Some(p) => c.set_word(i, p),
                None => return false,
            }
        }
        at += size_of_object(c, info) * WORD;
    }
    true
}

/// Makes a region of the blocks that begin with `first`. Writes the new address of the object at `old_root` to `root`,
/// or null if the blocks do not belong together.
/// # Safety
/// The blocks came from [`hec_compact_allocate_block`], and were filled with the contents of a region of this program.
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
    let mut is_valid = true;
    for (i, &run) in runs.iter().enumerate() {
        let header = if i == 0 { FIRST_HEADER } else { size_of::<Block>() };
        is_valid = is_valid && fix_block(&moved, (*run).start + header, (*run).free);
        region::adopt(hec, region, run);
        region::allocate_in(region, run);
    }
    *root = if is_valid { new_address(&moved, old_root).unwrap_or(0) } else { 0 };
    region
}
