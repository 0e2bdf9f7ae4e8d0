//! Prefaulting: blocks are backed with pages before they are taken.
//!
//! A first touch of a page costs a microsecond or two, as much as copying what fits into it. New blocks are taken in
//! order of address, most of them by collections. So the next ones are populated in batches.
//!
//! *Protocol*
//!
//! 1. Blocks are claimed in batches, from `POPULATED` on, by the thread that populates them. Populating a block twice,
//!    or one that is in use, does no harm.
//! 2. While neither HECs nor GC threads need some core, a helper thread populates blocks ahead of the heap. `WANTED`
//!    says how far. It is written before the helper is woken, and the helper reads it again after every batch.
//! 3. A thread that takes a block which is not populated populates a few blocks itself.
//! 4. Runs that may stay untouched are claimed beyond what has been populated, and skipped.
//!
//! *Checked by* `memory/tests.rs`.
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::os_thread;
use crate::base::poison::unpoisoned;
use crate::memory::{address_space, BLOCK_BYTES};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread::Thread;
use std::time::Instant;

/// The helper stays ahead by this part of all blocks in use (one in 32), up to a maximum of 2 MB: more might never be
/// needed.
const AHEAD_DIVISOR: usize = 32;
const MAX_AHEAD_BLOCKS: usize = 128;
/// Blocks that the helper populates at a time: 256 KB, so that it soon sees that it has to stop.
const HELPER_BATCH: usize = 16;
/// Blocks that a thread populates when it takes one and there is no helper.
const UNAIDED_BATCH: usize = 32;
/// Blocks that a thread populates when it takes one and the helper is late: few, because the helper continues from
/// there.
const LATE_BATCH: usize = 4;
/// Blocks of the smallest heap that gets a helper: below 4 MB, an OS thread costs more than it saves.
const MIN_HEAP_BLOCKS: usize = 256;

/// Blocks below this index have been populated, are being populated, or are left to be touched.
static POPULATED: AtomicUsize = AtomicUsize::new(0);
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that have been populated so far, and the time that took.
static BYTES: AtomicUsize = AtomicUsize::new(0);
static NANOSECONDS: AtomicUsize = AtomicUsize::new(0);

static ALLOWED: AtomicBool = AtomicBool::new(false);
/// GC threads use all cores.
static OVERSUBSCRIBED: AtomicBool = AtomicBool::new(false);
static HELPER: Mutex<Option<Thread>> = Mutex::new(None);
static HELPER_RUNNING: AtomicBool = AtomicBool::new(false);

/// Allows a helper: there is a core to spare for it.
pub fn allow_helper() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// Says whether GC threads use all cores from now on. A helper would then take time slices from a GC thread, and the
/// others would wait for that one.
pub fn set_cores_busy(busy: bool) {
    OVERSUBSCRIBED.store(busy, Ordering::Relaxed);
}

/// Blocks below `first` are not this process's. Called at start.
pub(super) fn begin_at(first: usize) {
    POPULATED.store(first, Ordering::Relaxed);
}

fn has_spare_core() -> bool {
    ALLOWED.load(Ordering::Relaxed) && !OVERSUBSCRIBED.load(Ordering::Relaxed) && ACTIVE_HECS.has_spare_core()
}

/// Populates blocks after an allocation. Blocks up to index `top` are taken, the last `len` of them just now; those up
/// to `committed` can be used. A collection asks for single blocks, and will ask for more. How much of a large run will
/// be touched is not known. Preserves `errno`.
/// # Safety
/// The range has been reserved; the pool's lock is not held.
pub(super) unsafe fn on_blocks_taken(top: usize, len: usize, committed: usize) {
    let errno = *libc::__errno_location();
    populate_ahead(top, len, committed);
    *libc::__errno_location() = errno;
}

unsafe fn populate_ahead(top: usize, len: usize, committed: usize) {
    let populated = POPULATED.load(Ordering::Relaxed);
    let used = top - address_space::first_block();
    let aim = (top + (used / AHEAD_DIVISOR).clamp(1, MAX_AHEAD_BLOCKS)).min(committed);
    let has_helper = used >= MIN_HEAP_BLOCKS && has_spare_core();
    if has_helper && aim >= populated + HELPER_BATCH {
        WANTED.fetch_max(aim, Ordering::Release);
        wake_helper();
    }
    if top <= populated {
        return;
    }
    if len > 1 {
        POPULATED.fetch_max(top, Ordering::Relaxed);
    } else {
        let batch = if has_helper { LATE_BATCH } else { UNAIDED_BATCH };
        populate_from(top - 1, (top - 1 + batch).min(aim));
    }
}

/// Claims the unclaimed blocks from `first` to `end` and populates them.
unsafe fn populate_from(first: usize, end: usize) {
    let first = POPULATED.fetch_max(end, Ordering::Relaxed).max(first);
    if first < end {
        populate(first, end - first);
    }
}

/// Claims the first `len` blocks that are neither taken nor claimed, and leaves them to be touched. `top` is the first
/// block that is not taken. `commit` makes blocks up to an index usable, and may fail. Returns the first claimed block.
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

/// The measured cost of having a byte backed, in nanoseconds. It is about 0.25 where the system has free pages, and
/// many times that where a virtual machine asks its host for them.
pub fn ns_per_byte() -> Option<f64> {
    let bytes = BYTES.load(Ordering::Relaxed);
    (bytes > 0).then(|| NANOSECONDS.load(Ordering::Relaxed) as f64 / bytes as f64)
}

fn wake_helper() {
    let mut helper = unpoisoned(HELPER.lock());
    if let Some(thread) = &*helper {
        return thread.unpark();
    }
    match os_thread::start("haskell-pages", run_helper) {
        Ok(thread) => *helper = Some(thread),
        Err(_) => ALLOWED.store(false, Ordering::Relaxed),
    }
}

fn run_helper() {
    while ALLOWED.load(Ordering::Relaxed) {
        let populated = POPULATED.load(Ordering::Relaxed);
        let wanted = WANTED.load(Ordering::Acquire);
        if populated >= wanted || OVERSUBSCRIBED.load(Ordering::Relaxed) {
            HELPER_RUNNING.store(false, Ordering::Relaxed);
            std::thread::park();
            HELPER_RUNNING.store(true, Ordering::Relaxed);
            continue;
        }
        let end = (populated + HELPER_BATCH).min(wanted);
        if POPULATED.compare_exchange(populated, end, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // SAFETY: blocks below `wanted` are committed.
            unsafe { populate(populated, end - populated) };
        }
    }
}

/// Is the helper populating blocks?
pub fn is_helper_running() -> bool {
    HELPER_RUNNING.load(Ordering::Relaxed)
}

/// Ends the helper: no more blocks will be taken.
pub fn stop_helper() {
    ALLOWED.store(false, Ordering::Relaxed);
    if let Some(thread) = unpoisoned(HELPER.lock()).take() {
        thread.unpark();
    }
}

/// Forgets the helper in the child of a fork, where it does not exist. The next one is started anew.
pub fn after_fork() {
    std::mem::forget(unpoisoned(HELPER.lock()).take());
}
