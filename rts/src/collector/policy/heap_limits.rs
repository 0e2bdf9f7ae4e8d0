//! How much memory the program may use before which generation is collected.
//!
//! After a full collection that leaves L alive, the old generations may grow to F × L, but at
//! least to a minimum (`-F`, `-o`). A limit on the heap (`-M`) bounds that growth (`max_heap.rs`). Free blocks are kept for what
//! the coming cycle will need; the rest goes back to the system by and by.
//!
//! Memory is at its peak while a large heap that is mostly alive is copied. So where the last full
//! collection found next to no garbage, the next one waits longer (see [`growth_factor`]): a program
//! that builds up its data is spared copies that gain nothing.
//!
//! A full collection also traces the static objects that can be reached, and a program the size of a compiler has a hundred thousand.
//! They count as if they were alive: a large program whose heap is small is not collected as often as a small one. Before the first full collection
//! their number is guessed (`static_estimate.rs`).
//!
//! A nursery of the default size grows with what the generations hold (see [`grown_nursery`]):
//! more of what is allocated dies before it is looked at. The old generation gives the room; of a program whose HECs are several it gets as much
//! more: what threads promote while they wait for each other is soon dead, and a full collection stops them all.
//! It is larger where full collections find that too much has been promoted (`premature_promotion.rs`).
//! Whether still more room pays is found out (`nursery_trial.rs`), but where several HECs allocate (`hec_activity.rs`) taken for granted beyond 4 MB:
//! each collection fewer also saves the time until all have stopped, and most programs gain. Those that keep much may have 4 MB whatever is
//! alive (`survival_rate.rs`). All of it must have been paid for (`nursery_budget.rs`).
//!
//! `-H` names a size that the program may as well use: nurseries take what the generations,
//! and the copies of the next full collection, leave of it.
use crate::base::config::HeapSuggestion;
use crate::collector::policy::aging::{aging, Aging};
use crate::collector::policy::doubling::following;
use crate::collector::policy::gc_sample;
use crate::collector::policy::hec_activity::HEC_ACTIVITY;
use crate::collector::policy::live_size_probe::{live_probe, LiveProbe};
use crate::collector::policy::max_heap;
use crate::collector::policy::nursery_budget::{nursery_budget, NurseryBudget};
use crate::collector::policy::nursery_trial::{nursery_trial, NurseryTrial};
use crate::collector::policy::premature_promotion::{premature_promotion, PrematurePromotion};
use crate::collector::policy::static_estimate::likely_statics;
use crate::collector::policy::survival_rate::{survival_gate, SurvivalGate};
use crate::hec;
use crate::memory::{block_alloc, blocks_of, heap, nursery_chunks, prefault, BLOCK_BYTES};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::MutexGuard;

/// When the generations have used up what `-H` names, a nursery may still have a small part
/// of what is alive, up to this: it costs little memory and saves many collections.
const MAX_SPARE_NURSERY: usize = 4 << 20;

/// The largest nursery that a program gets untried and without naming a size: beyond it, what the
/// collector gains is mostly lost by waiting for memory.
const MAX_GROWN_NURSERY: usize = 4 << 20;
/// A nursery that has grown takes up to this part (one in so many) of what the generations hold.
const GROWN_SHARE: usize = 4;
/// With several HECs all together take so many times what is alive, but each no more than so many bytes.
const SHARE_OF_MANY: usize = 3;
const MOST_FOR_MANY: usize = 16 << 20;
/// And so many bytes, but none more than a nursery grows to, where they keep much of what they allocate.
const FOR_MANY: usize = 16 << 20;

/// What several HECs' nurseries are cut into, unless it is named.
const PIECE: usize = 512 << 10;

/// A heap that grew without leaving garbage may grow by this much more before it is collected again.
const WAIT: f64 = 1.5;
/// The part of a generation that must have survived for that, and bytes that must be alive: full
/// collections of a small heap cost little, and pay by being early.
const NEARLY_ALL: f64 = 0.95;
const WORTH_WAITING_BYTES: usize = 16 << 20;

/// What a static object counts for when it is asked how large a program is: to scan it takes as long as to copy a hundred bytes, for
/// the object, its code's tables and its link word are all elsewhere, and it stands for as much code.
const STATIC_BYTES: usize = 256;

