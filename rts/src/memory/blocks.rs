//! Runs of blocks: allocation with splitting, freeing with coalescing.
//!
//! A free run records its length in its first and last descriptor; free runs hang on lists by
//! the logarithm of their length, so that both operations take constant time but for a short
//! first-fit search. Runs whose pages have been returned to the system hang on lists of their
//! own, and are taken only if no other fits. One lock protects all of it: HECs allocate while they run,
//! and so do GC threads. A run costs its user far more than the lock.
use super::space::{self, age_slot, desc, BLOCK_BYTES, BLOCK_LOG};
use super::{ahead, Age};
use crate::atomics::{AtomicU8, Ordering};
use crate::contract::BlockDesc;
use crate::unpoisoned::unpoisoned;
use std::ptr;
use std::sync::{Mutex, MutexGuard};

const IN_USE: u32 = 1;
const FREE: u32 = 2;
const NIL: usize = usize::MAX;
const BINS: usize = 32;
/// How far a search goes into the bin whose runs may be too short.
const SEARCH: usize = 16;

/// A run of blocks in use, named by its first descriptor.
pub type Run = *mut BlockDesc;

pub(super) struct Pool {
    /// Free runs that the system backs no longer, and those that it does, by length.
    bins: [[usize; BINS]; 2],
    /// Blocks below this index have been handed out at least once.
    top: usize,
    in_use: usize,
    /// Free blocks whose pages the system still backs.
    resident_free: usize,
    peak_resident: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    bins: [[NIL; BINS]; 2],
    top: 0,
    in_use: 0,
    resident_free: 0,
    peak_resident: 0,
});

fn bin_of(len: usize) -> usize {
    (usize::BITS - 1 - len.leading_zeros()) as usize
}

impl Pool {
    unsafe fn link(&mut self, i: usize, len: usize, resident: bool) {
        let b = bin_of(len);
        let d = desc(i);
        (*d).state = FREE;
        (*d).len = len as u32;
        (*d).head = i as u32;
        (*d).back = resident as usize;
        let bins = &mut self.bins[resident as usize];
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
        if resident {
            self.resident_free += len;
        }
    }

    /// Takes a free run off its list; says whether its pages are resident.
    unsafe fn unlink(&mut self, i: usize) -> bool {
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
        let resident = d.back != 0;
        if resident {
            self.resident_free -= len;
        }
        resident
    }

    /// A free run of at least `len` blocks, if possible one that is backed.
    unsafe fn find(&self, len: usize) -> usize {
        match Pool::find_in(&self.bins[1], len) {
            NIL => Pool::find_in(&self.bins[0], len),
            i => i,
        }
    }

