//! The block allocator: runs of blocks, with splitting and coalescing.
//!
//! *Invariants*
//!
//! - A free run records its length in its first and last descriptor.
//! - Free runs are in lists by the logarithm of their length. So both operations take constant time, except for a short
//!   first-fit search.
//! - Free runs are in different lists by what backs their pages. Runs whose pages were returned to the system are taken
//!   only if no other fits.
//! - Most runs are filled at once. Their blocks are populated before they are taken (`prefault.rs`).
//! - The user of a run may never touch it ([`alloc_untouched`]). Such a run is not taken from populated blocks, and
//!   from filled ones only if there are plenty. It would keep their pages unused, and others would need new pages
//!   instead.
//!
//! *Locking*: one lock. HECs allocate while they run, and so do GC threads. Using a run costs far more than the lock.
//!
//! *Checked by* `memory/tests.rs`.
use crate::abi::BlockDesc;
use crate::base::atomics::{AtomicU8, Ordering};
use crate::base::poison::unpoisoned;
use crate::memory::address_space;
use crate::memory::address_space::{age_slot, desc, BLOCK_BYTES, BLOCK_LOG};
use crate::memory::{prefault, Age};
use std::ptr;
use std::sync::{Mutex, MutexGuard};

const IN_USE: u32 = 1;
const FREE: u32 = 2;
const NIL: usize = usize::MAX;
const BINS: usize = 32;
/// What backs the pages of a free run. The pages were returned to the system.
const RETURNED: usize = 0;
/// The pages were filled by its last user.
const FILLED: usize = 1;
/// The pages were populated for runs that will be filled.
const POPULATED: usize = 2;
/// Only the pages that the user of an untouched run touched are backed.
const SPARSE: usize = 3;
const BACKINGS: usize = 4;
/// Free filled blocks that are kept for runs that will be filled: this many (8 MB), or a part of the blocks in use (one
/// in four) if that is more.
const MIN_KEPT_BLOCKS: usize = 512;
const KEPT_DIVISOR: usize = 4;
/// Runs that are examined in the list whose runs may be too short: a longer search costs more than the blocks that it
/// saves.
const MAX_SEARCH: usize = 16;

/// A run of blocks in use, represented by its first descriptor.
pub type Run = *mut BlockDesc;

pub(super) struct Pool {
    /// Free runs, by what backs them and by length.
    bins: [[usize; BINS]; BACKINGS],
    /// Blocks below this index have been allocated at least once.
    top: usize,
    in_use: usize,
    /// Free blocks whose pages the system still backs; and how many of them are filled.
    resident_free: usize,
    filled_free: usize,
    peak_resident: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    bins: [[NIL; BINS]; BACKINGS],
    top: 0,
    in_use: 0,
    resident_free: 0,
    filled_free: 0,
    peak_resident: 0,
});

fn bin_of(len: usize) -> usize {
    (usize::BITS - 1 - len.leading_zeros()) as usize
}

impl Pool {
    unsafe fn link(&mut self, i: usize, len: usize, backed: usize) {
        let b = bin_of(len);
        let d = desc(i);
        (*d).state = FREE;
        (*d).len = len as u32;
        (*d).head = i as u32;
        (*d).back = backed;
        let bins = &mut self.bins[backed];
        (*d).link = bins[b];
        (*d).scan = NIL;
        let last = desc(i + len - 1);
        (*last).state = FREE;
        (*last).len = len as u32;
        (*last).head = i as u32;
        if bins[b] != NIL {
            (*desc(bins[b])).scan = i;
        }
        bins[b] = i;
        if backed != RETURNED {
            self.resident_free += len;
        }
        if backed == FILLED {
            self.filled_free += len;
        }
    }

    /// Removes a free run from its list. Returns what backs it.
    unsafe fn unlink(&mut self, i: usize) -> usize {
        let d = &mut *desc(i);
        let (next, prev, len) = (d.link, d.scan, d.len as usize);
        if next != NIL {
            (*desc(next)).scan = prev;
        }
        if prev != NIL {
            (*desc(prev)).link = next;
        } else {
            self.bins[d.back][bin_of(len)] = next;
        }
        d.state = 0;
        (*desc(i + len - 1)).state = 0;
        if d.back != RETURNED {
            self.resident_free -= len;
        }
        if d.back == FILLED {
            self.filled_free -= len;
        }
        d.back
    }

    /// A free run of at least `len` blocks from the given lists, in order of preference.
    unsafe fn find(&self, len: usize, lists: &[usize]) -> usize {
        let found = lists.iter().map(|&backed| Pool::find_in(&self.bins[backed], len));
        found.into_iter().find(|&i| i != NIL).unwrap_or(NIL)
    }

    unsafe fn find_in(bins: &[usize; BINS], len: usize) -> usize {
        let first = bin_of(len);
        let mut i = bins[first];
        for _ in 0..MAX_SEARCH {
            if i == NIL {
                break;
            }
            if (*desc(i)).len as usize >= len {
                return i;
            }
            i = (*desc(i)).link;
        }
        bins[first + 1..].iter().copied().find(|&i| i != NIL).unwrap_or(NIL)
    }

