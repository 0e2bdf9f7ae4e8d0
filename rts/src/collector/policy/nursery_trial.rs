//! Whether nurseries are worth more room than they get for what the generations hold.
//!
//! In a larger nursery more has died before it is looked at, what each collection costs in any case
//! (stacks, remembered sets) is paid less often, and less is promoted. On the other side, what is
//! allocated and what is copied is further from the caches. Some programs gain a quarter of their
//! time, some lose as much. So where collections cost a good part of the time, twice the size is
//! tried for some of them, and kept if a byte allocated then costs clearly less; and so on. Now and
//! then the next size up or down is tried again, less often each time that nothing has come of it.
//!
//! To touch a large nursery for the first time costs milliseconds, and so does a trial that goes badly.
//! So the first comes when the program has run long enough for that not to matter; a small one may
//! be tried early.
//!
//! Only what collections cost is compared: what the program itself gains or loses cannot be told from
//! what it happens to do just then. For that loss the gain has to make up; it is a few percent.
//!
//! Where several HECs allocate, only small sizes are tried (`heap_limits.rs`).
//!
//! A small collection costs its own time and what it leaves to the next full one: the bytes that it
//! promotes, at what a promoted byte has cost lately.
use crate::base::poison::unpoisoned;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// No larger than this, in bytes.
const MOST: usize = 32 << 20;
/// A nursery up to this size is small: it costs little to touch, whatever becomes of it.
const SMALL: usize = 4 << 20;
/// Collections must save such a part of the time that the program itself runs, for twice the room; and
/// such a part of that to keep it.
const WORTH: f64 = 0.06;
const SMALL_WORTH: f64 = 0.04;
const STILL: f64 = 0.25;
/// Collections at a size before another one is tried.
const BEFORE: u32 = 8;
/// Collections and bytes allocated before a decision. The first collection of a trial touches the new
/// nursery and does not count; a larger size that costs so much more after that is given up at once.
const TRIAL: u32 = 4;
const TRIAL_BYTES: usize = 128 << 20;
const MUCH_MORE: f64 = 2.0;
/// Bytes allocated before the first trial.
const FIRST: usize = 3 << 29;
const FIRST_SMALL: usize = 64 << 20;
/// Bytes allocated until a size is tried again: at first and at most.
const WAIT: (usize, usize) = (1 << 29, 1 << 34);
/// Nanoseconds: what a promoted byte costs at most. A full collection that comes early has little to show for
/// what it costs in any case.
const MOST_FOR_PROMOTED: f64 = 5.0;
/// What was measured before so many bytes counts half.
const MEMORY: usize = 2 * TRIAL_BYTES;

/// What a size has cost.
#[derive(Clone, Copy)]
struct SizeCost {
    cycles: u32,
    allocated: f64,
    promoted: f64,
    run: f64,
    stopped: f64,
}

impl SizeCost {
    const NONE: SizeCost = SizeCost { cycles: 0, allocated: 0.0, promoted: 0.0, run: 0.0, stopped: 0.0 };

    fn add(&mut self, c: &GcSample) {
        if self.allocated > MEMORY as f64 {
            self.allocated /= 2.0;
            self.promoted /= 2.0;
            self.run /= 2.0;
            self.stopped /= 2.0;
        }
        self.cycles += 1;
        self.allocated += c.allocated as f64;
        self.promoted += c.promoted as f64;
        self.run += c.run;
        self.stopped += c.stopped;
    }
    /// Of collections, for a byte allocated, if a promoted byte costs the next full one so much.
    fn of_collections(&self, promoted: f64) -> f64 {
        (self.stopped + self.promoted * promoted) / self.allocated.max(1.0)
    }
    fn of_running(&self) -> f64 {
        self.run / self.allocated.max(1.0)
    }
}

/// When a neighbouring size is tried next.
#[derive(Clone, Copy)]
struct Candidate {
    /// Bytes allocated until then, and from one vain trial to the next.
    until: usize,
    wait: usize,
}

impl Candidate {
    const NEW: Candidate = Candidate { until: 0, wait: WAIT.0 };
    const LATER: Candidate = Candidate { until: WAIT.0, wait: WAIT.0 };

    /// It has been tried in vain.
    fn back_off(&mut self) {
        self.until = self.wait;
        self.wait = (2 * self.wait).min(WAIT.1);
    }
}

