//! Sets the sizes of generations and nurseries, and chooses the generation to collect.
//!
//! *Old generations*
//! - After a full collection that leaves L bytes alive, they may grow to F × L, but at least to a minimum (`-F`, `-o`).
//!   A limit on the heap (`-M`) bounds this ([`max_heap`]).
//! - Memory use peaks while a large heap that is mostly alive is copied. So where the last full collection found next
//!   to no garbage, the next one waits longer ([`growth_factor`]). A program that builds up its data is spared useless
//!   copies.
//! - A full collection also traces the reachable static objects, of which a large program has a hundred thousand. They
//!   count as live data. Before the first full collection their number is estimated ([`super::static_estimate`]).
//!
//! *Nurseries*
//! - A nursery of the default size grows with what the generations hold ([`grown_nursery`]): then more objects die
//!   before they are traced. With one HEC, the old generation gives up that room. With several, it may grow by as much
//!   more: what threads promote while they wait for each other soon dies, and a full collection stops them all.
//! - It is larger where full collections find premature promotion ([`super::premature_promotion`]).
//! - Whether a still larger one pays is tried ([`super::nursery_trial`]).
//! - Where several HECs allocate ([`super::hec_activity`]), it follows the live data instead once it has its largest
//!   grown size: fewer collections also save the time to stop all HECs. While much survives, nurseries are large
//!   whatever is alive ([`super::survival_rate`]). Earlier collections must have paid for all of it
//!   ([`super::nursery_budget`]).
//! - `-H` names a size that the program may use. Nurseries take what the generations, and the copies of the next full
//!   collection, leave of it.
//!
//! *Return of memory*: free blocks are kept for what the next cycle will need. The rest goes back to the system step by
//! step.
//!
//! *Locking*: the world is stopped, except for [`should_collect_early`].
//!
//! *Checked by*: the unit tests below, and `a_full_collection_leaves_every_generation_room`.
use crate::base::config::HeapSuggestion;
use crate::collector::policy::aging::{aging, Aging};
use crate::collector::policy::doubling::double_or_halve;
use crate::collector::policy::gc_sample;
use crate::collector::policy::hec_activity::HEC_ACTIVITY;
use crate::collector::policy::live_size_probe::{live_probe, LiveProbe};
use crate::collector::policy::max_heap;
use crate::collector::policy::nursery_budget::{nursery_budget, NurseryBudget};
use crate::collector::policy::nursery_trial::{nursery_trial, NurseryTrial};
use crate::collector::policy::premature_promotion::{premature_promotion, PrematurePromotion};
use crate::collector::policy::settings;
pub use crate::collector::policy::settings::{settings, Settings};
use crate::collector::policy::static_estimate::estimate_statics;
use crate::collector::policy::survival_rate::{survival_gate, SurvivalGate};
use crate::hec;
use crate::memory::{block_alloc, blocks_of, fixed_blocks, heap, nursery_chunks, prefault, BLOCK_BYTES};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::MutexGuard;

/// When the generations have used up what `-H` names, a nursery may still have a small fraction of the live data, up to
/// this many bytes. It costs little memory and saves many collections.
const MAX_SPARE_NURSERY: usize = 4 << 20;

/// The largest nursery that a program gets without a trial and without naming a size, in bytes. Beyond it, the program
/// mostly loses to cache misses what the collector gains.
const MAX_GROWN_NURSERY: usize = 4 << 20;
/// A grown nursery takes up to this fraction (one in `GROWN_DIVISOR`) of what the generations hold.
const GROWN_DIVISOR: usize = 4;
/// With several HECs, all nurseries together take up to this many times the live data.
const LIVE_FACTOR_OF_MANY: usize = 3;
/// With several HECs, each nursery has at most this many bytes.
const MAX_NURSERY_OF_MANY: usize = 16 << 20;
/// All nurseries together take up to this many bytes where much of what is allocated survives. Each is still bounded by
/// [`MAX_GROWN_NURSERY`].
const SURVIVAL_BYTES_OF_MANY: usize = 16 << 20;

/// The size of the chunks of several HECs' nurseries, in bytes, unless it is named.
const DEFAULT_CHUNK_BYTES: usize = 512 << 10;

/// A heap that grew without leaving garbage may grow by this much more before it is collected again.
const NO_GARBAGE_GROWTH: f64 = 1.5;
/// The fraction of the old generations that must have survived for that.
const NO_GARBAGE_SURVIVAL: f64 = 0.95;
/// Bytes that must be alive for that: full collections of a small heap cost little, and pay by being early.
const MIN_NO_GARBAGE_BYTES: usize = 16 << 20;

/// Bytes that a static object counts for in the size of a program. Scavenging it takes as long as copying a hundred
/// bytes, because the object, its info table and its link word lie apart. It also stands for as much code.
const STATIC_BYTES: usize = 256;