/// What the flags choose. Given once at start.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Of each HEC.
    pub nursery_bytes: usize,
    /// What nurseries are cut into, where there are several; `None`: as is best.
    pub chunk_bytes: Option<usize>,
    pub generations: usize,
    /// A nursery may grow to fill this (`-H`).
    pub suggestion: HeapSuggestion,
    /// Growth of the old generations between full collections.
    pub factor: f64,
    pub min_old_bytes: usize,
    pub max_heap_bytes: Option<usize>,
    /// Bytes in large objects after which a collection is due.
    pub large_bytes: usize,
    /// Give memory back to the system after full collections.
    pub return_memory: bool,
    /// So many GC threads for every collection, however little there is to do.
    pub forced_threads: Option<usize>,
    /// Check the whole heap before and after each collection, and poison what is free.
    pub check: bool,
    /// But where the checks have taken long, not at every collection.
    pub spaced_checks: bool,
    /// Give nurseries another size at every collection, unless `-M` limits the heap.
    pub vary_nurseries: bool,
    /// Nothing ages: what survives its first collection is old.
    pub promote_at_once: bool,
}

impl Settings {
    pub const DEFAULT: Settings = Settings {
        nursery_bytes: 1 << 20,
        chunk_bytes: None,
        generations: 2,
        suggestion: HeapSuggestion::None,
        factor: 2.0,
        min_old_bytes: 1 << 20,
        max_heap_bytes: None,
        large_bytes: 1 << 20,
        return_memory: true,
        forced_threads: None,
        check: false,
        spaced_checks: false,
        vary_nurseries: false,
        promote_at_once: false,
    };

    /// Do they say how large nurseries are?
    fn size_nurseries(&self) -> bool {
        self.nursery_bytes != Settings::DEFAULT.nursery_bytes || self.max_heap_bytes.is_some()
    }

    /// Do they say how much the old generations grow?
    fn names_growth(&self) -> bool {
        self.factor != Settings::DEFAULT.factor || self.max_heap_bytes.is_some()
    }
}

static mut SETTINGS: Settings = Settings::DEFAULT;

/// Blocks that the last full collection left.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Static objects that it scanned, or will.
static STATICS: AtomicUsize = AtomicUsize::new(0);

/// Bytes that a grown nursery has, and what it has before it is stretched.
static GROWN: AtomicUsize = AtomicUsize::new(0);
static BASE: AtomicUsize = AtomicUsize::new(0);
/// Have nurseries more than that for what the last full collection found alive?
static FOLLOWS_LIVE: AtomicBool = AtomicBool::new(false);

/// Chooses the settings and sets the generations' first limits.
/// # Safety
/// Called once at start, after the generations have been made and before any HEC runs.
pub unsafe fn init(settings: Settings) {
    *ptr::addr_of_mut!(SETTINGS) = settings;
    *aging() = Aging::new();
    for alone in [false, true] {
        *nursery_trial(alone) = NurseryTrial::new();
    }
    *live_probe() = LiveProbe::new();
    *survival_gate() = SurvivalGate::new();
    *premature_promotion() = PrematurePromotion::new();
    gc_sample::begin();
    max_heap::init();
    *nursery_budget() = NurseryBudget::new();
    set_limits(0, 0, likely_statics());
}

pub fn settings() -> &'static Settings {
    // SAFETY: written at start only.
    unsafe { &*ptr::addr_of!(SETTINGS) }
}

/// The oldest generation that has reached its limit, or would with the survivors that are about
/// to be promoted to it, or should be looked at again (`live_size_probe.rs`); 0 if there is none. The oldest of all if the limit on the heap
/// has been used up.
/// # Safety
/// The world is stopped.
pub unsafe fn next_generation_to_collect() -> usize {
    if max_heap::is_used_up() {
        return heap().oldest();
    }
    let gens = &heap().gens;
    let promoted = gens[0].blocks() + aging().expected_promotion() / BLOCK_BYTES;
    let coming = |g: usize| if g == 1 { promoted } else { 0 };
    let due = (1..gens.len()).rev().find(|&g| gens[g].blocks() + coming(g) > gens[g].limit);
    let looks_again = || follows_live() && live_probe().is_due(blocks_of(&gens[1..]));
    due.unwrap_or_else(|| if looks_again() { heap().oldest() } else { 0 })
}

/// Are nurseries larger for what the last full collection found alive? Where that is much, to look again would take
/// long, and they are as large as they may be in any case.
fn follows_live() -> bool {
    let live = LIVE.load(Ordering::Relaxed) * BLOCK_BYTES;
    FOLLOWS_LIVE.load(Ordering::Relaxed) && live <= MOST_FOR_MANY
}

