//! Tries whether a larger nursery makes collections cheaper.
//!
//! In a larger nursery more objects die before they are traced. The fixed cost of a collection (stacks, remembered
//! sets) is paid less often, and less is promoted. But allocated and copied objects are further from the caches. Some
//! programs gain a quarter of their time, some lose as much.
//!
//! *Protocol*
//! 1. Where collections cost a good fraction of the time, some collections use twice the size.
//! 2. That size is kept if a byte allocated then costs clearly less in collections, and the next size is tried.
//! 3. Now and then the next size up or down is tried again, less often after each failure.
//! 4. The first trial of a large size comes late: touching a large nursery costs milliseconds, and so does a trial that
//!    fails. Small sizes may be tried early.
//!
//! *Cost*: only collections are compared, because the gain or loss of the program itself cannot be told from a change
//! of its phase. The required gain makes up for its loss, which is a few percent. A minor collection costs its own
//! time, and the bytes that it promotes at the recent cost of a promoted byte in full collections.
//!
//! Where several HECs allocate, only small sizes are tried ([`super::heap_limits`]).
//!
//! *Checked by*: the unit tests below.
use crate::base::poison::unpoisoned;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// The largest nursery, in bytes.
const MAX_BYTES: usize = 32 << 20;
/// A nursery of up to this many bytes is small: touching it costs little, whatever the outcome.
const SMALL_BYTES: usize = 4 << 20;
/// The fraction of the program's own time that twice the room must save.
const MIN_GAIN: f64 = 0.06;
/// The same for a small nursery.
const MIN_GAIN_SMALL: f64 = 0.04;
/// The fraction of the required gain below which a smaller size is preferred.
const KEEP_RATIO: f64 = 0.25;
/// Collections at a size before another one is tried.
const MIN_BASELINE_CYCLES: u32 = 8;
/// Collections before a decision. The first one of a trial touches the new nursery and does not count.
const TRIAL_CYCLES: u32 = 4;
/// Bytes allocated before a decision.
const TRIAL_BYTES: usize = 128 << 20;
/// A larger size is given up at once if it costs this many times as much.
const ABORT_RATIO: f64 = 2.0;
/// Bytes allocated before the first trial: by then a failed trial does not matter.
const MIN_ALLOCATED: usize = 3 << 29;
/// The same for a small nursery.
const MIN_ALLOCATED_SMALL: usize = 64 << 20;
/// Bytes allocated until a size is tried again: at first and at most.
const RETRY_BYTES: (usize, usize) = (1 << 29, 1 << 34);
/// The largest cost of a promoted byte, in nanoseconds. An early full collection is dominated by its fixed cost.
const MAX_PROMOTION_COST: f64 = 5.0;
/// Measurements are halved after this many bytes, so that old ones fade.
const DECAY_BYTES: usize = 2 * TRIAL_BYTES;

/// The measured cost of a size.
#[derive(Clone, Copy)]
struct SizeCost {
    cycles: u32,
    allocated: f64,
    promoted: f64,
    mutator_ns: f64,
    gc_ns: f64,
}

impl SizeCost {
    const NONE: SizeCost = SizeCost { cycles: 0, allocated: 0.0, promoted: 0.0, mutator_ns: 0.0, gc_ns: 0.0 };

    fn add(&mut self, c: &GcSample) {
        if self.allocated > DECAY_BYTES as f64 {
            self.allocated /= 2.0;
            self.promoted /= 2.0;
            self.mutator_ns /= 2.0;
            self.gc_ns /= 2.0;
        }
        self.cycles += 1;
        self.allocated += c.allocated as f64;
        self.promoted += c.promoted as f64;
        self.mutator_ns += c.mutator_ns;
        self.gc_ns += c.gc_ns;
    }
    /// Returns the cost of collections for a byte allocated, if a promoted byte costs the next full one `promoted`.
    fn gc_cost(&self, promoted: f64) -> f64 {
        (self.gc_ns + self.promoted * promoted) / self.allocated.max(1.0)
    }
    fn mutator_cost(&self) -> f64 {
        self.mutator_ns / self.allocated.max(1.0)
    }
}

/// The back-off of trials of a neighbouring size.
#[derive(Clone, Copy)]
struct Candidate {
    /// Bytes to be allocated before the next trial, and from one failed trial to the next.
    bytes_left: usize,
    wait: usize,
}

