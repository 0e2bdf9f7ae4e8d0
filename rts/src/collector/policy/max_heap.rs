//! The limit on the heap (`-M`): when it makes a full collection due, and when the heap has overflowed.
//!
//! *Protocol*: only a full collection tells live data from garbage, so nothing else decides.
//! 1. A collection that begins with more in use than the limit is a full one.
//! 2. A minor collection that ends with more in use is followed by a full one, because it may have promoted garbage.
//! 3. The heap has overflowed if what a full collection leaves alive exceeds the limit.
//! 4. A large object that does not fit waits for a full collection ([`crate::prims::alloc`]). It is refused if it
//!    exceeds the limit together with what that collection left alive.
//! 5. A program that has been told of an overflow may use some more, so that a handler can work: the *quota*. The quota
//!    replaces the limit until the program fits the limit again.
//!
//! Objects of other processes that are cached here count, too. A full collection that the limit makes due drops them
//! ([`must_evict`]).
//!
//! Nurseries are in use but not alive. Under a limit that they use up, every collection is a full one and the program
//! continues. The temporary copies of a collection are not counted.
//!
//! *Checked by*: unit tests of the collector at random limits, and `tests/commands/heap_limit.sh`.
use crate::collector::policy::settings::settings;
use crate::memory::{block_alloc, blocks_of, fixed_blocks, heap, BLOCK_BYTES};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Which part of the limit copies of other processes' objects must exceed to be dropped.
const EVICTED_PART: usize = 8;

/// Bytes that may be in use after an overflow; 0 if there has been none.
static QUOTA: AtomicUsize = AtomicUsize::new(0);
/// By how many bytes the quota exceeds the live data (`-Mgrace`): 1 MB, as the flag's default.
static GRACE: AtomicUsize = AtomicUsize::new(1 << 20);
/// Full collections so far, and the bytes that the last one left.
static FULL: AtomicUsize = AtomicUsize::new(0);
static ALIVE: AtomicUsize = AtomicUsize::new(0);
/// Bytes in use after the last collection that belong to no generation: nurseries.
static EMPTY: AtomicUsize = AtomicUsize::new(0);

/// Sets what a handler of a heap overflow may use beyond the live data, in bytes (`-Mgrace`).
pub fn set_grace(bytes: usize) {
    GRACE.store(bytes, Ordering::Relaxed);
}

/// Forgets earlier overflows.
pub(in crate::collector) fn init() {
    QUOTA.store(0, Ordering::Relaxed);
}

/// Returns how many bytes the program may use now, if that is limited.
fn limit() -> Option<usize> {
    settings().max_heap_bytes.map(|max| max.max(QUOTA.load(Ordering::Relaxed)))
}

/// Is the heap limited?
pub fn is_set() -> bool {
    settings().max_heap_bytes.is_some()
}

fn in_use() -> usize {
    block_alloc::blocks_in_use() * BLOCK_BYTES + fixed_blocks::cached()
}

/// Is more in use than the limit allows, dead or alive?
pub(in crate::collector) fn is_used_up() -> bool {
    limit().is_some_and(|limit| in_use() > limit)
}

/// Must a full collection that begins drop copies of other processes' objects? If they are few, that gains little.
pub(in crate::collector) fn must_evict() -> bool {
    limit().is_some_and(|limit| in_use() > limit && fixed_blocks::cached() > limit / EVICTED_PART)
}

/// Is a full collection due, because of the copies that have arrived? It drops them.
pub fn is_eviction_due() -> bool {
    must_evict() && limit().is_some_and(|limit| fixed_blocks::grown() > limit / EVICTED_PART / 2)
}

/// Records a collection that has ended, when all HECs have their nurseries. Returns whether the heap has overflowed.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn has_overflowed(full: bool) -> bool {
    let held = blocks_of(&heap().gens) * BLOCK_BYTES + fixed_blocks::left();
    EMPTY.store(in_use().saturating_sub(held), Ordering::Relaxed);
    if full {
        ALIVE.store(held, Ordering::Relaxed);
        FULL.fetch_add(1, Ordering::Relaxed);
    }
    full && settings().max_heap_bytes.is_some_and(|max| held > max)
}

/// Returns the bytes that the last full collection left.
pub fn alive() -> usize {
    ALIVE.load(Ordering::Relaxed)
}

/// Must an overflow be reported? That is so unless the program has been told and its live data has not outgrown the
/// grace since.
pub fn must_report_overflow() -> bool {
    alive() > QUOTA.load(Ordering::Relaxed)
}

/// Lets the program use some more, as it is told of an overflow.
pub fn set_quota() {
    QUOTA.store(alive().saturating_add(GRACE.load(Ordering::Relaxed)), Ordering::Relaxed);
}

/// Ends the quota, as the program fits the limit.
pub fn clear_quota() {
    QUOTA.store(0, Ordering::Relaxed);
}

/// Do the live data exceed the limit by more than the grace?
pub fn exceeds_grace() -> bool {
    let grace = GRACE.load(Ordering::Relaxed);
    settings().max_heap_bytes.is_some_and(|max| alive() > max.saturating_add(grace))
}

/// Whether a large object can be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Fits,
    /// A full collection will decide. The number tells [`fit`] whether it has taken place.
    AfterCollection(usize),
    Never,
}

/// Does the limit leave room for an object of `bytes`? `asked` is the number of an earlier answer, if there was one.
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