/// By how much the old generations may grow after a full collection that left `live` of `held`
/// blocks. Only a program that has named neither `-F` nor `-M` gets more than the flag says.
fn growth_factor(s: &Settings, live: usize, held: usize) -> f64 {
    let worth = live * BLOCK_BYTES >= WORTH_WAITING_BYTES;
    if !s.names_growth() && worth && live as f64 >= NEARLY_ALL * held as f64 {
        s.factor * WAIT
    } else {
        s.factor
    }
}

/// By how many blocks the old generations may grow for static objects that count for so many bytes.
fn growth_for_statics(s: &Settings, bytes: usize) -> usize {
    if s.names_growth() {
        0
    } else {
        ((s.factor - 1.0) * bytes as f64) as usize / BLOCK_BYTES
    }
}

/// By how many blocks more, or fewer, the old generations may grow for a nursery that has grown by so many. They give what it has grown by,
/// unless that would cost a program whose live data is little larger than a nursery more full collections than it saves small ones.
fn growth_for_nurseries(s: &Settings, live: usize, grown: usize, alone: bool) -> isize {
    if alone {
        -(grown.min(live / 2) as isize)
    } else if s.names_growth() {
        0
    } else {
        grown as isize
    }
}

/// What the static objects count for.
fn static_bytes() -> usize {
    STATICS.load(Ordering::Relaxed) * STATIC_BYTES
}

/// Sets the limits after a full collection that left `live` blocks of the `held` that there were
/// (what nurseries had not counted), and scanned so many static objects.
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
    // All that is alive is in the oldest generation now; those between share what it may grow.
    if let [_, between @ .., oldest] = &mut gens[..] {
        oldest.limit = limit;
        let generations = between.len() + 1;
        between.iter_mut().for_each(|gen| gen.limit = limit.div_ceil(generations));
    }
}

/// What each of the nurseries should have for the next cycle. With one generation, every
/// collection is a full one and the nursery takes all the growth.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn nursery_bytes(hecs: usize) -> usize {
    let s = settings();
    if s.vary_nurseries && s.max_heap_bytes.is_none() {
        return varied_nursery();
    }
    let live = LIVE.load(Ordering::Relaxed);
    if s.generations == 1 {
        let growth = (live as f64 * (s.factor - 1.0)) as usize * BLOCK_BYTES;
        let room = s.max_heap_bytes.map_or(usize::MAX, |max| max.saturating_sub(live * BLOCK_BYTES));
        return growth.min(room).max(s.nursery_bytes);
    }
    let (aim, most) = match s.suggestion {
        HeapSuggestion::None => return grown_nursery(hecs),
        HeapSuggestion::Bytes(n) => (n, usize::MAX),
        HeapSuggestion::Auto => (block_alloc::peak_blocks_resident() * BLOCK_BYTES, MAX_GROWN_NURSERY),
    };
    let held = blocks_of(&heap().gens);
    let room = aim.saturating_sub((held + live) * BLOCK_BYTES);
    let spare = (live * BLOCK_BYTES / 16).min(MAX_SPARE_NURSERY);
    // Under `-M` half of the rest is for what becomes large objects meanwhile.
    let bound = s.max_heap_bytes.map_or(usize::MAX, |max| max.saturating_sub(held * BLOCK_BYTES) / 2);
    // A hint makes no nursery smaller than it would be without.
    (room.max(spare).min(bound) / hecs).min(most).max(grown_nursery(hecs))
}

/// The size of the pieces of a nursery of `bytes`, with so many HECs. A single one has nobody to share with, but
/// what has grown piece by piece leaves nothing behind.
pub fn chunk_bytes(hecs: usize, bytes: usize) -> usize {
    let s = settings();
    let piece = if hecs > 1 { s.chunk_bytes.unwrap_or(PIECE) } else { s.nursery_bytes };
    piece.min(bytes)
}

