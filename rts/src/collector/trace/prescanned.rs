//! Copies that need not be scanned, since all they refer to has been seen to when they were made: most cells of a list
//! of characters or numbers (`list_cells.rs`). Scanning them as well would take as long as copying them.
//!
//! They lie in ranges, in the runs that a worker fills, and are scanned by the order in which they were made, for the
//! most part. So there is a queue of ranges. Those that are not met, since their run is scanned later or by another
//! worker, are forgotten: to scan what is settled does no harm.
use std::collections::VecDeque;

/// So many ranges are remembered.
const MOST: usize = 64;

pub(in crate::collector) struct PrescannedRanges {
    /// Where the first range begins; no address if there is none.
    pub next: usize,
    /// From the first object to the one behind the last.
    ranges: VecDeque<(usize, usize)>,
}

impl PrescannedRanges {
    pub fn new() -> PrescannedRanges {
        PrescannedRanges { next: usize::MAX, ranges: VecDeque::new() }
    }

    /// Objects from `start` up to `end` are settled.
    #[inline]
    pub fn add(&mut self, start: usize, end: usize) {
        if self.ranges.len() < MOST {
            self.ranges.push_back((start, end));
            self.look();
        }
    }

    fn look(&mut self) {
        self.next = self.ranges.front().map_or(usize::MAX, |&(start, _)| start);
    }

    /// The scan has come to the first range: where it ends.
    #[cold]
    #[inline(never)]
    pub fn skip(&mut self) -> usize {
        let at = self.ranges.pop_front().map_or(self.next, |(_, end)| end);
        self.look();
        at
    }

    /// A run is to be scanned, from `from` on, that ends at `limit`.
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
        (0..2 * MOST).for_each(|i| s.add(100 * i, 100 * i + 24));
        s.begin(100 * (MOST - 1), usize::MAX);
        assert_eq!((s.skip(), s.next), (100 * (MOST - 1) + 24, usize::MAX));
    }
}