/// Blocks that the last full collection left alive.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Static objects that the last full collection scavenged, or an estimate before the first.
static STATICS: AtomicUsize = AtomicUsize::new(0);

/// Bytes of a grown nursery, and of a nursery before a trial or the live data enlarges it.
static GROWN: AtomicUsize = AtomicUsize::new(0);
static BASE: AtomicUsize = AtomicUsize::new(0);
/// Are nurseries larger than that because of what the last full collection found alive?
static FOLLOWS_LIVE: AtomicBool = AtomicBool::new(false);

/// Sets the settings and the generations' first limits.
/// # Safety
/// Called once at start, after the generations have been made and before any HEC runs.
pub unsafe fn init(settings: Settings) {
    settings::set(settings);
    *aging() = Aging::new();
    for alone in [false, true] {
        *nursery_trial(alone) = NurseryTrial::new();
    }
    *live_probe() = LiveProbe::new();
    *survival_gate() = SurvivalGate::new();
    *premature_promotion() = PrematurePromotion::new();
    gc_sample::init();
    max_heap::init();
    *nursery_budget() = NurseryBudget::new();
    set_limits(0, 0, estimate_statics());
}

/// Returns the oldest generation that has reached its limit, or would with the survivors that are about to be promoted
/// to it, or should be probed ([`super::live_size_probe`]); 0 if there is none. Returns the oldest of all if the limit
/// on the heap is used up.
/// # Safety
/// The world is stopped.
pub unsafe fn next_generation_to_collect() -> usize {
    if max_heap::is_used_up() || fixed_blocks::is_collection_due() {
        return heap().oldest();
    }
    let gens = &heap().gens;
    let promoted = gens[0].blocks() + aging().expected_promotion() / BLOCK_BYTES;
    let promoted_to = |g: usize| if g == 1 { promoted } else { 0 };
    let due = (1..gens.len()).rev().find(|&g| gens[g].blocks() + promoted_to(g) > gens[g].limit);
    let probe_is_due = || nurseries_follow_live() && live_probe().is_due(blocks_of(&gens[1..]));
    due.unwrap_or_else(|| if probe_is_due() { heap().oldest() } else { 0 })
}

/// Are nurseries larger because of what the last full collection found alive? Where that is much, a probe would take
/// long, and nurseries have their largest size in any case.
fn nurseries_follow_live() -> bool {
    let live = LIVE.load(Ordering::Relaxed) * BLOCK_BYTES;
    FOLLOWS_LIVE.load(Ordering::Relaxed) && live <= MAX_NURSERY_OF_MANY
}

/// Returns the growth factor of the old generations after a full collection that left `live` of `held` blocks. Only a
/// program that has named neither `-F` nor `-M` gets more than the flag says.
fn growth_factor(s: &Settings, live: usize, held: usize) -> f64 {
    let is_large = live * BLOCK_BYTES >= MIN_NO_GARBAGE_BYTES;
    if !s.has_growth_flag() && is_large && live as f64 >= NO_GARBAGE_SURVIVAL * held as f64 {
        s.factor * NO_GARBAGE_GROWTH
    } else {
        s.factor
    }
}

/// Returns by how many blocks the old generations may grow for static objects that count for `bytes`.
fn growth_for_statics(s: &Settings, bytes: usize) -> usize {
    if s.has_growth_flag() {
        0
    } else {
        ((s.factor - 1.0) * bytes as f64) as usize / BLOCK_BYTES
    }
}

/// Returns by how many blocks more, or fewer, the old generations may grow for a nursery that has grown by `grown`
/// blocks. With one HEC they give up that room. They give up less where the live data is little larger than a nursery:
/// it would cost more full collections than it saves minor ones.
fn growth_for_nurseries(s: &Settings, live: usize, grown: usize, alone: bool) -> isize {
    if alone {
        -(grown.min(live / 2) as isize)
    } else if s.has_growth_flag() {
        0
    } else {
        grown as isize
    }
}

/// Returns the bytes that the static objects count for.
fn static_bytes() -> usize {
    STATICS.load(Ordering::Relaxed) * STATIC_BYTES
}

