//! Having the system back blocks with pages before they are taken.
//!
//! A page that is touched first costs a microsecond or two, as much as to copy what fits into it.
//! Blocks that never were in use are taken one after the other, most by collections; so those that
//! come next are populated many at a time. While there is a core that neither HECs nor GC threads need, a helper, an OS
//! thread of its own, does that as the program runs, and stays a part of the heap ahead of it. Who
//! takes a block that is not populated all the same does a few itself. Runs that may stay untouched lie beyond what has been populated.
//!
//! Protocol: blocks are claimed from `POPULATED` on, in pieces, by whoever populates them; to do so
//! twice, or for a block that is in use, does no harm. `WANTED` says how far the helper is to get. It
//! is written before the helper is told, and a helper that is told while it works looks again.
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::os_thread;
use crate::base::poison::unpoisoned;
use crate::memory::{address_space, BLOCK_BYTES};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread::Thread;
use std::time::Instant;

/// How far ahead: this part (one in so many) of all blocks below, up to a maximum.
const SHARE: usize = 32;
const MOST_BLOCKS: usize = 128;
/// How many at a time: by the helper, and by who takes a block when there is none or it is late.
const PIECE: usize = 16;
const PIECE_ALONE: usize = 32;
const PIECE_LATE: usize = 4;
/// A heap below this size gets no helper.
const WORTH_BLOCKS: usize = 256;

/// Blocks below this index have been populated, are being, or are left to be touched.
static POPULATED: AtomicUsize = AtomicUsize::new(0);
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that have been populated so far, and the nanoseconds that it took.
static BYTES: AtomicUsize = AtomicUsize::new(0);
static NANOSECONDS: AtomicUsize = AtomicUsize::new(0);

static ALLOWED: AtomicBool = AtomicBool::new(false);
/// GC threads have all cores.
static OVERSUBSCRIBED: AtomicBool = AtomicBool::new(false);
static HELPER: Mutex<Option<Thread>> = Mutex::new(None);
static AT_WORK: AtomicBool = AtomicBool::new(false);

/// There is a core to spare for a helper.
pub fn allow_helper() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// GC threads have all cores from now on, or no longer: one thread more would only take turns with them, and come late when all wait for it.
pub fn set_cores_busy(crowded: bool) {
    OVERSUBSCRIBED.store(crowded, Ordering::Relaxed);
}

fn has_a_core() -> bool {
    ALLOWED.load(Ordering::Relaxed) && !OVERSUBSCRIBED.load(Ordering::Relaxed) && ACTIVE_HECS.has_spare_core()
}

/// Blocks up to index `top` have been taken, the last `len` of them just now; those up to
/// `committed` can be. Single blocks are what a collection asks for, and it will ask for more; how
/// much of a large run will be touched is not known. The program's `errno` stays as it is.
/// # Safety
/// The range has been reserved; the pool's lock is not held.
pub(super) unsafe fn on_blocks_taken(top: usize, len: usize, committed: usize) {
    let errno = *libc::__errno_location();
    keep_ahead(top, len, committed);
    *libc::__errno_location() = errno;
}

unsafe fn keep_ahead(top: usize, len: usize, committed: usize) {
    let populated = POPULATED.load(Ordering::Relaxed);
    let aim = (top + (top / SHARE).clamp(1, MOST_BLOCKS)).min(committed);
    let helped = top >= WORTH_BLOCKS && has_a_core();
    if helped && aim >= populated + PIECE {
        WANTED.fetch_max(aim, Ordering::Release);
        call_helper();
    }
    if top <= populated {
        return;
    }
    if len > 1 {
        POPULATED.fetch_max(top, Ordering::Relaxed);
    } else {
        let most = if helped { PIECE_LATE } else { PIECE_ALONE };
        populate_from(top - 1, (top - 1 + most).min(aim));
    }
}

/// Claims the blocks from `first` on up to `end`, as far as nobody has, and populates them.
unsafe fn populate_from(first: usize, end: usize) {
    let first = POPULATED.fetch_max(end, Ordering::Relaxed).max(first);
    if first < end {
        populate(first, end - first);
    }
}

/// Claims `len` blocks that have not been populated, the first that nobody has taken or claimed, and leaves them to be touched. `top` is the first
/// that nobody has taken; `commit` makes blocks up to an index usable, and may refuse. Returns the first of them.
/// # Safety
/// The range has been reserved; the pool's lock is held.
pub(super) unsafe fn claim_unpopulated(top: usize, len: usize, commit: impl Fn(usize) -> bool) -> Option<usize> {
    let mut populated = POPULATED.load(Ordering::Relaxed);
    loop {
        let first = populated.max(top);
        if !commit(first + len) {
            return None;
        }
        match POPULATED.compare_exchange(populated, first + len, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(first),
            Err(now) => populated = now,
        }
    }
}

unsafe fn populate(first: usize, blocks: usize) {
    let started = Instant::now();
    address_space::populate(first, blocks);
    BYTES.fetch_add(blocks * BLOCK_BYTES, Ordering::Relaxed);
    NANOSECONDS.fetch_add(started.elapsed().as_nanos() as usize, Ordering::Relaxed);
}

/// What it has cost so far to have a byte backed, in nanoseconds. It is a quarter of one where the system has pages at hand, and many times that where
/// a virtual machine has to ask its host for them.
pub fn ns_per_byte() -> Option<f64> {
    let bytes = BYTES.load(Ordering::Relaxed);
    (bytes > 0).then(|| NANOSECONDS.load(Ordering::Relaxed) as f64 / bytes as f64)
}

fn call_helper() {
    let mut helper = unpoisoned(HELPER.lock());
    if let Some(thread) = &*helper {
        return thread.unpark();
    }
    match os_thread::start("haskell-pages", help) {
        Ok(thread) => *helper = Some(thread),
        Err(_) => ALLOWED.store(false, Ordering::Relaxed),
    }
}

fn help() {
    while ALLOWED.load(Ordering::Relaxed) {
        let populated = POPULATED.load(Ordering::Relaxed);
        let wanted = WANTED.load(Ordering::Acquire);
        if populated >= wanted || OVERSUBSCRIBED.load(Ordering::Relaxed) {
            AT_WORK.store(false, Ordering::Relaxed);
            std::thread::park();
            AT_WORK.store(true, Ordering::Relaxed);
            continue;
        }
        let end = (populated + PIECE).min(wanted);
        if POPULATED.compare_exchange(populated, end, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // SAFETY: blocks that can be used, as far as they were wanted.
            unsafe { populate(populated, end - populated) };
        }
    }
}

/// Is the helper at work?
pub fn is_helper_running() -> bool {
    AT_WORK.load(Ordering::Relaxed)
}

/// The helper ends: no more blocks will be taken.
pub fn stop_helper() {
    ALLOWED.store(false, Ordering::Relaxed);
    if let Some(thread) = unpoisoned(HELPER.lock()).take() {
        thread.unpark();
    }
}

/// In the child of a fork there is no helper; the next that is called is a new one.
pub fn after_fork() {
    std::mem::forget(unpoisoned(HELPER.lock()).take());
}
