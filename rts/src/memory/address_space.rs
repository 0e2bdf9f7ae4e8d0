//! The reserved address range of the heap, and its side tables.
//!
//! *Invariants*
//!
//! - Block `i` is the `BLOCK_BYTES` bytes at `base + i * BLOCK_BYTES`. Its age is `ages[i]`, its descriptor `descs[i]`.
//! - The range and both tables are reserved at start and touched only as the heap grows. So an address is looked up
//!   with a subtraction, a shift and a load.
//! - `base` and `bytes` are written once, before any Haskell runs. `committed` only grows.
//!
//! *Locking*: `committed` is written under the lock of the block allocator (`block_alloc.rs`).
use crate::abi::{BlockDesc, Closure};
use crate::memory::Age;
use std::ptr;

pub const BLOCK_LOG: usize = 14;
pub const BLOCK_BYTES: usize = 1 << BLOCK_LOG;
pub const BLOCK_WORDS: usize = BLOCK_BYTES / 8;
/// The largest range that is asked for (1 TB, beyond any machine's memory), and the smallest that is accepted (16 MB).
const MAX_RANGE_BYTES: usize = 1 << 40;
const MIN_RANGE_BYTES: usize = 1 << 24;
/// Address space that is left for C's heap, stacks and libraries, at least.
const MIN_SPARE_BYTES: usize = 16 << 20;
/// Bytes that are made usable at a time when the heap grows: fewer system calls than for single blocks.
const COMMIT_BYTES: usize = 4 << 20;
/// Preferred address of the heap: far from the executable, the libraries and C's heap.
const PREFERRED_BASE: usize = 0x42_0000_0000;

pub(super) struct Space {
    pub base: usize,
    pub bytes: usize,
    pub ages: *mut u8,
    pub descs: *mut BlockDesc,
    /// Bytes from `base` that may be touched.
    pub committed: usize,
}

pub(super) static mut SPACE: Space =
    Space { base: 0, bytes: 0, ages: ptr::null_mut(), descs: ptr::null_mut(), committed: 0 };

/// `ages - (base >> BLOCK_LOG)`: what Cmm adds to `address >> 14` to find an age byte.
#[no_mangle]
pub static mut hec_meta_bias: usize = 0;

unsafe fn map(hint: usize, bytes: usize, prot: i32) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let p = libc::mmap(hint as *mut libc::c_void, bytes, prot, flags, -1, 0);
    (p != libc::MAP_FAILED).then_some(p as usize)
}

/// Reserves the address range and its side tables. Where address space is limited (`ulimit -v`), takes as much as
/// leaves some for C's heap, stacks and libraries.
/// # Errors
/// If the system does not give enough for a small heap.
/// # Safety
/// Called once, before any other function of `memory`.
pub unsafe fn reserve() -> Result<(), String> {
    let mut bytes = MAX_RANGE_BYTES;
    while bytes >= MIN_RANGE_BYTES {
        if reserve_range(bytes) {
            return Ok(());
        }
        // Tries powers of two, and the middle between them.
        bytes = if bytes.is_power_of_two() { bytes / 4 * 3 } else { bytes / 3 * 2 };
    }
    Err("cannot reserve address space for the heap".into())
}

unsafe fn reserve_range(bytes: usize) -> bool {
    let blocks = bytes >> BLOCK_LOG;
    // One block more than needed, so that the base can be aligned.
    let length = bytes + BLOCK_BYTES;
    let spare = (bytes / 2).max(MIN_SPARE_BYTES);
    let Some(range) = map(PREFERRED_BASE, length + spare, libc::PROT_NONE) else {
        return false;
    };
    let rw = libc::PROT_READ | libc::PROT_WRITE;
    let ages = map(0, blocks, rw);
    let descs = map(0, blocks * std::mem::size_of::<BlockDesc>(), rw);
    libc::munmap((range + length) as *mut libc::c_void, spare);
    let (Some(ages), Some(descs)) = (ages, descs) else {
        libc::munmap(range as *mut libc::c_void, length);
        if let Some(a) = ages {
            libc::munmap(a as *mut libc::c_void, blocks);
        }
        if let Some(d) = descs {
            libc::munmap(d as *mut libc::c_void, blocks * std::mem::size_of::<BlockDesc>());
        }
        return false;
    };
    let base = (range + BLOCK_BYTES - 1) & !(BLOCK_BYTES - 1);
    SPACE = Space { base, bytes, ages: ages as *mut u8, descs: descs as *mut BlockDesc, committed: 0 };
    hec_meta_bias = ages.wrapping_sub(base >> BLOCK_LOG);
    true
}