impl Candidate {
    const NEW: Candidate = Candidate { bytes_left: 0, wait: RETRY_BYTES.0 };
    const LATER: Candidate = Candidate { bytes_left: RETRY_BYTES.0, wait: RETRY_BYTES.0 };

    /// Doubles the wait after a failed trial.
    fn back_off(&mut self) {
        self.bytes_left = self.wait;
        self.wait = (2 * self.wait).min(RETRY_BYTES.1);
    }
}

pub struct NurseryTrial {
    /// The size without a trial, how often it is doubled, and whether there is room to double it once more.
    base: usize,
    log2_scale: u32,
    room: bool,
    current: SizeCost,
    /// The trial under way: the cost of the size before, and whether the size on trial is the larger one.
    trial: Option<(SizeCost, bool)>,
    larger: Candidate,
    smaller: Candidate,
    /// Nanoseconds of a full collection for each promoted byte, and the bytes promoted since the last one.
    promotion_cost: f64,
    promoted: usize,
    /// Bytes allocated in all.
    allocated: usize,
}

impl NurseryTrial {
    pub const fn new() -> NurseryTrial {
        NurseryTrial {
            base: 0,
            log2_scale: 0,
            room: false,
            current: SizeCost::NONE,
            trial: None,
            larger: Candidate::NEW,
            smaller: Candidate::NEW,
            promotion_cost: 0.0,
            promoted: 0,
            allocated: 0,
        }
    }

    /// Returns the size of a nursery whose size without a trial is `base`: a power of two times as much. `room` tells
    /// whether it may have that many bytes.
    pub fn size(&mut self, base: usize, room: impl Fn(usize) -> bool) -> usize {
        if base != self.base {
            self.rebase(base);
        }
        while self.log2_scale > 0 && !room(self.bytes()) {
            self.log2_scale -= 1;
            self.reset();
        }
        let next = 2 * self.bytes();
        self.room = next <= MAX_BYTES && room(next);
        self.bytes()
    }

    fn bytes(&self) -> usize {
        self.base << self.log2_scale
    }

    /// Changes the size without a trial. If that has grown, the nursery keeps its size where it can. If it has shrunk,
    /// the reason for the old size is gone. The trial under way ends.
    fn rebase(&mut self, base: usize) {
        let (size, grows) = (self.bytes(), base > self.base);
        self.base = base;
        if grows {
            self.log2_scale = (size / base).checked_ilog2().unwrap_or(0);
        }
        self.trial = None;
        if self.bytes() != size {
            self.reset();
        }
    }

    /// Forgets all measurements, when the size changes for other reasons than its cost.
    fn reset(&mut self) {
        (self.trial, self.current) = (None, SizeCost::NONE);
        (self.larger, self.smaller) = (Candidate::NEW, Candidate::NEW);
    }

    /// Records a collection.
    pub fn record(&mut self, c: &GcSample) {
        if c.full {
            self.record_full(c.gc_ns);
        } else {
            self.record_small(c);
        }
    }

    fn record_full(&mut self, gc_ns: f64) {
        if self.promoted > 0 {
            self.promotion_cost = (gc_ns / self.promoted as f64).min(MAX_PROMOTION_COST);
        }
        self.promoted = 0;
    }

    fn record_small(&mut self, c: &GcSample) {
        self.promoted += c.promoted;
        self.allocated = self.allocated.saturating_add(c.allocated);
        for candidate in [&mut self.larger, &mut self.smaller] {
            candidate.bytes_left = candidate.bytes_left.saturating_sub(c.allocated);
        }
        self.current.add(c);
        match self.trial {
            Some(_) if self.current.cycles == 1 => self.current = SizeCost { cycles: 1, ..SizeCost::NONE },
            Some((before, larger)) if self.is_decided(&before, larger) => self.decide(before, larger),
            None if self.current.cycles >= MIN_BASELINE_CYCLES => {
                if self.room && self.larger.bytes_left == 0 && self.is_worth_trying() {
                    self.begin(true);
                } else if self.log2_scale > 0 && self.smaller.bytes_left == 0 {
                    self.begin(false);
                }
            }
            _ => {}
        }
    }

