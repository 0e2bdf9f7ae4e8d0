//! Whether a HEC is alone: one of several, where the others do next to nothing.
//!
//! Nurseries of several HECs are large, for then a collection is expensive in itself: all have to stop. A program
//! that may use several and uses one would only need more memory for that. But to give a nursery back and take it again is
//! expensive, too: it is cold then. So company is taken at its first word, and whoever has had it is taken for
//! alone only after a while, a longer one each time.
use std::sync::atomic::{AtomicUsize, Ordering};

/// What others allocate in one of so many bytes does not count: timers, finalizers.
const PART: usize = 16;
/// So many collections in a row make sure, at first and at most.
const SURE: usize = 4;
const MOST_SURE: usize = 1024;

pub struct HecActivity {
    /// Collections in a row that found one HEC to have allocated nearly all.
    alone: AtomicUsize,
    /// How many make sure.
    sure: AtomicUsize,
}

pub(in crate::collector) static HEC_ACTIVITY: HecActivity = HecActivity::new();

impl HecActivity {
    const fn new() -> HecActivity {
        HecActivity { alone: AtomicUsize::new(SURE), sure: AtomicUsize::new(SURE) }
    }

    /// HECs have allocated so much since the last collection.
    pub fn record(&self, allocated: impl Iterator<Item = usize>) {
        let (most, all) = allocated.fold((0, 0), |(most, all), bytes| (bytes.max(most), all + bytes));
        if (all - most) * PART <= all {
            self.alone.store(self.alone.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
            return;
        }
        if self.is_single() {
            self.sure.store((2 * self.sure.load(Ordering::Relaxed)).min(MOST_SURE), Ordering::Relaxed);
        }
        self.alone.store(0, Ordering::Relaxed);
    }

    /// Is there one HEC that does nearly all?
    pub fn is_single(&self) -> bool {
        self.alone.load(Ordering::Relaxed) >= self.sure.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hec_counts_as_single_again_only_after_a_while() {
        let company = HecActivity::new();
        let cycle = |allocated: &[usize]| {
            company.record(allocated.iter().copied());
            company.is_single()
        };
        assert!(cycle(&[100]) && cycle(&[0, 0]) && cycle(&[1, 100, 2]));
        for sure in [2 * SURE, 4 * SURE] {
            assert!(!cycle(&[10, 100]));
            assert!((1..sure).all(|_| !cycle(&[0, 100])));
            assert!(cycle(&[0, 100]));
        }
    }
}
