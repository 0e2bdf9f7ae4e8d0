//! The limit on the heap (`-M`): when it makes a full collection due, and when the heap has overflowed.
//!
//! Protocol. Only a full collection tells what is alive from garbage, so nothing else decides:
//! 1. A collection that begins with more in use than the limit is a full one.
//! 2. A young collection that ends with more in use is followed by a full one: it may have promoted garbage.
//! 3. The heap has overflowed if what a full collection left alive exceeds the limit.
//! 4. A large object that does not fit into the rest waits for a full collection (`prims/alloc.rs`). It is refused if together with what
//!    that left alive it exceeds the limit.
//!
//! Nurseries are in use, but not alive: under a limit that they use up every collection is a full one, and the program goes on.
//! What a collection needs in passing for its copies is not counted.
//!
//! A program that has been told of an overflow may use some more, so that a handler can work: the *quota*. Until it
//! fits the limit again, the quota stands for that.
//!
//! Checked by `tests.rs` at random limits, and by `tests/commands/heap_limit.sh`.
use crate::collector::policy::heap_limits::settings;
use crate::memory::{block_alloc, blocks_of, heap, BLOCK_BYTES};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that may be in use after an overflow; 0 if there has been none.
static QUOTA: AtomicUsize = AtomicUsize::new(0);
/// By how much the quota exceeds what was alive (`-Mgrace`).
static GRACE: AtomicUsize = AtomicUsize::new(1 << 20);
/// Full collections so far, and the bytes that the last one left.
static FULL: AtomicUsize = AtomicUsize::new(0);
static ALIVE: AtomicUsize = AtomicUsize::new(0);
/// Bytes that were in use after the last collection and belong to no generation: nurseries.
static EMPTY: AtomicUsize = AtomicUsize::new(0);

/// What a handler of a heap overflow may use beyond what is alive, in bytes (`-Mgrace`).
pub fn set_grace(bytes: usize) {
    GRACE.store(bytes, Ordering::Relaxed);
}

/// Forgets what the program has been told.
pub(in crate::collector) fn init() {
    QUOTA.store(0, Ordering::Relaxed);
}

/// What the program may use now, if that is limited.
fn limit() -> Option<usize> {
    settings().max_heap_bytes.map(|max| max.max(QUOTA.load(Ordering::Relaxed)))
}

/// Is the heap limited?
pub fn is_set() -> bool {
    settings().max_heap_bytes.is_some()
}

fn in_use() -> usize {
    block_alloc::blocks_in_use() * BLOCK_BYTES
}

/// Is more in use than the limit allows, dead or alive?
pub(in crate::collector) fn is_used_up() -> bool {
    limit().is_some_and(|limit| in_use() > limit)
}

/// A collection has ended, and all HECs have their nurseries. Says whether the heap has overflowed.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn has_overflowed(full: bool) -> bool {
    let held = blocks_of(&heap().gens) * BLOCK_BYTES;
    EMPTY.store(in_use().saturating_sub(held), Ordering::Relaxed);
    if full {
        ALIVE.store(held, Ordering::Relaxed);
        FULL.fetch_add(1, Ordering::Relaxed);
    }
    full && settings().max_heap_bytes.is_some_and(|max| held > max)
}

/// Bytes that the last full collection left.
pub fn alive() -> usize {
    ALIVE.load(Ordering::Relaxed)
}

/// Has what was alive at an overflow grown by more than the grace since the program was told, or has it not been told?
pub fn must_report_overflow() -> bool {
    alive() > QUOTA.load(Ordering::Relaxed)
}

/// The program is told of an overflow, and may use some more.
pub fn set_quota() {
    QUOTA.store(alive().saturating_add(GRACE.load(Ordering::Relaxed)), Ordering::Relaxed);
}

/// The program fits the limit, again or still.
pub fn clear_quota() {
    QUOTA.store(0, Ordering::Relaxed);
}

/// Does what is alive exceed the limit by more than the grace?
pub fn exceeds_grace() -> bool {
    let grace = GRACE.load(Ordering::Relaxed);
    settings().max_heap_bytes.is_some_and(|max| alive() > max.saturating_add(grace))
}

/// Whether a large object can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Fits,
    /// A full collection will tell. The number is for [`fit`] to know that it has taken place.
    AfterCollection(usize),
    Never,
}

/// Does the limit leave room for an object of `bytes`? `asked` is what an earlier answer said, if there was one.
pub fn fit(bytes: usize, asked: Option<usize>) -> Fit {
    let Some(limit) = limit() else { return Fit::Fits };
    let full = FULL.load(Ordering::Relaxed);
    let used = in_use();
    let with_request = |held: usize| held.saturating_add(bytes);
    let collected = asked.is_some_and(|before| full > before);
    if bytes > limit || collected && with_request(alive()) > limit {
        Fit::Never
    } else if with_request(used) <= limit
        || collected && with_request(used.saturating_sub(EMPTY.load(Ordering::Relaxed))) <= limit
    {
        Fit::Fits
    } else {
        Fit::AfterCollection(full)
    }
}