/// Sets the limits after a full collection that left `live` of `held` blocks and scavenged `statics` static objects.
/// `held` does not count nurseries.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn set_limits(live: usize, held: usize, statics: usize) {
    let s = settings();
    LIVE.store(live, Ordering::Relaxed);
    STATICS.store(statics, Ordering::Relaxed);
    live_probe().record(live);
    premature_promotion().record_full(live, held);
    let gens = &mut heap().gens;
    let grown = GROWN.load(Ordering::Relaxed).saturating_sub(s.nursery_bytes) / BLOCK_BYTES;
    let mut limit = ((live as f64 * growth_factor(s, live, held)) as usize)
        .saturating_add(growth_for_statics(s, static_bytes()))
        .saturating_add_signed(growth_for_nurseries(s, live, grown, HEC_ACTIVITY.is_single()))
        .max(s.min_old_bytes / BLOCK_BYTES)
        .max(live);
    if let Some(max) = s.max_heap_bytes {
        let room = max.saturating_sub(s.nursery_bytes * hec::count()) / BLOCK_BYTES;
        limit = limit.min(room.max(live));
    }
    // All live data is in the oldest generation now. The generations between share what it may grow.
    if let [_, between @ .., oldest] = &mut gens[..] {
        oldest.limit = limit;
        let generations = between.len() + 1;
        between.iter_mut().for_each(|gen| gen.limit = limit.div_ceil(generations));
    }
}

/// Returns the size of each nursery for the next cycle. With one generation, every collection is a full one and the
/// nursery takes all the growth.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn nursery_bytes(hecs: usize) -> usize {
    let s = settings();
    if s.vary_nurseries && s.max_heap_bytes.is_none() {
        return vary_nursery();
    }
    let live = LIVE.load(Ordering::Relaxed);
    if s.generations == 1 {
        let growth = (live as f64 * (s.factor - 1.0)) as usize * BLOCK_BYTES;
        let room = s.max_heap_bytes.map_or(usize::MAX, |max| max.saturating_sub(live * BLOCK_BYTES));
        return growth.min(room).max(s.nursery_bytes);
    }
    let (target, max) = match s.suggestion {
        HeapSuggestion::None => return grown_nursery(hecs),
        HeapSuggestion::Bytes(n) => (n, usize::MAX),
        HeapSuggestion::Auto => (block_alloc::peak_blocks_resident() * BLOCK_BYTES, MAX_GROWN_NURSERY),
    };
    let held = blocks_of(&heap().gens);
    let room = target.saturating_sub((held + live) * BLOCK_BYTES);
    let spare = (live * BLOCK_BYTES / 16).min(MAX_SPARE_NURSERY);
    // Under `-M` half of the rest is for what becomes large objects meanwhile.
    let bound = s.max_heap_bytes.map_or(usize::MAX, |max| max.saturating_sub(held * BLOCK_BYTES) / 2);
    // A suggestion makes no nursery smaller than it would be without one.
    (room.max(spare).min(bound) / hecs).min(max).max(grown_nursery(hecs))
}

/// Returns the size of the chunks of a nursery of `bytes`, with `hecs` HECs. A single HEC shares with no other, but a
/// nursery that has grown by chunks leaves no remainder behind.
pub fn chunk_bytes(hecs: usize, bytes: usize) -> usize {
    let s = settings();
    let chunk = if hecs > 1 { s.chunk_bytes.unwrap_or(DEFAULT_CHUNK_BYTES) } else { s.nursery_bytes };
    chunk.min(bytes)
}

/// Returns the size of a nursery that no flag names: the default, doubled as long as it is a small fraction of what the
/// generations hold. It shrinks only when far less is held, because a new run is cold.
unsafe fn grown_nursery(hecs: usize) -> usize {
    let s = settings();
    if s.has_nursery_size() {
        return s.nursery_bytes;
    }
    let held = blocks_of(&heap().gens) * BLOCK_BYTES + static_bytes();
    let before = GROWN.load(Ordering::Relaxed).max(s.nursery_bytes);
    let size = double_or_halve(before, s.nursery_bytes, MAX_GROWN_NURSERY.min(held / GROWN_DIVISOR), held);
    GROWN.store(size, Ordering::Relaxed);
    let base = if HEC_ACTIVITY.is_single() {
        premature_promotion().size(size, held)
    } else if survival_gate().is_open() {
        size.max(paid_share(SURVIVAL_BYTES_OF_MANY, hecs).min(MAX_GROWN_NURSERY))
    } else {
        size
    };
    BASE.store(base, Ordering::Relaxed);
    enlarge_nursery(base, hecs)
}

/// Returns each HEC's share of `bytes`, as far as collections have paid for them.
fn paid_share(bytes: usize, hecs: usize) -> usize {
    bytes.min(nursery_budget().bytes(prefault::ns_per_byte())) / hecs
}

/// Enlarges a nursery of `base` bytes. With several HECs a trial may enlarge it up to [`MAX_GROWN_NURSERY`], whatever
/// is alive. Beyond that, and with one HEC, the live data bounds it.
fn enlarge_nursery(base: usize, hecs: usize) -> usize {
    let live = LIVE.load(Ordering::Relaxed) * BLOCK_BYTES;
    let max = if HEC_ACTIVITY.is_single() { live } else { MAX_GROWN_NURSERY };
    let (bytes, nurseries_follow_live) = match trial_for(base) {
        Some(mut trial) => (trial.size(base, |size| size <= max), false),
        None => {
            let bytes = paid_share(LIVE_FACTOR_OF_MANY * live + static_bytes(), hecs).clamp(base, MAX_NURSERY_OF_MANY);
            (bytes, bytes > base)
        }
    };
    FOLLOWS_LIVE.store(nurseries_follow_live, Ordering::Relaxed);
    bytes
}

