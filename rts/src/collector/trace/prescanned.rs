//! Ranges of copies that need no scavenging, since all that they refer to was evacuated when they were made.
//!
//! They are most cells of a list of characters or numbers ([`super::list_cells`]). Scavenging them as well would take
//! as long as copying them.
//!
//! *Protocol*: the ranges lie in the runs that a worker fills, and are scavenged mostly in the order of their making.
//! So they are in a queue. Ranges that are not reached, because another worker or a later run has them, are dropped.
//!
//! *Invariants*: scavenging a prescanned object again is harmless.
//!
//! *Checked by*: the unit tests below.
use std::collections::VecDeque;

/// The largest number of queued ranges. A longer queue is seldom reached in order.
const MAX_RANGES: usize = 64;

pub(in crate::collector) struct PrescannedRanges {
    /// The start of the first range; no valid address if there is none.
    pub next: usize,
    /// The address of the first object of a range, and the end of the last.
    ranges: VecDeque<(usize, usize)>,
}

impl PrescannedRanges {
    pub fn new() -> PrescannedRanges {
        PrescannedRanges { next: usize::MAX, ranges: VecDeque::new() }
    }

    /// Adds the objects from `start` up to `end`.
    #[inline]
    pub fn add(&mut self, start: usize, end: usize) {
        if self.ranges.len() < MAX_RANGES {
            self.ranges.push_back((start, end));
            self.update_next();
        }
    }

    fn update_next(&mut self) {
        self.next = self.ranges.front().map_or(usize::MAX, |&(start, _)| start);
    }

    /// Removes the first range, which the scan has reached, and returns its end.
    #[cold]
    #[inline(never)]
    pub fn skip(&mut self) -> usize {
        let at = self.ranges.pop_front().map_or(self.next, |(_, end)| end);
        self.update_next();
        at
    }

    /// Prepares for the scan of a run from `from` to `limit`.
    pub fn begin(&mut self, from: usize, limit: usize) {
        while self.next != usize::MAX && !(from..limit).contains(&self.next) {
            self.skip();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_skipped_in_order() {
        let mut s = PrescannedRanges::new();
        assert_eq!(s.next, usize::MAX);
        s.add(100, 140);
        s.add(200, 280);
        assert_eq!((s.next, s.skip()), (100, 140));
        assert_eq!((s.next, s.skip(), s.next), (200, 280, usize::MAX));
    }

    #[test]
    fn ranges_that_are_not_reached_are_dropped() {
        let mut s = PrescannedRanges::new();
        for start in [100, 200, 1000, 1200, 100] {
            s.add(start, start + 24);
        }
        s.begin(1100, 2000);
        assert_eq!((s.next, s.skip(), s.next), (1200, 1224, 100));
        s.begin(1100, 2000);
        assert_eq!(s.next, usize::MAX);
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        let mut s = PrescannedRanges::new();
        (0..2 * MAX_RANGES).for_each(|i| s.add(100 * i, 100 * i + 24));
        s.begin(100 * (MAX_RANGES - 1), usize::MAX);
        assert_eq!((s.skip(), s.next), (100 * (MAX_RANGES - 1) + 24, usize::MAX));
    }
}
