//! Detects programs that promote objects which die soon, and enlarges their nurseries.
//!
//! An object that lives a little longer than a nursery lasts is copied, promoted, and dead at the next full collection.
//! In a nursery several times as large it would never have been traced. Survivors do not tell: those that survive twice
//! may live for ever, or die with the phase that made them.
//!
//! *Protocol*
//! 1. A full collection measures how much of what was promoted since the last one is dead.
//! 2. If two full collections in a row find some, and collections are expensive, the nursery grows. (The program itself
//!    runs more slowly in a large one.)
//! 3. Where all promoted data is alive, the program builds up its data and the same fraction survives whatever the
//!    size.
//!
//! *Checked by*: the unit tests below.
use crate::base::poison::unpoisoned;
use crate::collector::policy::doubling::double_or_halve;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// At least this fraction of the promoted blocks must be dead.
const DEAD_THRESHOLD: f64 = 0.05;
/// Collections count as expensive above this fraction of the program's time.
const GC_SHARE_ENTER: f64 = 0.4;
/// They remain so above this fraction, because larger nurseries make them cheaper.
const GC_SHARE_EXIT: f64 = 0.1;
/// Bytes allocated after which a measurement counts half.
const HALF_LIFE_BYTES: f64 = (16 << 20) as f64;
/// The largest nursery, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// The nursery grows up to this many times what the generations hold.
const MAX_HELD_RATIO: usize = 2;
/// The nursery keeps its size up to this many times what the generations hold.
const KEEP_HELD_RATIO: usize = 8;
/// Bytes that must have been allocated for each byte of the nursery: a program that ends soon has no use for it.
const MIN_ALLOCATED_RATIO: usize = 2;

pub struct PrematurePromotion {
    /// Decayed nanoseconds for which the program ran, and for which collections stopped it.
    mutator_ns: f64,
    gc_ns: f64,
    is_expensive: bool,
    /// Bytes allocated in all.
    allocated: usize,
    /// Blocks that the last full collection left. Whether the last two found dead blocks among those promoted.
    live: usize,
    found_dead: [bool; 2],
    /// The enlarged nursery size; 0 if there is none.
    size: usize,
}

impl PrematurePromotion {
    pub const fn new() -> PrematurePromotion {
        PrematurePromotion {
            mutator_ns: 0.0,
            gc_ns: 0.0,
            is_expensive: false,
            allocated: 0,
            live: 0,
            found_dead: [false; 2],
            size: 0,
        }
    }

    /// Records a collection.
    pub fn record(&mut self, c: &GcSample) {
        self.allocated = self.allocated.saturating_add(c.allocated);
        let decay = (-(c.allocated as f64) / HALF_LIFE_BYTES).exp2();
        self.mutator_ns = self.mutator_ns * decay + c.mutator_ns;
        self.gc_ns = self.gc_ns * decay + c.gc_ns;
        let limit = if self.is_expensive { GC_SHARE_EXIT } else { GC_SHARE_ENTER };
        self.is_expensive = self.gc_ns > limit * self.mutator_ns;
    }

    /// Records a full collection that has left `live` of `held` blocks. These include survivors that were not promoted
    /// yet and the last cycle's large objects, which are few in comparison.
    pub fn record_full(&mut self, live: usize, held: usize) {
        let promoted = held.saturating_sub(self.live);
        let dead = held.saturating_sub(live);
        self.found_dead = [self.found_dead[1], dead > 0 && dead as f64 >= DEAD_THRESHOLD * promoted as f64];
        self.live = live;
    }

    /// Returns the size of a nursery that would have `base` bytes otherwise, when the generations hold `held` bytes.
    pub fn size(&mut self, base: usize, held: usize) -> usize {
        if !self.is_expensive || self.found_dead != [true; 2] {
            self.size = 0;
            return base;
        }
        let max = MAX_BYTES.min(MAX_HELD_RATIO * held).min(self.allocated / MIN_ALLOCATED_RATIO);
        self.size = double_or_halve(self.size.max(base), base, max, KEEP_HELD_RATIO * held);
        self.size
    }
}

static PREMATURE_PROMOTION: Mutex<PrematurePromotion> = Mutex::new(PrematurePromotion::new());

/// Locks the state, for the collecting thread.
pub(in crate::collector) fn premature_promotion() -> MutexGuard<'static, PrematurePromotion> {
    unpoisoned(PREMATURE_PROMOTION.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: usize = 1 << 20;

    /// Runs a program that has allocated `n` MB, where collections take `share` of its own time.
    fn run(p: &mut PrematurePromotion, n: usize, share: f64) {
        for _ in 0..n {
            p.record(&GcSample {
                full: false,
                allocated: BASE,
                copied: 0,
                promoted: 0,
                mutator_ns: 1e6,
                gc_ns: 1e6 * share,
            });
        }
    }

    /// Records full collections that promote as much as the last one has left, and find these fractions dead.
    fn find(p: &mut PrematurePromotion, parts: &[f64]) {
        for part in parts {
            let promoted = p.live.max(1000);
            p.record_full(p.live + promoted - (promoted as f64 * part) as usize, p.live + promoted);
        }
    }

    fn size(p: &mut PrematurePromotion) -> usize {
        p.size(BASE, 1 << 30)
    }

    #[test]
    fn nurseries_grow_where_promoted_data_dies_and_collections_are_expensive() {
        let mut p = PrematurePromotion::new();
        run(&mut p, 100, 0.5);
        find(&mut p, &[0.0, 0.3]);
        assert_eq!(size(&mut p), BASE);
        find(&mut p, &[0.3]);
        assert_eq!(size(&mut p), MAX_BYTES);
        // In the larger nursery collections cost less.
        run(&mut p, 1000, 0.15);
        assert_eq!(size(&mut p), MAX_BYTES);
        run(&mut p, 100, 0.05);
        assert_eq!(size(&mut p), BASE);
        run(&mut p, 100, 0.3);
        assert_eq!(size(&mut p), BASE);
    }

    #[test]
    fn death_at_the_end_of_a_phase_is_not_premature() {
        let mut p = PrematurePromotion::new();
        run(&mut p, 100, 0.5);
        for parts in [[0.0, 0.9], [0.01, 0.9]] {
            find(&mut p, &parts);
            assert_eq!(size(&mut p), BASE);
        }
    }

    #[test]
    fn a_program_that_builds_up_its_data_gets_no_larger_nursery() {
        let mut p = PrematurePromotion::new();
        run(&mut p, 100, 0.9);
        find(&mut p, &[0.0, 0.0, 0.0]);
        assert_eq!(size(&mut p), BASE);
    }

    #[test]
    fn nursery_survivors_of_a_full_collection_are_not_dead() {
        let mut p = PrematurePromotion::new();
        run(&mut p, 100, 0.5);
        p.record_full(110, 100);
        p.record_full(230, 220);
        assert_eq!(size(&mut p), BASE);
    }

    #[test]
    fn the_nursery_follows_allocated_and_held_bytes() {
        let mut p = PrematurePromotion::new();
        find(&mut p, &[0.5, 0.5]);
        run(&mut p, 9, 0.5);
        assert_eq!(p.size(BASE, 1 << 30), 4 << 20);
        run(&mut p, 100, 0.5);
        assert_eq!(p.size(BASE, 4 << 20), 8 << 20);
        // The size does not follow every collection that leaves less.
        assert_eq!(p.size(BASE, 2 << 20), 8 << 20);
        assert_eq!(p.size(BASE, 1 << 19), 4 << 20);
        assert_eq!(p.size(8 << 20, 0), 8 << 20);
    }
}