    /// Takes a run of `len` blocks that will be filled.
    unsafe fn take(&mut self, len: usize) -> Option<usize> {
        let found = self.take_from(len, &[FILLED, POPULATED, SPARSE, RETURNED]);
        found.or_else(|| {
            let i = self.top;
            self.extend(i, len)
        })
    }

    /// Takes a run of `len` blocks that may stay untouched.
    unsafe fn take_untouched(&mut self, len: usize) -> Option<usize> {
        let plenty = self.filled_free > MIN_KEPT_BLOCKS.max(self.in_use / KEPT_DIVISOR);
        let found = self.take_from(len, if plenty { &[SPARSE, FILLED, RETURNED] } else { &[SPARSE, RETURNED] });
        let fresh = || {
            let committed = |end: usize| address_space::commit(end * BLOCK_BYTES);
            let i = prefault::claim_unpopulated(self.top, len, committed)?;
            let before = self.top;
            self.extend(i, len)?;
            if i > before {
                ptr::write_bytes(age_slot(before), Age::FREE.0, i - before);
                self.link(before, i - before, POPULATED);
            }
            Some(i)
        };
        found.or_else(fresh).or_else(|| self.take(len))
    }

    /// Takes `len` blocks from a free run of one of these lists.
    unsafe fn take_from(&mut self, len: usize, lists: &[usize]) -> Option<usize> {
        let found = self.find(len, lists);
        if found == NIL {
            return None;
        }
        let whole = (*desc(found)).len as usize;
        let backed = self.unlink(found);
        if whole > len {
            self.link(found + len, whole - len, backed);
        }
        Some(found)
    }

    /// Takes `len` blocks from `i` on that were never used, and makes them the last ones so far.
    unsafe fn extend(&mut self, i: usize, len: usize) -> Option<usize> {
        if !address_space::commit((i + len) * BLOCK_BYTES) {
            return None;
        }
        self.top = i + len;
        Some(i)
    }
}

fn pool() -> MutexGuard<'static, Pool> {
    unpoisoned(POOL.lock())
}

/// Blocks below `first` are not this process's. Called at start.
pub(super) fn begin_at(first: usize) {
    pool().top = first;
}

/// An empty run of `len` blocks that will be filled, with `age` in the side table. `None` if memory is exhausted.
/// # Safety
/// The range has been reserved.
pub unsafe fn alloc_run(len: usize, age: Age) -> Option<Run> {
    let mut pool = pool();
    let before = pool.top;
    let i = pool.take(len)?;
    let run = begin_run(&mut pool, i, len, age);
    let (top, committed) = (pool.top, address_space::committed_blocks());
    drop(pool);
    if top > before {
        prefault::on_blocks_taken(top, len, committed);
    }
    Some(run)
}

/// Like [`alloc_run`], for a run that its user may never touch. A new run takes no memory of the system before it is
/// touched.
/// # Safety
/// As for [`alloc_run`].
pub unsafe fn alloc_untouched(len: usize, age: Age) -> Option<Run> {
    let mut pool = pool();
    let i = pool.take_untouched(len)?;
    Some(begin_run(&mut pool, i, len, age))
}

/// Initialises a run of blocks that have been taken.
unsafe fn begin_run(pool: &mut Pool, i: usize, len: usize, age: Age) -> Run {
    debug_assert!(len > 0);
    let start = address_space::SPACE.base + (i << BLOCK_LOG);
    for k in 0..len {
        let d = desc(i + k);
        (*d).head = i as u32;
        (*d).state = 0;
    }
    let d = desc(i);
    *d = BlockDesc {
        start,
        free: start,
        link: 0,
        scan: start,
        back: 0,
        spare: [0; 4],
        units: (len << (BLOCK_LOG - 12)) as u32,
        head: i as u32,
        len: len as u32,
        state: IN_USE,
    };
    set_age(d, age);
    pool.in_use += len;
    pool.peak_resident = pool.peak_resident.max(pool.in_use + pool.resident_free);
    d
}

/// Makes blocks of another processing element's slice runs of one block each, for fixed objects.
/// # Safety
/// The blocks have just become usable.
pub(super) unsafe fn adopt_fixed(blocks: std::ops::Range<usize>) {
    ptr::write_bytes(age_slot(blocks.start), Age::FIXED.0, blocks.len());
    for i in blocks {
        let start = address_space::SPACE.base + (i << BLOCK_LOG);
        *desc(i) = BlockDesc {
            start,
            free: start + BLOCK_BYTES,
            link: 0,
            scan: start,
            back: 0,
            spare: [0; 4],
            units: 1 << (BLOCK_LOG - 12),
            head: i as u32,
            len: 1,
            state: IN_USE,
        };
    }
}

/// Writes the age byte of every block of a run.
/// # Safety
/// `run` is in use.
pub unsafe fn set_age(run: Run, age: Age) {
    let (head, len) = ((*run).head as usize, (*run).len as usize);
    ptr::write_bytes(age_slot(head), age.0, len);
}