/// The size of a nursery when nobody has named one: the default, doubled as long as it is a
/// small part of what the generations hold. It shrinks only when far less is held, because a
/// new run is cold.
unsafe fn grown_nursery(hecs: usize) -> usize {
    let s = settings();
    if s.size_nurseries() {
        return s.nursery_bytes;
    }
    let held = blocks_of(&heap().gens) * BLOCK_BYTES + static_bytes();
    let before = GROWN.load(Ordering::Relaxed).max(s.nursery_bytes);
    let size = following(before, s.nursery_bytes, MAX_GROWN_NURSERY.min(held / GROWN_SHARE), held);
    GROWN.store(size, Ordering::Relaxed);
    let base = if HEC_ACTIVITY.is_single() {
        premature_promotion().size(size, held)
    } else if survival_gate().is_open() {
        size.max(paid_share(FOR_MANY, hecs).min(MAX_GROWN_NURSERY))
    } else {
        size
    };
    BASE.store(base, Ordering::Relaxed);
    stretched(base, hecs)
}

/// Each HEC's share of so many bytes, as far as collections have paid for them.
fn paid_share(bytes: usize, hecs: usize) -> usize {
    bytes.min(nursery_budget().bytes(prefault::cost())) / hecs
}

/// The size of a nursery that has `base` bytes in any case. In company it may have as much as a nursery grows to,
/// if that pays, whatever is alive; beyond that, and alone, nurseries are bounded by what is.
fn stretched(base: usize, hecs: usize) -> usize {
    let live = LIVE.load(Ordering::Relaxed) * BLOCK_BYTES;
    let most = if HEC_ACTIVITY.is_single() { live } else { MAX_GROWN_NURSERY };
    let (bytes, follows_live) = match tried(base) {
        Some(mut stretch) => (stretch.size(base, |size| size <= most), false),
        None => {
            let bytes = paid_share(SHARE_OF_MANY * live + static_bytes(), hecs).clamp(base, MOST_FOR_MANY);
            (bytes, bytes > base)
        }
    };
    FOLLOWS_LIVE.store(follows_live, Ordering::Relaxed);
    bytes
}

/// Is it better to collect now than to go on filling nurseries? So it is with those that are large since the program builds up data,
/// once collections of smaller ones would be cheap.
pub fn should_collect_early() -> bool {
    let grown = GROWN.load(Ordering::Relaxed);
    if HEC_ACTIVITY.is_single() || BASE.load(Ordering::Relaxed) <= grown {
        return false;
    }
    let taken = nursery_chunks::taken();
    taken >= grown * hec::count() && survival_gate().would_be_cheap(taken, gc_sample::run_by_now())
}

/// What tries sizes for nurseries that have `base` bytes in any case: nothing where those of several HECs follow what is alive.
fn tried(base: usize) -> Option<MutexGuard<'static, NurseryTrial>> {
    let alone = HEC_ACTIVITY.is_single();
    (alone || base < MAX_GROWN_NURSERY).then(|| nursery_trial(alone))
}

/// What tries sizes for the nurseries of the cycle that has ended.
pub(in crate::collector) fn tried_now() -> Option<MutexGuard<'static, NurseryTrial>> {
    tried(BASE.load(Ordering::Relaxed))
}

/// A size for the next cycle that is not that of the last.
unsafe fn varied_nursery() -> usize {
    const EIGHTHS: [usize; 5] = [8, 32, 1, 16, 0];
    let so_far = heap().gens[0].collections;
    (settings().nursery_bytes / 8 * EIGHTHS[so_far % EIGHTHS.len()]).max(BLOCK_BYTES)
}

/// Blocks of large objects that make a collection due when the nursery has `nursery` bytes:
/// as many as it has, unless the flags say something else (`-AL`).
pub fn large_limit(nursery: usize) -> usize {
    let s = settings();
    let bytes = if s.large_bytes == s.nursery_bytes { nursery } else { s.large_bytes };
    bytes / BLOCK_BYTES
}

/// Gives back half of the free blocks that neither the growth of the old generations nor the
/// copies made when they are next collected will need: all at once would often mean to ask for
/// them again, page by page, soon.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn return_memory() {
    if !settings().return_memory {
        return;
    }
    let limits: usize = heap().gens.iter().skip(1).map(|g| g.limit).sum();
    // The old generations will grow to their limits; all of that may turn out to be alive.
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
        let large = WORTH_WAITING_BYTES / BLOCK_BYTES;
        assert_eq!(growth_factor(&s, large, large), s.factor * WAIT);
        assert_eq!(growth_factor(&s, large, large * 2), s.factor);
        assert_eq!(growth_factor(&s, large / 2, large / 2), s.factor);
        assert_eq!(growth_factor(&Settings { factor: 4.0, ..s }, large, large), 4.0);
        assert_eq!(growth_factor(&Settings { max_heap_bytes: Some(1 << 30), ..s }, large, large), s.factor);
    }
}
