//! Chooses the collections at which the heap is checked, where checking at all would take too long.
//!
//! A program that collects at every block collects ten thousand times within a moment, and checking a heap takes as
//! long as copying it. So each time that checks have verified a certain number of pointers, the interval between two
//! checks grows by one collection. A program with little data is checked nearly always. The time for checks grows with
//! the square root of what checking always would take.
//!
//! *Checked by*: the unit test below.
use crate::base::poison::unpoisoned;
use std::sync::Mutex;

/// Verified pointers after which the interval grows by one: about ten milliseconds of checking.
const POINTERS_PER_STEP: usize = 1 << 19;

pub(in crate::collector) struct CheckBackoff {
    /// Pointers that checks have verified.
    verified: usize,
    /// Collections to be left out before the next check.
    skipped: usize,
}

impl CheckBackoff {
    const fn new() -> CheckBackoff {
        CheckBackoff { verified: 0, skipped: 0 }
    }

    /// Counts a collection. Is the heap to be checked at it?
    pub fn is_due(&mut self) -> bool {
        let due = self.skipped == 0;
        self.skipped = if due { self.verified / POINTERS_PER_STEP } else { self.skipped - 1 };
        due
    }

    /// Records that a check has verified this many pointers.
    pub fn record(&mut self, pointers: usize) {
        self.verified += pointers;
    }
}

static CHECK_BACKOFF: Mutex<CheckBackoff> = Mutex::new(CheckBackoff::new());

/// Counts a collection. Is the heap to be checked at it? For the collecting thread.
pub(in crate::collector) fn is_due() -> bool {
    unpoisoned(CHECK_BACKOFF.lock()).is_due()
}
/// Records that a check has verified this many pointers. For the collecting thread.
pub(in crate::collector) fn record(pointers: usize) {
    unpoisoned(CHECK_BACKOFF.lock()).record(pointers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at how many of `n` collections a heap of this many pointers is checked.
    fn checks(n: usize, pointers: usize) -> usize {
        let mut backoff = CheckBackoff::new();
        let check = |_: &usize| {
            let due = backoff.is_due();
            backoff.record(if due { pointers } else { 0 });
            due
        };
        (0..n).filter(check).count()
    }

    #[test]
    fn small_heaps_are_always_checked_and_large_ones_ever_more_rarely() {
        assert_eq!(checks(100, POINTERS_PER_STEP / 101), 100);
        assert_eq!(checks(3, POINTERS_PER_STEP), 2);
        let heavy = checks(10_000, POINTERS_PER_STEP);
        assert!((100..200).contains(&heavy), "{heavy}");
    }
}
