//! Detects whether a single HEC allocates, while the others do next to nothing.
//!
//! Nurseries of several HECs are large, because a collection that must stop all of them is expensive. A program that
//! may use several HECs but uses one would only need more memory. Giving a nursery back and taking it again is
//! expensive too, because it is cold then. So a second active HEC counts at once. A HEC counts as single again only
//! after a number of collections, which doubles each time.
use std::sync::atomic::{AtomicUsize, Ordering};

/// The allocation of other HECs is ignored below one part in this many, for timers and finalizers.
const MINOR_DIVISOR: usize = 16;
/// Collections in a row that confirm that a HEC is single, at first.
const MIN_CONFIRMATIONS: usize = 4;
/// The same, at most.
const MAX_CONFIRMATIONS: usize = 1024;

pub struct HecActivity {
    /// Collections in a row in which one HEC has allocated nearly all.
    single_in_a_row: AtomicUsize,
    /// Collections in a row that confirm it.
    confirmations: AtomicUsize,
}

pub(in crate::collector) static HEC_ACTIVITY: HecActivity = HecActivity::new();

impl HecActivity {
    const fn new() -> HecActivity {
        HecActivity {
            single_in_a_row: AtomicUsize::new(MIN_CONFIRMATIONS),
            confirmations: AtomicUsize::new(MIN_CONFIRMATIONS),
        }
    }

    /// Records how many bytes each HEC has allocated since the last collection.
    pub fn record(&self, allocated: impl Iterator<Item = usize>) {
        let (max, all) = allocated.fold((0, 0), |(max, all), bytes| (bytes.max(max), all + bytes));
        if (all - max) * MINOR_DIVISOR <= all {
            self.single_in_a_row
                .store(self.single_in_a_row.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
            return;
        }
        if self.is_single() {
            self.confirmations
                .store((2 * self.confirmations.load(Ordering::Relaxed)).min(MAX_CONFIRMATIONS), Ordering::Relaxed);
        }
        self.single_in_a_row.store(0, Ordering::Relaxed);
    }

    /// Does one HEC allocate nearly all?
    pub fn is_single(&self) -> bool {
        self.single_in_a_row.load(Ordering::Relaxed) >= self.confirmations.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hec_counts_as_single_again_only_after_a_while() {
        let activity = HecActivity::new();
        let cycle = |allocated: &[usize]| {
            activity.record(allocated.iter().copied());
            activity.is_single()
        };
        assert!(cycle(&[100]) && cycle(&[0, 0]) && cycle(&[1, 100, 2]));
        for confirmations in [2 * MIN_CONFIRMATIONS, 4 * MIN_CONFIRMATIONS] {
            assert!(!cycle(&[10, 100]));
            assert!((1..confirmations).all(|_| !cycle(&[0, 100])));
            assert!(cycle(&[0, 100]));
        }
    }
}