/// Is it better to collect now than to continue filling nurseries? Nurseries that are large because the program builds
/// up data are left early, once collections of smaller ones would be cheap.
pub fn should_collect_early() -> bool {
    let grown = GROWN.load(Ordering::Relaxed);
    if HEC_ACTIVITY.is_single() || BASE.load(Ordering::Relaxed) <= grown {
        return false;
    }
    let taken = nursery_chunks::bytes_taken();
    taken >= grown * hec::count() && survival_gate().would_be_cheap(taken, gc_sample::mutator_ns_so_far())
}

/// Returns the trial for nurseries of `base` bytes: none where nurseries of several HECs follow the live data.
fn trial_for(base: usize) -> Option<MutexGuard<'static, NurseryTrial>> {
    let alone = HEC_ACTIVITY.is_single();
    (alone || base < MAX_GROWN_NURSERY).then(|| nursery_trial(alone))
}

/// Returns the trial for the nurseries of the cycle that has ended.
pub(in crate::collector) fn current_trial() -> Option<MutexGuard<'static, NurseryTrial>> {
    trial_for(BASE.load(Ordering::Relaxed))
}

/// Returns a size for the next cycle that differs from that of the last.
unsafe fn vary_nursery() -> usize {
    const EIGHTHS: [usize; 5] = [8, 32, 1, 16, 0];
    let so_far = heap().gens[0].collections;
    (settings().nursery_bytes / 8 * EIGHTHS[so_far % EIGHTHS.len()]).max(BLOCK_BYTES)
}

/// Returns how many blocks of large objects make a collection due when the nursery has `nursery` bytes: as many as it
/// has, unless the flags say something else (`-AL`).
pub fn large_limit(nursery: usize) -> usize {
    let s = settings();
    let bytes = if s.large_bytes == s.nursery_bytes { nursery } else { s.large_bytes };
    bytes / BLOCK_BYTES
}

/// Gives back half of the free blocks that will not be needed: neither for the growth of the old generations nor for
/// the copies of their next collection. Giving back all at once would often mean to ask for them again soon, page by
/// page.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn return_memory() {
    if !settings().return_memory {
        return;
    }
    let limits: usize = heap().gens.iter().skip(1).map(|g| g.limit).sum();
    // The old generations will grow to their limits, and all of that may turn out to be alive.
    let old = blocks_of(&heap().gens);
    let needed = (2 * limits).saturating_sub(old).max(old);
    let free = block_alloc::blocks_resident() - block_alloc::blocks_in_use();
    block_alloc::trim(needed + free.saturating_sub(needed) / 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_objects_let_the_heap_grow_unless_flags_say_how_much() {
        let s = Settings::DEFAULT;
        assert_eq!(growth_for_statics(&s, 10 * BLOCK_BYTES), 10);
        for named in [Settings { factor: 3.0, ..s }, Settings { max_heap_bytes: Some(1 << 30), ..s }] {
            assert_eq!(growth_for_statics(&named, 10 * BLOCK_BYTES), 0);
        }
    }

    #[test]
    fn nursery_growth_shrinks_the_limit_of_one_hec_and_raises_that_of_several() {
        let s = Settings::DEFAULT;
        assert_eq!([100, 10].map(|live| growth_for_nurseries(&s, live, 40, true)), [-40, -5]);
        assert_eq!([100, 10].map(|live| growth_for_nurseries(&s, live, 40, false)), [40, 40]);
        let named = Settings { factor: 3.0, ..s };
        assert_eq!([true, false].map(|alone| growth_for_nurseries(&named, 100, 40, alone)), [-40, 0]);
    }

    #[test]
    fn a_large_heap_without_garbage_may_grow_more() {
        let s = Settings::DEFAULT;
        let large = MIN_NO_GARBAGE_BYTES / BLOCK_BYTES;
        assert_eq!(growth_factor(&s, large, large), s.factor * NO_GARBAGE_GROWTH);
        assert_eq!(growth_factor(&s, large, large * 2), s.factor);
        assert_eq!(growth_factor(&s, large / 2, large / 2), s.factor);
        assert_eq!(growth_factor(&Settings { factor: 4.0, ..s }, large, large), 4.0);
        assert_eq!(growth_factor(&Settings { max_heap_bytes: Some(1 << 30), ..s }, large, large), s.factor);
    }
}