pub struct NurseryTrial {
    /// What a nursery has in any case, how often that is doubled, and whether there is room to do it once more.
    base: usize,
    log2_scale: u32,
    room: bool,
    now: SizeCost,
    /// The size in use is being tried: what the one before has cost, and whether this is the larger one.
    trial: Option<(SizeCost, bool)>,
    larger: Candidate,
    smaller: Candidate,
    /// Nanoseconds of a full collection for each byte that had been promoted; and bytes since the last.
    full: f64,
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
            now: SizeCost::NONE,
            trial: None,
            larger: Candidate::NEW,
            smaller: Candidate::NEW,
            full: 0.0,
            promoted: 0,
            allocated: 0,
        }
    }

    /// The size of a nursery that has `base` bytes in any case, a power of two times as much. `room` tells
    /// whether it may have so many bytes.
    pub fn size(&mut self, base: usize, room: impl Fn(usize) -> bool) -> usize {
        if base != self.base {
            self.rebase(base);
        }
        while self.log2_scale > 0 && !room(self.now_bytes()) {
            self.log2_scale -= 1;
            self.forget();
        }
        let next = 2 * self.now_bytes();
        self.room = next <= MOST && room(next);
        self.now_bytes()
    }

    fn now_bytes(&self) -> usize {
        self.base << self.log2_scale
    }

    /// What a nursery has in any case is another now. Where that is more its size stays, if it can; where it is less the reason for
    /// it is gone. It is no longer tried.
    fn rebase(&mut self, base: usize) {
        let (size, grows) = (self.now_bytes(), base > self.base);
        self.base = base;
        if grows {
            self.log2_scale = (size / base).checked_ilog2().unwrap_or(0);
        }
        self.trial = None;
        if self.now_bytes() != size {
            self.forget();
        }
    }

    /// The size changes for other reasons than what it costs.
    fn forget(&mut self) {
        (self.trial, self.now) = (None, SizeCost::NONE);
        (self.larger, self.smaller) = (Candidate::NEW, Candidate::NEW);
    }

    /// A collection has been.
    pub fn record(&mut self, c: &GcSample) {
        if c.full {
            self.record_full(c.stopped);
        } else {
            self.record_small(c);
        }
    }

    fn record_full(&mut self, stopped: f64) {
        if self.promoted > 0 {
            self.full = (stopped / self.promoted as f64).min(MOST_FOR_PROMOTED);
        }
        self.promoted = 0;
    }

    fn record_small(&mut self, c: &GcSample) {
        self.promoted += c.promoted;
        self.allocated = self.allocated.saturating_add(c.allocated);
        for neighbour in [&mut self.larger, &mut self.smaller] {
            neighbour.until = neighbour.until.saturating_sub(c.allocated);
        }
        self.now.add(c);
        match self.trial {
            Some(_) if self.now.cycles == 1 => self.now = SizeCost { cycles: 1, ..SizeCost::NONE },
            Some((before, larger)) if self.is_clear(&before, larger) => self.decide(before, larger),
            None if self.now.cycles >= BEFORE => {
                if self.room && self.larger.until == 0 && self.may_gain() {
                    self.begin(true);
                } else if self.log2_scale > 0 && self.smaller.until == 0 {
                    self.begin(false);
                }
            }
            _ => {}
        }
    }

    /// The program has run for long, and collections cost so much that to save half of it would do.
    fn may_gain(&self) -> bool {
        let larger = 2 * self.now_bytes();
        let first = if larger <= SMALL { FIRST_SMALL } else { FIRST };
        self.allocated >= first && self.now.of_collections(self.full) > 2.0 * worth(larger) * self.now.of_running()
    }

    fn begin(&mut self, larger: bool) {
        self.trial = Some((std::mem::replace(&mut self.now, SizeCost::NONE), larger));
        self.resize(larger);
    }

    fn resize(&mut self, larger: bool) {
        self.log2_scale = if larger { self.log2_scale + 1 } else { self.log2_scale - 1 };
    }

    /// Has the trial lasted long enough?
    fn is_clear(&self, before: &SizeCost, larger: bool) -> bool {
        let all = self.now.cycles >= TRIAL && self.now.allocated >= TRIAL_BYTES as f64;
        all || larger && self.now.of_collections(self.full) > MUCH_MORE * before.of_collections(self.full)
    }

    fn decide(&mut self, before: SizeCost, larger: bool) {
        let worth = worth(if larger { self.now_bytes() } else { 2 * self.now_bytes() });
        let (small, large) = if larger { (&before, &self.now) } else { (&self.now, &before) };
        let gain = (small.of_collections(self.full) - large.of_collections(self.full)) / small.of_running();
        let kept = if larger { gain > worth } else { gain < STILL * worth };
        self.trial = None;
        match (kept, larger) {
            (true, true) => (self.larger, self.smaller) = (Candidate::NEW, Candidate::LATER),
            (true, false) => (self.larger, self.smaller) = (Candidate::LATER, Candidate::LATER),
            (false, true) => self.larger.back_off(),
            (false, false) => self.smaller.back_off(),
        }
        if !kept {
            self.resize(!larger);
            self.now = before;
        }
    }
}

