//! A compact region: a chain of runs of blocks. Each run has a header, and the first one has the region's object.
//!
//! *Invariants*
//!
//! - The address of the object (`StgCompactNFData`) identifies the region. The descriptor of each run has it in `back`.
//!   The collector keeps all runs alive if there is a pointer into one of them.
//! - Objects in a region point only into the region, and to static constructors without pointers. They are never
//!   scanned.
//! - A new run belongs to the large objects of the nursery. The collector moves it to the generation of its region.
use crate::abi::layout::*;
use crate::abi::{Closure, WORD};
use crate::hec::Hec;
use crate::info;
use crate::memory::address_space::run_of;
use crate::memory::{age_of, alloc_run, in_heap, Age, Run, BLOCK_BYTES};
use std::mem::size_of;

/// `StgCompactNFDataBlock`: the header of each run.
#[repr(C)]
pub struct Block {
    /// Address of the block when it was made. An importer adjusts pointers by it.
    pub this: usize,
    pub owner: usize,
    pub next: *mut Block,
}

/// `StgCompactNFData`.
#[repr(C)]
pub struct Region {
    pub info: usize,
    /// Words of all blocks.
    pub total_words: usize,
    /// Words of the smallest block that is added.
    pub auto_words: usize,
    pub hp: usize,
    pub hp_lim: usize,
    /// The block that `hp` is in.
    pub nursery: *mut Block,
    pub last: *mut Block,
    /// The record of copied objects while sharing is preserved (`sharing.rs`).
    pub hash: usize,
    /// The field for the copy of the root.
    pub result: usize,
    pub link: usize,
}

const BLOCK_HEADER: usize = size_of::<Block>();
/// Bytes of the first block before any data.
pub const FIRST_HEADER: usize = BLOCK_HEADER + size_of::<Region>();
/// Bytes of the largest block that `compactNew#` makes, or that is later added for the size that it was told.
const MAX_AUTO_BYTES: usize = 1 << 20;

const _: () = {
    assert!(size_of::<Region>() == SIZEOF_CompactNFData);
    assert!(size_of::<Block>() == SIZEOF_CompactBlock);
    assert!(std::mem::offset_of!(Region, result) == OFFSET_CompactNFData_result);
};

/// A run for a region, not yet part of it; `None` if memory is exhausted.
/// # Safety
/// As for [`alloc_run`].
pub unsafe fn new_run(bytes: usize) -> Option<Run> {
    alloc_run(bytes.div_ceil(BLOCK_BYTES), Age(Age::NURSERY.0 | Age::COMPACT))
}

/// Makes a run part of a region, also for the collector.
/// # Safety
/// The run is new, and the region's object is initialised.
pub unsafe fn adopt(hec: &mut Hec, region: *mut Region, run: Run) {
    let block = (*run).start as *mut Block;
    *block = Block { this: block as usize, owner: region as usize, next: std::ptr::null_mut() };
    (*run).back = region as usize;
    (*region).total_words += run_bytes(run) / WORD;
    if !(*region).last.is_null() {
        (*(*region).last).next = block;
    }
    (*region).last = block;
    hec.alloc.add_large_run(run);
    if hec.alloc.must_stop() {
        hec.interrupt();
    }
}

unsafe fn run_bytes(run: Run) -> usize {
    (*run).len as usize * BLOCK_BYTES
}

/// Continues allocation in the free part of a run of the region.
/// # Safety
/// The run belongs to the region.
pub unsafe fn allocate_in(region: *mut Region, run: Run) {
    (*region).nursery = (*run).start as *mut Block;
    (*region).hp = (*run).free;
    (*region).hp_lim = (*run).start + run_bytes(run);
}

fn auto_bytes(bytes: usize) -> usize {
    bytes.clamp(FIRST_HEADER, MAX_AUTO_BYTES).next_multiple_of(BLOCK_BYTES)
}

/// An empty region with room for about `bytes` bytes in its first block; null if memory is exhausted.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_compact_new(hec: &mut Hec, bytes: usize) -> *mut Region {
    let bytes = auto_bytes(bytes);
    let Some(run) = new_run(bytes) else { return std::ptr::null_mut() };
    let region = ((*run).start + BLOCK_HEADER) as *mut Region;
    (*run).free = (*run).start + FIRST_HEADER;
    init(region, bytes / WORD);
    adopt(hec, region, run);
    allocate_in(region, run);
    region
}

/// Initialises a region's object.
/// # Safety
/// There is room for it.
pub unsafe fn init(region: *mut Region, auto_words: usize) {
    *region = Region {
        info: info!(stg_COMPACT_NFDATA_CLEAN_info).0,
        total_words: 0,
        auto_words,
        hp: 0,
        hp_lim: 0,
        nursery: std::ptr::null_mut(),
        last: std::ptr::null_mut(),
        hash: 0,
        result: 0,
        link: 0,
    };
}

/// Room for an object of `words` words in the region; `None` if memory is exhausted.
/// # Safety
/// As for [`hec_compact_new`]; the caller fills it at once.
pub unsafe fn allocate(hec: &mut Hec, region: *mut Region, words: usize) -> Option<Closure> {
    let bytes = words * WORD;
    if (*region).hp + bytes > (*region).hp_lim {
        let wanted = (bytes + BLOCK_HEADER).max((*region).auto_words * WORD);
        let run = new_run(wanted)?;
        (*run).free = (*run).start + BLOCK_HEADER;
        adopt(hec, region, run);
        allocate_in(region, run);
    }
    let at = (*region).hp;
    (*region).hp += bytes;
    (*run_of((*region).nursery as usize)).free = (*region).hp;
    Some(Closure(at))
}

/// The region of a closure, or null.
/// # Safety
/// `c` is live.
#[inline]
pub unsafe fn region_of(c: Closure) -> *mut Region {
    if in_heap(c.0) && age_of(c.0).is(Age::COMPACT) {
        (*run_of(c.0)).back as *mut Region
    } else {
        std::ptr::null_mut()
    }
}

/// # Safety
/// As for [`hec_compact_new`].
#[no_mangle]
pub unsafe extern "C" fn hec_compact_resize(region: *mut Region, bytes: usize) {
    (*region).auto_words = auto_bytes(bytes) / WORD;
}

/// Is `c` in this region, or in any region if `region` is null?
/// # Safety
/// `c` is live.
#[no_mangle]
pub unsafe extern "C" fn hec_compact_contains(region: *mut Region, c: Closure) -> usize {
    let found = region_of(c);
    (!found.is_null() && (region.is_null() || found == region)) as usize
}

/// The block after `block`, or the region's first one if `block` is null. Writes the number of bytes used in it to
/// `used`.
/// # Safety
/// `block` belongs to the region.
#[no_mangle]
pub unsafe extern "C" fn hec_compact_next_block(
    region: *mut Region,
    block: *mut Block,
    used: *mut usize,
) -> *mut Block {
    let next = if block.is_null() { (region as usize - BLOCK_HEADER) as *mut Block } else { (*block).next };
    *used = if next.is_null() { 0 } else { (*run_of(next as usize)).free - next as usize };
    next
}