    /// Has the program run for long, and do collections cost so much that saving half of it is enough?
    fn is_worth_trying(&self) -> bool {
        let larger = 2 * self.bytes();
        let first = if larger <= SMALL_BYTES { MIN_ALLOCATED_SMALL } else { MIN_ALLOCATED };
        self.allocated >= first
            && self.current.gc_cost(self.promotion_cost) > 2.0 * min_gain(larger) * self.current.mutator_cost()
    }

    fn begin(&mut self, larger: bool) {
        self.trial = Some((std::mem::replace(&mut self.current, SizeCost::NONE), larger));
        self.resize(larger);
    }

    fn resize(&mut self, larger: bool) {
        self.log2_scale = if larger { self.log2_scale + 1 } else { self.log2_scale - 1 };
    }

    /// Has the trial lasted long enough?
    fn is_decided(&self, before: &SizeCost, larger: bool) -> bool {
        let all = self.current.cycles >= TRIAL_CYCLES && self.current.allocated >= TRIAL_BYTES as f64;
        all || larger && self.current.gc_cost(self.promotion_cost) > ABORT_RATIO * before.gc_cost(self.promotion_cost)
    }

    fn decide(&mut self, before: SizeCost, larger: bool) {
        let min_gain = min_gain(if larger { self.bytes() } else { 2 * self.bytes() });
        let (small, large) = if larger { (&before, &self.current) } else { (&self.current, &before) };
        let gain = (small.gc_cost(self.promotion_cost) - large.gc_cost(self.promotion_cost)) / small.mutator_cost();
        let kept = if larger { gain > min_gain } else { gain < KEEP_RATIO * min_gain };
        self.trial = None;
        match (kept, larger) {
            (true, true) => (self.larger, self.smaller) = (Candidate::NEW, Candidate::LATER),
            (true, false) => (self.larger, self.smaller) = (Candidate::LATER, Candidate::LATER),
            (false, true) => self.larger.back_off(),
            (false, false) => self.smaller.back_off(),
        }
        if !kept {
            self.resize(!larger);
            self.current = before;
        }
    }
}

/// Returns the gain that a nursery of `size` bytes requires.
fn min_gain(size: usize) -> f64 {
    if size <= SMALL_BYTES {
        MIN_GAIN_SMALL
    } else {
        MIN_GAIN
    }
}

/// The trial of several HECs and that of a single HEC.
static NURSERY_TRIALS: [Mutex<NurseryTrial>; 2] = [const { Mutex::new(NurseryTrial::new()) }; 2];

