//! Whether a program keeps much of what it allocates.
//!
//! Where most dies in the nursery a small one is best: it stays in the caches. Where much is kept the program builds up its data: the first
//! full collections follow each other closely then, and each copies nearly all that is there. Several HECs, which also wait for each other
//! each time, have larger nurseries then at once, as far as they are paid for (`nursery_budget.rs`), instead of when the heap has grown
//! (`heap_limits.rs`). But only while collections take a good part of the time: what has been copied lies closer together. Where the program turns
//! to something else, which allocates less in the same time, such a nursery is not filled any more.
use crate::base::poison::unpoisoned;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// Survivors are much if they are such a part of what was allocated, and collections dear if they take such a part of the time that the
/// program runs; once both is so, it stays so above the second figure: larger nurseries change them.
const MUCH: (f64, f64) = (0.12, 0.03);
const DEAR: (f64, f64) = (0.12, 0.09);
/// So cheap is one of a nursery that need not be filled any further. (Larger ones, of which more has left the caches, are not cheaper by the byte.)
const CHEAP: f64 = 0.15;
/// What has been counts this part of it at the next collection.
const FADES: f64 = 0.7;

pub struct SurvivalGate {
    /// Lately: bytes allocated and copied, and nanoseconds that the program ran and that it was stopped.
    allocated: f64,
    copied: f64,
    run: f64,
    stopped: f64,
    much: bool,
}

impl SurvivalGate {
    pub const fn new() -> SurvivalGate {
        SurvivalGate { allocated: 0.0, copied: 0.0, run: 0.0, stopped: 0.0, much: false }
    }

    /// It does, and collections are dear.
    pub fn is_open(&self) -> bool {
        self.much
    }

    /// Would a collection no longer be dear, if it cost what they have cost lately for a byte allocated? `allocated` have been since the
    /// last one, in which the program ran for `run` nanoseconds.
    pub fn would_be_cheap(&self, allocated: usize, run: f64) -> bool {
        self.stopped * (allocated as f64) < CHEAP * run * self.allocated
    }

    /// A collection has been. What a full one copies is not only what was allocated.
    pub fn record(&mut self, c: &GcSample) {
        if c.full {
            return;
        }
        let add = |sum: &mut f64, new: f64| *sum = *sum * FADES + new;
        add(&mut self.allocated, c.allocated as f64);
        add(&mut self.copied, c.copied as f64);
        add(&mut self.run, c.run);
        add(&mut self.stopped, c.stopped);
        let above = |(first, then): (f64, f64)| if self.much { then } else { first };
        self.much = self.copied > above(MUCH) * self.allocated && self.stopped > above(DEAR) * self.run;
    }
}

static SURVIVAL_GATE: Mutex<SurvivalGate> = Mutex::new(SurvivalGate::new());

/// What is known, for the thread that collects.
pub(in crate::collector) fn survival_gate() -> MutexGuard<'static, SurvivalGate> {
    unpoisoned(SURVIVAL_GATE.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(full: bool, part: f64, share: f64) -> GcSample {
        let copied = (1e6 * part) as usize;
        GcSample { full, allocated: 1_000_000, copied, promoted: 0, run: 1e6, stopped: 1e6 * share }
    }

    /// After `n` collections of a nursery of which such a part survives, and that take such a part of the time that the program runs.
    fn run(k: &mut SurvivalGate, n: usize, part: f64, share: f64) -> bool {
        for _ in 0..n {
            k.record(&cycle(false, part, share));
        }
        k.much
    }

    #[test]
    fn the_gate_opens_soon_and_stays_open_in_larger_nurseries() {
        let mut k = SurvivalGate::new();
        assert!(!run(&mut k, 100, 0.1, 0.2));
        assert!(run(&mut k, 4, 0.3, 0.2));
        assert!(run(&mut k, 100, 0.05, 0.1));
        assert!(!run(&mut k, 20, 0.01, 0.1));
        assert!(!run(&mut k, 100, 0.05, 0.2));
    }

    #[test]
    fn the_gate_is_closed_where_collections_are_cheap() {
        let mut k = SurvivalGate::new();
        assert!(!run(&mut k, 100, 0.5, 0.1));
        assert!(run(&mut k, 100, 0.5, 0.2));
        assert!(!run(&mut k, 100, 0.5, 0.05));
    }

    #[test]
    fn collections_are_cheap_once_the_program_allocates_slowly() {
        let mut k = SurvivalGate::new();
        assert!(!k.would_be_cheap(1_000_000, 1e6));
        assert!(run(&mut k, 10, 0.5, 0.2));
        // As much in the same time, and in ten times as long.
        assert!(!k.would_be_cheap(500_000, 0.5e6));
        assert!(k.would_be_cheap(500_000, 5e6));
    }

    #[test]
    fn full_collections_are_ignored() {
        let mut k = SurvivalGate::new();
        assert!(run(&mut k, 10, 0.5, 0.5));
        (0..100).for_each(|_| k.record(&cycle(true, 0.0, 0.0)));
        assert!(k.is_open());
    }
}