    unsafe fn find_in(bins: &[usize; BINS], len: usize) -> usize {
        let first = bin_of(len);
        let mut i = bins[first];
        for _ in 0..SEARCH {
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

    unsafe fn take(&mut self, len: usize) -> Option<usize> {
        let found = self.find(len);
        if found != NIL {
            let whole = (*desc(found)).len as usize;
            let resident = self.unlink(found);
            if whole > len {
                self.link(found + len, whole - len, resident);
            }
            return Some(found);
        }
        let i = self.top;
        if !space::commit((i + len) * BLOCK_BYTES) {
            return None;
        }
        self.top += len;
        Some(i)
    }
}

fn pool() -> MutexGuard<'static, Pool> {
    unpoisoned(POOL.lock())
}

/// A run of `len` blocks, empty, with `age` in the side table; `None` when memory is exhausted.
/// # Safety
/// The range has been reserved.
pub unsafe fn alloc_run(len: usize, age: Age) -> Option<Run> {
    debug_assert!(len > 0);
    let mut pool = pool();
    let before = pool.top;
    let i = pool.take(len)?;
    let start = space::SPACE.base + (i << BLOCK_LOG);
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
    let (top, committed) = (pool.top, space::committed_blocks());
    drop(pool);
    if top > before {
        ahead::taken(top, len, committed);
    }
    Some(d)
}

/// Writes the age byte of every block of a run.
/// # Safety
/// `run` is in use.
pub unsafe fn set_age(run: Run, age: Age) {
    let (head, len) = ((*run).head as usize, (*run).len as usize);
    ptr::write_bytes(age_slot(head), age.0, len);
}

/// Makes a condemned run's age `saved`, unless another GC thread has saved it already: then the
/// error is the age it has. Only the first block's byte is written.
/// # Safety
/// `run` is in use, and a collection is running.
pub unsafe fn save_age(run: Run, saved: Age) -> Result<(), Age> {
    let byte = AtomicU8::from_ptr(age_slot((*run).head as usize));
    let mut now = Age(byte.load(Ordering::Acquire));
    while now.is(Age::CONDEMNED) {
        match byte.compare_exchange(now.0, saved.0, Ordering::AcqRel, Ordering::Acquire) {
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

/// Bytes in use in a run.
/// # Safety
/// `run` is in use.
pub unsafe fn used_bytes(run: Run) -> usize {
    (*run).free - (*run).start
}

/// Gives a run back to the pool.
/// # Safety
/// `run` is in use and nothing refers to it.
pub unsafe fn free_run(run: Run) {
    let mut pool = pool();
    debug_assert!((*run).state == IN_USE);
    let (mut i, mut len) = ((*run).head as usize, (*run).len as usize);
    set_age(run, Age::FREE);
    (*run).state = 0;
    pool.in_use -= len;
    let next = i + len;
    // A run joins a neighbour only if both are backed, so that returning memory stays exact.
    if next < pool.top && (*desc(next)).state == FREE && (*desc(next)).back != 0 {
        len += (*desc(next)).len as usize;
        pool.unlink(next);
    }
    if i > 0 && (*desc(i - 1)).state == FREE {
        let before = (*desc(i - 1)).head as usize;
        if (*desc(before)).back != 0 {
            len += (*desc(before)).len as usize;
            pool.unlink(before);
            i = before;
        }
    }
    pool.link(i, len, true);
}

/// Returns the pages of free runs to the system until at most `keep` free blocks stay backed.
/// # Safety
/// The range has been reserved.
pub unsafe fn trim(keep: usize) {
    let pool = &mut *pool();
    for b in (0..BINS).rev() {
        let mut i = pool.bins[1][b];
        while i != NIL && pool.resident_free > keep {
            let next = (*desc(i)).link;
            return_end(pool, i, pool.resident_free - keep);
            i = next;
        }
    }
    merge_returned(pool);
}

/// Returns the pages of the last blocks, up to `most` of them, of a free run.
unsafe fn return_end(pool: &mut Pool, i: usize, most: usize) {
    let len = (*desc(i)).len as usize;
    let kept = len.saturating_sub(most);
    pool.unlink(i);
    let at = space::SPACE.base + ((i + kept) << BLOCK_LOG);
    libc::madvise(at as *mut libc::c_void, (len - kept) << BLOCK_LOG, libc::MADV_DONTNEED);
    if kept > 0 {
        pool.link(i, kept, true);
    }
    pool.link(i + kept, len - kept, false);
}

/// Joins neighbouring runs that have both been returned.
unsafe fn merge_returned(pool: &mut Pool) {
    let mut i = 0;
    while i < pool.top {
        let d = desc(i);
        let len = ((*d).len as usize).max(1);
        if (*d).state == FREE && (*d).back == 0 {
            let (start, mut end) = (i, i + len);
            while end < pool.top && (*desc(end)).state == FREE && (*desc(end)).back == 0 {
                end += (*desc(end)).len as usize;
            }
            if end > start + len {
                let mut k = start;
                while k < end {
                    let l = (*desc(k)).len as usize;
                    pool.unlink(k);
                    k += l;
                }
                pool.link(start, end - start, false);
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
/// Blocks whose pages the system backs for us, used or free.
pub fn blocks_resident() -> usize {
    let pool = pool();
    pool.in_use + pool.resident_free
}
/// The most that ever were.
pub fn peak_blocks_resident() -> usize {
    pool().peak_resident
}

/// Calls `f`, which may free it, for every run in use.
/// # Safety
/// The world is stopped.
pub unsafe fn each_run(mut f: impl FnMut(Run)) {
    let top = pool().top;
    let mut in_use = Vec::new();
    let mut i = 0;
    while i < top {
        let d = desc(i);
        if (*d).state == IN_USE {
            in_use.push(d);
        }
        i += ((*d).len as usize).max(1);
    }
    // Only now: a run that is freed joins its neighbours.
    in_use.into_iter().for_each(|run| f(run));
}