/// Locks the state, for the collecting thread.
pub(in crate::collector) fn nursery_trial(alone: bool) -> MutexGuard<'static, NurseryTrial> {
    unpoisoned(NURSERY_TRIALS[usize::from(alone)].lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NURSERY: usize = 4 << 20;

    /// Runs a program that takes a nanosecond a byte, whose collections cost `cost` for each byte in nurseries doubled
    /// that often. Returns by which factor nurseries were larger on average.
    fn run(s: &mut NurseryTrial, bytes: usize, cost: impl Fn(u32) -> f64) -> f64 {
        let (mut total, mut cycles) = (0, 0);
        while total < bytes {
            let allocated = s.size(NURSERY, |_| true);
            let factor = allocated / NURSERY;
            total += allocated;
            cycles += 1;
            s.record_small(&cycle(allocated, 0, cost(factor.ilog2())));
        }
        total as f64 / (NURSERY * cycles) as f64
    }

    fn cycle(allocated: usize, promoted: usize, cost: f64) -> GcSample {
        GcSample {
            full: false,
            allocated,
            copied: 0,
            promoted,
            mutator_ns: allocated as f64,
            gc_ns: allocated as f64 * cost,
        }
    }

    /// A cost that each doubling halves.
    fn halving_cost(log2_scale: u32) -> f64 {
        0.8 / (1 << log2_scale) as f64
    }

    fn rising_cost(log2_scale: u32) -> f64 {
        0.8 + 0.2 * log2_scale as f64
    }

    #[test]
    fn a_size_that_saves_time_is_kept() {
        assert!(run(&mut NurseryTrial::new(), 8 << 30, halving_cost) > 3.0);
    }

    #[test]
    fn a_size_that_costs_time_is_seldom_tried() {
        assert!(run(&mut NurseryTrial::new(), 4 << 30, rising_cost) < 1.1);
    }

    #[test]
    fn a_small_gain_is_not_enough() {
        assert!(run(&mut NurseryTrial::new(), 4 << 30, |d| 0.8 - 0.04 * d as f64) < 1.2);
    }

    #[test]
    fn cheap_collections_lead_to_no_trial() {
        assert_eq!(run(&mut NurseryTrial::new(), 4 << 30, |d| halving_cost(d) / 8.0), 1.0);
    }

    #[test]
    fn a_small_nursery_is_tried_early_and_keeps_its_size_when_the_heap_grows() {
        let mut s = NurseryTrial::new();
        let mut total = 0;
        while total < 512 << 20 {
            let size = s.size(NURSERY / 4, |size| size <= NURSERY);
            total += size;
            s.record_small(&cycle(size, 0, halving_cost((4 * size / NURSERY).ilog2())));
        }
        assert_eq!(s.size(NURSERY / 4, |size| size <= NURSERY), NURSERY);
        assert_eq!(s.size(NURSERY / 2, |size| size <= NURSERY), NURSERY);
        assert_eq!(s.size(NURSERY, |_| false), NURSERY);
        assert_eq!(s.size(NURSERY / 4, |_| false), NURSERY / 4);
    }

    #[test]
    fn a_smaller_base_size_shrinks_the_nursery() {
        let mut s = NurseryTrial::new();
        assert_eq!(s.size(NURSERY, |_| true), NURSERY);
        assert_eq!(s.size(NURSERY / 4, |_| true), NURSERY / 4);
    }

    #[test]
    fn a_trial_ends_when_the_heap_grows() {
        let mut s = NurseryTrial::new();
        let mut step = |base| {
            let size = s.size(base, |size| size <= NURSERY);
            s.record_small(&cycle(size, 0, rising_cost((4 * size / NURSERY).ilog2())));
            (size, s.trial.is_some())
        };
        while !step(NURSERY / 4).1 {}
        assert_eq!(step(NURSERY / 2), (NURSERY / 2, false));
        (0..1000).for_each(|_| assert!(step(NURSERY / 2).0 >= NURSERY / 2));
    }

    #[test]
    fn growth_stops_at_the_best_size() {
        let best = |d: u32| if d == 1 { 0.4 } else { 0.8 };
        let mut s = NurseryTrial::new();
        let mean = run(&mut s, 16 << 30, best);
        assert!(mean > 1.7 && mean < 2.3, "{mean}");
    }

    #[test]
    fn a_change_of_the_program_is_noticed() {
        let mut s = NurseryTrial::new();
        run(&mut s, 4 << 30, halving_cost);
        run(&mut s, 30 << 30, rising_cost);
        assert!(run(&mut s, 4 << 30, rising_cost) < 1.1);
        run(&mut s, 30 << 30, halving_cost);
        assert!(run(&mut s, 4 << 30, halving_cost) > 4.0);
    }

    #[test]
    fn promotion_is_charged_with_the_next_full_collection() {
        let mut s = NurseryTrial::new();
        for _ in 0..1000 {
            let allocated = s.size(NURSERY, |_| true);
            let factor = allocated / NURSERY;
            let promoted = allocated / 4 / (factor * factor);
            s.record_small(&cycle(allocated, promoted, 0.1));
            s.record_full(promoted as f64 * 2.0);
        }
        assert!(s.size(NURSERY, |_| true) > NURSERY);
    }

    #[test]
    fn a_lack_of_room_resets_the_trial() {
        let mut s = NurseryTrial::new();
        assert_eq!(run_in(&mut s, |_| true), MAX_BYTES);
        assert_eq!(s.size(NURSERY, |size| size == NURSERY), NURSERY);
        assert_eq!(run_in(&mut s, |size| size <= 2 * NURSERY), 2 * NURSERY);
    }

    /// Returns how large nurseries become in this room.
    fn run_in(s: &mut NurseryTrial, room: impl Fn(usize) -> bool) -> usize {
        for _ in 0..1000 {
            let size = s.size(NURSERY, &room);
            s.record_small(&cycle(size, 0, halving_cost((size / NURSERY).ilog2())));
        }
        s.size(NURSERY, room)
    }
}