/// Sets the age of a condemned run to `age`, so that it is retained. If another GC thread has done so, the error is the
/// age that the run has. Writes only the first block's byte.
/// # Safety
/// `run` is in use, and a collection is running.
pub unsafe fn retain_run(run: Run, age: Age) -> Result<(), Age> {
    let byte = AtomicU8::from_ptr(age_slot((*run).head as usize));
    let mut now = Age(byte.load(Ordering::Acquire));
    while now.is(Age::CONDEMNED) {
        match byte.compare_exchange(now.0, age.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Ok(()),
            Err(other) => now = Age(other),
        }
    }
    Err(now)
}

/// The age byte of a run.
/// # Safety
/// `run` is in use.
pub unsafe fn run_age(run: Run) -> Age {
    Age(*age_slot((*run).head as usize))
}

/// Bytes allocated in a run.
/// # Safety
/// `run` is in use.
pub unsafe fn used_bytes(run: Run) -> usize {
    (*run).free - (*run).start
}

/// Frees a run.
/// # Safety
/// `run` is in use and nothing refers to it.
pub unsafe fn free_run(run: Run) {
    let mut pool = pool();
    debug_assert!((*run).state == IN_USE);
    let (mut i, mut len) = ((*run).head as usize, (*run).len as usize);
    let mut backed = if run_age(run).is_plain() { FILLED } else { SPARSE };
    set_age(run, Age::FREE);
    (*run).state = 0;
    pool.in_use -= len;
    let next = i + len;
    // A run joins a neighbour only if both were used, so that pages are returned exactly. A partly filled run counts as
    // filled.
    let joins = |free: usize| matches!((*desc(free)).back, FILLED | SPARSE);
    if next < pool.top && (*desc(next)).state == FREE && joins(next) {
        len += (*desc(next)).len as usize;
        backed = backed.min(pool.unlink(next));
    }
    if i > address_space::first_block() && (*desc(i - 1)).state == FREE {
        let before = (*desc(i - 1)).head as usize;
        if joins(before) {
            len += (*desc(before)).len as usize;
            backed = backed.min(pool.unlink(before));
            i = before;
        }
    }
    pool.link(i, len, backed);
}

/// Returns pages of free runs to the system, until at most `keep` free blocks are backed.
/// # Safety
/// The range has been reserved.
pub unsafe fn trim(keep: usize) {
    let pool = &mut *pool();
    for (b, backed) in (0..BINS).rev().flat_map(|b| [SPARSE, FILLED, POPULATED].map(|backed| (b, backed))) {
        let mut i = pool.bins[backed][b];
        while i != NIL && pool.resident_free > keep {
            let next = (*desc(i)).link;
            return_end(pool, i, pool.resident_free - keep);
            i = next;
        }
    }
    merge_returned(pool);
}

/// Returns the pages of at most `count` blocks at the end of a free run.
unsafe fn return_end(pool: &mut Pool, i: usize, count: usize) {
    let len = (*desc(i)).len as usize;
    let kept = len.saturating_sub(count);
    let backed = pool.unlink(i);
    let at = address_space::SPACE.base + ((i + kept) << BLOCK_LOG);
    libc::madvise(at as *mut libc::c_void, (len - kept) << BLOCK_LOG, libc::MADV_DONTNEED);
    if kept > 0 {
        pool.link(i, kept, backed);
    }
    pool.link(i + kept, len - kept, RETURNED);
}

/// Joins neighbouring runs whose pages were both returned.
unsafe fn merge_returned(pool: &mut Pool) {
    let mut i = address_space::first_block();
    while i < pool.top {
        let d = desc(i);
        let len = ((*d).len as usize).max(1);
        if (*d).state == FREE && (*d).back == RETURNED {
            let (start, mut end) = (i, i + len);
            while end < pool.top && (*desc(end)).state == FREE && (*desc(end)).back == RETURNED {
                end += (*desc(end)).len as usize;
            }
            if end > start + len {
                let mut k = start;
                while k < end {
                    let l = (*desc(k)).len as usize;
                    pool.unlink(k);
                    k += l;
                }
                pool.link(start, end - start, RETURNED);
            }
            i = end;
        } else {
            i += len;
        }
    }
}

/// Blocks in use.
pub fn blocks_in_use() -> usize {
    pool().in_use
}
/// Blocks whose pages the system backs, in use or free.
pub fn blocks_resident() -> usize {
    let pool = pool();
    pool.in_use + pool.resident_free
}
/// The maximum of [`blocks_resident`] so far.
pub fn peak_blocks_resident() -> usize {
    pool().peak_resident
}

/// Calls `f` for every run in use. `f` may free the run.
/// # Safety
/// The world is stopped.
pub unsafe fn each_run(f: impl FnMut(Run)) {
    let top = pool().top;
    let mut in_use = Vec::new();
    let mut i = address_space::first_block();
    while i < top {
        let d = desc(i);
        if (*d).state == IN_USE {
            in_use.push(d);
        }
        i += ((*d).len as usize).max(1);
    }
    // Not before: a freed run joins its neighbours.
    in_use.into_iter().for_each(f);
}
