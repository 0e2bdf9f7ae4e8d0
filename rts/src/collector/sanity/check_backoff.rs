//! At which collections the heap is checked, where all collections would take too long.
//!
//! Whoever collects at every block collects ten thousand times in a program that runs for a moment, and to check a heap
//! takes as long as to copy all of it. So after each so many pointers that checks have verified, one collection more is
//! left out between two of them: a program with little data is checked nearly always, and the time that checks take
//! grows with the square root of what they would take otherwise.
use crate::base::poison::unpoisoned;
use std::sync::Mutex;

/// Pointers: to verify them takes some ten milliseconds.
const STEP: usize = 1 << 19;

pub(in crate::collector) struct CheckBackoff {
    /// Pointers that checks have verified.
    verified: usize,
    /// Collections that are left out before the next check.
    left_out: usize,
}

impl CheckBackoff {
    const fn new() -> CheckBackoff {
        CheckBackoff { verified: 0, left_out: 0 }
    }

    /// Is the heap checked at this collection?
    pub fn is_due(&mut self) -> bool {
        let due = self.left_out == 0;
        self.left_out = if due { self.verified / STEP } else { self.left_out - 1 };
        due
    }

    /// A check has verified so many pointers.
    pub fn record(&mut self, pointers: usize) {
        self.verified += pointers;
    }
}

static CHECK_BACKOFF: Mutex<CheckBackoff> = Mutex::new(CheckBackoff::new());

/// For the thread that collects.
pub(in crate::collector) fn is_due() -> bool {
    unpoisoned(CHECK_BACKOFF.lock()).is_due()
}
pub(in crate::collector) fn record(pointers: usize) {
    unpoisoned(CHECK_BACKOFF.lock()).record(pointers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `n` collections check a heap of so many pointers.
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
        assert_eq!(checks(100, STEP / 101), 100);
        assert_eq!(checks(3, STEP), 2);
        let many = checks(10_000, STEP);
        assert!((100..200).contains(&many), "{many}");
    }
}