/// What is worth a nursery of so many bytes.
fn worth(size: usize) -> f64 {
    if size <= SMALL {
        SMALL_WORTH
    } else {
        WORTH
    }
}

/// One for a HEC that allocates alone, one for several in company.
static NURSERY_TRIALS: [Mutex<NurseryTrial>; 2] = [const { Mutex::new(NurseryTrial::new()) }; 2];

/// What is known, for the thread that collects.
pub(in crate::collector) fn nursery_trial(alone: bool) -> MutexGuard<'static, NurseryTrial> {
    unpoisoned(NURSERY_TRIALS[usize::from(alone)].lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NURSERY: usize = 4 << 20;

    /// A program that runs for a nanosecond a byte, and whose collections cost so much for each in nurseries
    /// doubled so often; by how much nurseries were larger on the average.
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
            run: allocated as f64,
            stopped: allocated as f64 * cost,
        }
    }

    /// Half for each doubling.
    fn saves(log2_scale: u32) -> f64 {
        0.8 / (1 << log2_scale) as f64
    }

    fn loses(log2_scale: u32) -> f64 {
        0.8 + 0.2 * log2_scale as f64
    }

    #[test]
    fn a_size_that_saves_time_is_kept() {
        assert!(run(&mut NurseryTrial::new(), 8 << 30, saves) > 3.0);
    }

    #[test]
    fn a_size_that_costs_time_is_seldom_tried() {
        assert!(run(&mut NurseryTrial::new(), 4 << 30, loses) < 1.1);
    }

    #[test]
    fn a_small_gain_is_not_enough() {
        assert!(run(&mut NurseryTrial::new(), 4 << 30, |d| 0.8 - 0.04 * d as f64) < 1.2);
    }

    #[test]
    fn cheap_collections_lead_to_no_trial() {
        assert_eq!(run(&mut NurseryTrial::new(), 4 << 30, |d| saves(d) / 8.0), 1.0);
    }

    #[test]
    fn a_small_nursery_is_tried_early_and_keeps_its_size_when_the_heap_grows() {
        let mut s = NurseryTrial::new();
        let mut total = 0;
        while total < 512 << 20 {
            let size = s.size(NURSERY / 4, |size| size <= NURSERY);
            total += size;
            s.record_small(&cycle(size, 0, saves((4 * size / NURSERY).ilog2())));
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
            s.record_small(&cycle(size, 0, loses((4 * size / NURSERY).ilog2())));
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
        run(&mut s, 4 << 30, saves);
        run(&mut s, 30 << 30, loses);
        assert!(run(&mut s, 4 << 30, loses) < 1.1);
        run(&mut s, 30 << 30, saves);
        assert!(run(&mut s, 4 << 30, saves) > 4.0);
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
        assert_eq!(run_in(&mut s, |_| true), MOST);
        assert_eq!(s.size(NURSERY, |size| size == NURSERY), NURSERY);
        assert_eq!(run_in(&mut s, |size| size <= 2 * NURSERY), 2 * NURSERY);
    }

    /// How large nurseries become in this room.
    fn run_in(s: &mut NurseryTrial, room: impl Fn(usize) -> bool) -> usize {
        for _ in 0..1000 {
            let size = s.size(NURSERY, &room);
            s.record_small(&cycle(size, 0, saves((size / NURSERY).ilog2())));
        }
        s.size(NURSERY, room)
    }
}
