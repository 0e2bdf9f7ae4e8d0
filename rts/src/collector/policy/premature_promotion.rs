//! Whether a program promotes what soon dies, and pays for it.
//!
//! What lives a little longer than a nursery lasts is copied, promoted, and dead when the next full collection comes. In a nursery several
//! times as large it would never have been looked at. How long objects live cannot be seen from survivors: those that survive twice may live for
//! ever, or die with the phase that made them. But full collections tell: if they find dead, one after the other, some of what has been promoted
//! since the one before, a larger nursery is worth its room, provided that collections are dear (the program itself runs more slowly
//! in a large one). Where they find all of it alive, the program builds up its data, and the same part survives whatever the size.
use crate::base::poison::unpoisoned;
use crate::collector::policy::doubling::following;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// So much of what has been promoted must have died.
const SOME: f64 = 0.05;
/// Collections are dear if they have lately taken such a part of the time that the program ran; and remain so above the second figure: larger
/// nurseries make them cheaper.
const DEAR: (f64, f64) = (0.4, 0.1);
/// What was before so many bytes had been allocated counts half.
const LATELY: f64 = (16 << 20) as f64;
/// The largest nursery. It may have so many times what the generations hold, and keeps its size until it has `LEFT` times as much. Before that,
/// `PAID` times as many bytes must have been allocated: a program that ends soon has no use for the room.
const MOST: usize = 16 << 20;
const HELD: usize = 2;
const LEFT: usize = 8;
const PAID: usize = 2;

pub struct PrematurePromotion {
    /// Lately: nanoseconds that the program ran, and that it was stopped.
    run: f64,
    stopped: f64,
    dear: bool,
    /// Bytes allocated in all.
    allocated: usize,
    /// Blocks that the last full collection left, and whether it found some dead of what had been promoted; and the one before it.
    live: usize,
    found: [bool; 2],
    /// The size that nurseries have for it; 0 if none.
    size: usize,
}

impl PrematurePromotion {
    pub const fn new() -> PrematurePromotion {
        PrematurePromotion { run: 0.0, stopped: 0.0, dear: false, allocated: 0, live: 0, found: [false; 2], size: 0 }
    }

    /// A collection has been.
    pub fn record(&mut self, c: &GcSample) {
        self.allocated = self.allocated.saturating_add(c.allocated);
        let rest = (-(c.allocated as f64) / LATELY).exp2();
        self.run = self.run * rest + c.run;
        self.stopped = self.stopped * rest + c.stopped;
        let limit = if self.dear { DEAR.1 } else { DEAR.0 };
        self.dear = self.stopped > limit * self.run;
    }

    /// A full collection has left `live` of `held` blocks. (These hold also what had survived once and was not promoted yet, and the last
    /// cycle's large objects: little beside the rest.)
    pub fn record_full(&mut self, live: usize, held: usize) {
        let promoted = held.saturating_sub(self.live);
        let dead = held.saturating_sub(live);
        self.found = [self.found[1], dead > 0 && dead as f64 >= SOME * promoted as f64];
        self.live = live;
    }

    /// The size of a nursery that has `base` bytes in any case, where the generations hold `held` bytes.
    pub fn size(&mut self, base: usize, held: usize) -> usize {
        if !self.dear || self.found != [true; 2] {
            self.size = 0;
            return base;
        }
        let most = MOST.min(HELD * held).min(self.allocated / PAID);
        self.size = following(self.size.max(base), base, most, LEFT * held);
        self.size
    }
}

static PREMATURE_PROMOTION: Mutex<PrematurePromotion> = Mutex::new(PrematurePromotion::new());

/// What is known, for the thread that collects.
pub(in crate::collector) fn premature_promotion() -> MutexGuard<'static, PrematurePromotion> {
    unpoisoned(PREMATURE_PROMOTION.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: usize = 1 << 20;

    /// A program that has allocated `n` times 1 MB, where collections take such a part of the time that it runs.
    fn run(p: &mut PrematurePromotion, n: usize, share: f64) {
        for _ in 0..n {
            p.record(&GcSample {
                full: false,
                allocated: BASE,
                copied: 0,
                promoted: 0,
                run: 1e6,
                stopped: 1e6 * share,
            });
        }
    }

    /// Full collections that find such parts of as much dead as the one before has left.
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
        assert_eq!(size(&mut p), MOST);
        // In the larger nursery they cost less.
        run(&mut p, 1000, 0.15);
        assert_eq!(size(&mut p), MOST);
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
        // Not for every collection that leaves less.
        assert_eq!(p.size(BASE, 2 << 20), 8 << 20);
        assert_eq!(p.size(BASE, 1 << 19), 4 << 20);
        assert_eq!(p.size(8 << 20, 0), 8 << 20);
    }
}
