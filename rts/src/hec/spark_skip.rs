//! Spark lookahead: how far ahead a HEC evaluates of the HECs whose sparks it steals.
//!
//! A thread that sparks thunks and then needs them in the same order may need each just after another HEC has stolen
//! it. Then both evaluate every thunk at the same time. So when work has been done twice, the HEC skips the next
//! sparks, twice as many each time. The other HEC evaluates those first, and finds the later ones evaluated.
//!
//! *Checked by*: the unit test below.
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a thread has found a thunk evaluated after evaluating it itself. HECs share the count, because this is
/// rare.
static DUPLICATE_WORK: AtomicUsize = AtomicUsize::new(0);

/// Records that a thread has evaluated a thunk that another had evaluated, too.
pub fn record_duplicate_work() {
    DUPLICATE_WORK.fetch_add(1, Ordering::Relaxed);
}

/// How often a thunk has been evaluated twice.
pub fn duplicate_work_count() -> usize {
    DUPLICATE_WORK.load(Ordering::Relaxed)
}

/// The most sparks that are skipped at once: enough to separate two HECs, and few enough to be evaluated soon.
const MAX_SKIP: usize = 32;
/// The number of sparks taken without duplicate work after which the skip is halved.
const HALVING_PERIOD: usize = 256;
/// The most skipped sparks that are kept for later. (Most of them have been evaluated by then.)
pub const MAX_DEFERRED: usize = 4 * MAX_SKIP;

#[derive(Clone, Copy, Debug, Default)]
pub struct SparkSkip {
    sparks: usize,
    /// The count of duplicate work at the last call, and the number of calls since it last changed.
    seen: usize,
    asked: usize,
}

impl SparkSkip {
    /// The number of sparks to skip before the next one is taken, given the count of duplicate work so far.
    pub fn skip_count(&mut self, duplicate_work_count: usize) -> usize {
        if duplicate_work_count != self.seen {
            *self = SparkSkip { sparks: (2 * self.sparks).clamp(1, MAX_SKIP), seen: duplicate_work_count, asked: 0 };
            return self.sparks;
        }
        self.asked += 1;
        if self.asked == HALVING_PERIOD {
            (self.sparks, self.asked) = (self.sparks / 2, 0);
        }
        0
    }

    /// Should stolen sparks come before skipped ones?
    pub fn is_active(&self) -> bool {
        self.sparks > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skip_grows_with_duplicate_work_and_decays() {
        let mut skip = SparkSkip::default();
        assert_eq!((skip.skip_count(0), skip.is_active()), (0, false));
        let passed: Vec<_> = (1..9).map(|n| skip.skip_count(n)).collect();
        assert_eq!(passed, [1, 2, 4, 8, 16, 32, 32, 32]);
        let asked = (1..).find(|_| skip.skip_count(8) == 0 && !skip.is_active()).unwrap();
        assert_eq!(asked, 6 * HALVING_PERIOD);
        assert_eq!(skip.skip_count(9), 1);
    }
}