/// Makes the first `bytes` of the range usable. False if the system refuses or the range ends.
pub(super) unsafe fn commit(bytes: usize) -> bool {
    let space = &mut *ptr::addr_of_mut!(SPACE);
    if bytes <= space.committed {
        return true;
    }
    if bytes > space.bytes {
        return false;
    }
    let end = ((bytes + COMMIT_BYTES - 1) & !(COMMIT_BYTES - 1)).min(space.bytes);
    let from = (space.base + space.committed) as *mut libc::c_void;
    let rw = libc::PROT_READ | libc::PROT_WRITE;
    if libc::mprotect(from, end - space.committed, rw) != 0 {
        return false;
    }
    space.committed = end;
    true
}

/// Blocks that may be touched.
pub(super) fn committed_blocks() -> usize {
    // SAFETY: read under the lock of the block allocator, under which it grows.
    unsafe { SPACE.committed >> BLOCK_LOG }
}

/// Asks the system to back `blocks` blocks from `first` on with pages now: one call for many pages is far cheaper than
/// a page fault for each. Before Linux 5.14 the call fails, and pages are backed when they are touched. May change
/// `errno`.
/// # Safety
/// The blocks are committed, and will be used soon.
pub(super) unsafe fn populate(first: usize, blocks: usize) {
    let at = (SPACE.base + (first << BLOCK_LOG)) as *mut libc::c_void;
    libc::madvise(at, blocks << BLOCK_LOG, libc::MADV_POPULATE_WRITE);
}

/// Start of the heap's range.
#[inline(always)]
pub fn base() -> usize {
    // SAFETY: SPACE is written once, before any Haskell runs.
    unsafe { SPACE.base }
}

/// Length of the heap's range.
#[inline(always)]
pub fn range_bytes() -> usize {
    // SAFETY: as above.
    unsafe { SPACE.bytes }
}

/// The offset to add to `address >> BLOCK_LOG` to find an age byte.
#[inline(always)]
pub fn age_bias() -> usize {
    // SAFETY: as above.
    unsafe { hec_meta_bias }
}

/// Is this address in the heap's range? (Static closures are not.)
#[inline(always)]
pub fn in_heap(addr: usize) -> bool {
    // SAFETY: SPACE is written once, before any Haskell runs.
    unsafe { addr.wrapping_sub(SPACE.base) < SPACE.bytes }
}

/// Index of the block that holds a heap address.
#[inline(always)]
pub fn block_index(addr: usize) -> usize {
    debug_assert!(in_heap(addr), "{addr:#x} is not a heap address");
    unsafe { (addr - SPACE.base) >> BLOCK_LOG }
}

/// The age byte of the block that holds a heap address.
#[inline(always)]
pub fn age_of(addr: usize) -> Age {
    debug_assert!(in_heap(addr), "{addr:#x} is not a heap address");
    unsafe { Age(*(hec_meta_bias.wrapping_add(addr >> BLOCK_LOG) as *const u8)) }
}

/// Is the closure (tagged or not) an old object? Static closures are not.
#[inline(always)]
pub fn is_old(c: Closure) -> bool {
    in_heap(c.0) && age_of(c.0).is_old()
}

#[inline(always)]
pub(super) fn age_slot(index: usize) -> *mut u8 {
    unsafe { SPACE.ages.add(index) }
}

/// Descriptor of block `index`.
#[inline(always)]
pub fn desc(index: usize) -> *mut BlockDesc {
    unsafe { SPACE.descs.add(index) }
}

/// Descriptor of the run that holds a heap address.
/// # Safety
/// The address lies in a run in use.
#[inline(always)]
pub unsafe fn run_of(addr: usize) -> *mut BlockDesc {
    desc((*desc(block_index(addr))).head as usize)
}
