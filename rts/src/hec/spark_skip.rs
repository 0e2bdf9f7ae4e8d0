//! Spark lookahead: how far ahead a HEC evaluates of the HECs whose sparks it steals.
//!
//! A thread that sparks thunks and then needs them in the same order may need each just after another HEC has stolen
//! it. Then both evaluate every thunk at the same time. So when work has been done twice, the HEC skips the next
//! sparks, twice as many each time. The other HEC evaluates those first, and finds the later ones evaluated.
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a thread has found a thunk evaluated after evaluating it itself. HECs share the count, because this is
/// rare.
static DONE_TWICE: AtomicUsize = AtomicUsize::new(0);

/// Records that a thread has evaluated a thunk that another had evaluated, too.
pub fn work_was_done_twice() {
    DONE_TWICE.fetch_add(1, Ordering::Relaxed);
}

/// How often a thunk has been evaluated twice.
pub fn work_done_twice() -> usize {
    DONE_TWICE.load(Ordering::Relaxed)
}

/// The most sparks that are skipped at once: enough to separate two HECs, and few enough to be evaluated soon.
const MOST: usize = 32;
/// The number of sparks taken without duplicate work after which the skip is halved.
const LASTS: usize = 256;
/// The most skipped sparks that are kept for later. (Most of them have been evaluated by then.)
pub const MOST_PASSED: usize = 4 * MOST;

#[derive(Clone, Copy, Debug, Default)]
pub struct SparkSkip {
    sparks: usize,
    /// The count of duplicate work at the last call, and the number of calls since it last changed.
    seen: usize,
    asked: usize,
}

impl SparkSkip {
    /// The number of sparks to skip before the next one is taken, given the count of duplicate work so far.
    pub fn skip_count(&mut self, work_done_twice: usize) -> usize {
        if work_done_twice != self.seen {
            *self = SparkSkip { sparks: (2 * self.sparks).clamp(1, MOST), seen: work_done_twice, asked: 0 };
            return self.sparks;
        }
        self.asked += 1;
        if self.asked == LASTS {
            (self.sparks, self.asked) = (self.sparks / 2, 0);
        }
        0
    }

    /// Should stolen sparks come before skipped ones?
    pub fn is_taken(&self) -> bool {
        self.sparks > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_while_work_is_done_twice_and_is_given_up_by_and_by() {
        let mut lead = SparkSkip::default();
        assert_eq!((lead.skip_count(0), lead.is_taken()), (0, false));
        let passed: Vec<_> = (1..9).map(|n| lead.skip_count(n)).collect();
        assert_eq!(passed, [1, 2, 4, 8, 16, 32, 32, 32]);
        let asked = (1..).find(|_| lead.skip_count(8) == 0 && !lead.is_taken()).unwrap();
        assert_eq!(asked, 6 * LASTS);
        assert_eq!(lead.skip_count(9), 1);
    }
}
