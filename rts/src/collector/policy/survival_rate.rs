//! Decides whether nurseries of several HECs start large, because much of what they allocate survives.
//!
//! Where most objects die in the nursery, a small one is best: it stays in the caches. Where much survives, the program
//! builds up its data. Then the first full collections follow each other closely, and each copies nearly the whole
//! heap.
//!
//! *Protocol*
//! 1. The gate opens if a large fraction of the allocation survives and collections take a large fraction of the
//!    program's time. (Cheap collections are worth having, because copied objects lie closer together.)
//! 2. While it is open, each HEC gets a larger nursery at once, within [`super::nursery_budget`], instead of when the
//!    heap has grown ([`super::heap_limits`]).
//! 3. The gate closes when either fraction falls below a second, lower threshold.
//! 4. If the program then allocates more slowly, such a nursery is collected before it is full
//!    ([`SurvivalGate::would_be_cheap`]).
//!
//! *Checked by*: the unit tests below.
use crate::base::poison::unpoisoned;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// The gate opens above the first fraction of allocated bytes that survive, and stays open above the second. Larger
/// nurseries lower the fraction.
const SURVIVAL: (f64, f64) = (0.12, 0.03);
/// The gate opens above the first fraction of the program's time that collections take, and stays open above the
/// second.
const GC_SHARE: (f64, f64) = (0.12, 0.09);
/// A collection below this fraction of the program's time is cheap, so a nursery need not be filled any further. More
/// of a larger nursery has left the caches, so its collections are not cheaper by the byte.
const CHEAP_GC_SHARE: f64 = 0.15;
/// The weight of earlier measurements, multiplied at each collection.
const DECAY: f64 = 0.7;

pub struct SurvivalGate {
    /// Decayed bytes allocated and copied, and nanoseconds for which the program ran and was stopped.
    allocated: f64,
    copied: f64,
    mutator_ns: f64,
    gc_ns: f64,
    open: bool,
}

impl SurvivalGate {
    pub const fn new() -> SurvivalGate {
        SurvivalGate { allocated: 0.0, copied: 0.0, mutator_ns: 0.0, gc_ns: 0.0, open: false }
    }

    /// Does much survive, and are collections expensive?
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Would a collection now be cheap, at the recent cost for a byte allocated? The program has allocated `allocated`
    /// bytes since the last one, and has run for `mutator_ns` nanoseconds.
    pub fn would_be_cheap(&self, allocated: usize, mutator_ns: f64) -> bool {
        self.gc_ns * (allocated as f64) < CHEAP_GC_SHARE * mutator_ns * self.allocated
    }

    /// Records a collection. A full one is ignored, since it copies more than what was allocated.
    pub fn record(&mut self, c: &GcSample) {
        if c.full {
            return;
        }
        let add = |sum: &mut f64, new: f64| *sum = *sum * DECAY + new;
        add(&mut self.allocated, c.allocated as f64);
        add(&mut self.copied, c.copied as f64);
        add(&mut self.mutator_ns, c.mutator_ns);
        add(&mut self.gc_ns, c.gc_ns);
        let threshold = |(enter, exit): (f64, f64)| if self.open { exit } else { enter };
        self.open =
            self.copied > threshold(SURVIVAL) * self.allocated && self.gc_ns > threshold(GC_SHARE) * self.mutator_ns;
    }
}

static SURVIVAL_GATE: Mutex<SurvivalGate> = Mutex::new(SurvivalGate::new());

/// Locks the state, for the collecting thread.
pub(in crate::collector) fn survival_gate() -> MutexGuard<'static, SurvivalGate> {
    unpoisoned(SURVIVAL_GATE.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(full: bool, part: f64, share: f64) -> GcSample {
        let copied = (1e6 * part) as usize;
        GcSample { full, allocated: 1_000_000, copied, promoted: 0, mutator_ns: 1e6, gc_ns: 1e6 * share }
    }

    /// Returns whether the gate is open after `n` collections. A fraction `part` of each nursery survives, and
    /// collections take `share` of the program's time.
    fn run(gate: &mut SurvivalGate, n: usize, part: f64, share: f64) -> bool {
        for _ in 0..n {
            gate.record(&cycle(false, part, share));
        }
        gate.open
    }

    #[test]
    fn the_gate_opens_soon_and_stays_open_in_larger_nurseries() {
        let mut gate = SurvivalGate::new();
        assert!(!run(&mut gate, 100, 0.1, 0.2));
        assert!(run(&mut gate, 4, 0.3, 0.2));
        assert!(run(&mut gate, 100, 0.05, 0.1));
        assert!(!run(&mut gate, 20, 0.01, 0.1));
        assert!(!run(&mut gate, 100, 0.05, 0.2));
    }

    #[test]
    fn the_gate_is_closed_where_collections_are_cheap() {
        let mut gate = SurvivalGate::new();
        assert!(!run(&mut gate, 100, 0.5, 0.1));
        assert!(run(&mut gate, 100, 0.5, 0.2));
        assert!(!run(&mut gate, 100, 0.5, 0.05));
    }

    #[test]
    fn collections_are_cheap_once_the_program_allocates_slowly() {
        let mut gate = SurvivalGate::new();
        assert!(!gate.would_be_cheap(1_000_000, 1e6));
        assert!(run(&mut gate, 10, 0.5, 0.2));
        // As much in the same time, and in ten times as long.
        assert!(!gate.would_be_cheap(500_000, 0.5e6));
        assert!(gate.would_be_cheap(500_000, 5e6));
    }

    #[test]
    fn full_collections_are_ignored() {
        let mut gate = SurvivalGate::new();
        assert!(run(&mut gate, 10, 0.5, 0.5));
        (0..100).for_each(|_| gate.record(&cycle(true, 0.0, 0.0)));
        assert!(gate.is_open());
    }
}
