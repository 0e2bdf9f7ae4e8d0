//! The reserved address range of the heap, and its side tables.
//!
//! *Invariants*
//!
//! - Block `i` is the `BLOCK_BYTES` bytes at `base + i * BLOCK_BYTES`. Its age is `ages[i]`, its descriptor `descs[i]`.
//! - The range and both tables are reserved at start and touched only as the heap grows. So an address is looked up
//!   with a subtraction, a shift and a load.
//! - Of several processing elements each has a slice of the range, and allocates there only. The side tables are usable
//!   where blocks are: accounting of memory must not count them for the slices of others.
//! - All but `committed` are written once, before any Haskell runs. `committed` only grows.
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
const PAGE_BYTES: usize = 4096;
/// Preferred address of the heap: far from the executable, the libraries and C's heap.
const PREFERRED_BASE: usize = 0x42_0000_0000;
/// Slices of processing elements: 256 GB for each of up to 16, 32 GB for each of more. Machines that run as many have
/// less memory, and the address space has room for 1,000 slices.
const FEW_SLICES: usize = 16;
const LARGE_SLICE_BYTES: usize = 256 << 30;
const SMALL_SLICE_BYTES: usize = 32 << 30;

pub(super) struct Space {
    pub base: usize,
    pub bytes: usize,
    pub ages: *mut u8,
    pub descs: *mut BlockDesc,
    /// Bytes from `base` to the start and to the end of this process's slice.
    start: usize,
    end: usize,
    /// Bytes from `base` to the end of what may be touched.
    pub committed: usize,
    /// The side tables become usable with the blocks.
    lazy_tables: bool,
}

pub(super) static mut SPACE: Space = Space {
    base: 0,
    bytes: 0,
    ages: ptr::null_mut(),
    descs: ptr::null_mut(),
    start: 0,
    end: 0,
    committed: 0,
    lazy_tables: false,
};

/// `ages - (base >> BLOCK_LOG)`: what Cmm adds to `address >> 14` to find an age byte.
#[no_mangle]
pub static mut hec_meta_bias: usize = 0;

unsafe fn map(hint: usize, bytes: usize, prot: i32) -> Option<usize> {
    map_with(0, hint, bytes, prot)
}

unsafe fn map_with(flags: i32, address: usize, bytes: usize, prot: i32) -> Option<usize> {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let p = libc::mmap(address as *mut libc::c_void, bytes, prot, flags, -1, 0);
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
    let (ages, descs) = (ages as *mut u8, descs as *mut BlockDesc);
    begin(Space { base, bytes, ages, descs, start: 0, end: bytes, committed: 0, lazy_tables: false });
    true
}

unsafe fn begin(space: Space) {
    hec_meta_bias = (space.ages as usize).wrapping_sub(space.base >> BLOCK_LOG);
    SPACE = space;
}

/// Reserves the slices of all `count` processing elements, at the same addresses in each. This one is number `own`.
/// # Errors
/// If the addresses are taken, or address space is limited.
/// # Safety
/// As for [`reserve`], which this stands for.
pub(super) unsafe fn reserve_slices(own: usize, count: usize) -> Result<(), String> {
    let slice = slice_bytes(count);
    let bytes = slice * count;
    let blocks = bytes >> BLOCK_LOG;
    let range = map_with(libc::MAP_FIXED_NOREPLACE, PREFERRED_BASE, bytes, libc::PROT_NONE);
    // An old kernel takes the address for a hint.
    let Some(base) = range.filter(|&base| base == PREFERRED_BASE) else {
        let gigabytes = bytes >> 30;
        return Err(format!("cannot reserve {gigabytes} GB of addresses from {PREFERRED_BASE:#x} on for all heaps"));
    };
    let ages = map(0, blocks, libc::PROT_NONE);
    let descs = map(0, blocks * std::mem::size_of::<BlockDesc>(), libc::PROT_NONE);
    let (Some(ages), Some(descs)) = (ages, descs) else {
        return Err("cannot reserve the tables of all heaps' blocks".into());
    };
    let (start, end) = (own * slice, (own + 1) * slice);
    let (ages, descs) = (ages as *mut u8, descs as *mut BlockDesc);
    begin(Space { base, bytes, ages, descs, start, end, committed: start, lazy_tables: true });
    Ok(())
}

/// The length of each of `count` slices.
fn slice_bytes(count: usize) -> usize {
    if count <= FEW_SLICES {
        LARGE_SLICE_BYTES
    } else {
        SMALL_SLICE_BYTES
    }
}

/// The first block that this process may use.
pub fn first_block() -> usize {
    // SAFETY: written once, before any Haskell runs.
    unsafe { SPACE.start >> BLOCK_LOG }
}

/// Makes the range usable from the start of the slice to `bytes` from its base. False if the system refuses or the
/// slice ends.
pub(super) unsafe fn commit(bytes: usize) -> bool {
    let space = &mut *ptr::addr_of_mut!(SPACE);
    if bytes <= space.committed {
        return true;
    }
    if bytes > space.end {
        return false;
    }
    let end = ((bytes + COMMIT_BYTES - 1) & !(COMMIT_BYTES - 1)).min(space.end);
    if space.lazy_tables && !commit_tables(space, space.committed >> BLOCK_LOG..end >> BLOCK_LOG) {
        return false;
    }
    if !make_usable(space.base + space.committed, space.base + end) {
        return false;
    }
    space.committed = end;
    true
}

/// Makes the side tables usable for these blocks.
unsafe fn commit_tables(space: &Space, blocks: std::ops::Range<usize>) -> bool {
    let (first, last) = (blocks.start, blocks.end);
    [(space.ages as usize, 1), (space.descs as usize, std::mem::size_of::<BlockDesc>())].into_iter().all(
        |(table, each)| {
            let page = |address: usize| address & !(PAGE_BYTES - 1);
            make_usable(page(table + first * each), page(table + last * each + PAGE_BYTES - 1))
        },
    )
}

unsafe fn make_usable(from: usize, to: usize) -> bool {
    libc::mprotect(from as *mut libc::c_void, to - from, libc::PROT_READ | libc::PROT_WRITE) == 0
}

/// Does this process allocate there?
pub fn is_own(addr: usize) -> bool {
    // SAFETY: written once, before any Haskell runs.
    unsafe { (SPACE.start..SPACE.end).contains(&addr.wrapping_sub(SPACE.base)) }
}

/// Makes the piece of another slice usable that holds an address. Returns its blocks, or `None` if the system refuses.
pub(super) unsafe fn commit_piece(addr: usize) -> Option<std::ops::Range<usize>> {
    let space = &*ptr::addr_of!(SPACE);
    let first = (addr - space.base) / COMMIT_BYTES * COMMIT_BYTES;
    let (blocks, end) = (first >> BLOCK_LOG..(first + COMMIT_BYTES) >> BLOCK_LOG, first + COMMIT_BYTES);
    let usable = make_usable(space.base + first, space.base + end) && commit_tables(space, blocks.clone());
    usable.then_some(blocks)
}

/// May an address of this process's slice be looked up in the side tables?
pub fn is_used(addr: usize) -> bool {
    // SAFETY: it only grows.
    unsafe { addr - SPACE.base < SPACE.committed }
}

/// The number of the piece that holds an address.
pub(super) fn piece_of(addr: usize) -> usize {
    (addr - base()) / COMMIT_BYTES
}

/// The address at which a piece starts.
pub(super) fn piece_start(piece: usize) -> usize {
    base() + piece * COMMIT_BYTES
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
