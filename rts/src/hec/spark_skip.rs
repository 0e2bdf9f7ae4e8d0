//! How far ahead a HEC works of those whose sparks it steals.
//!
//! Who sparks thunks and then needs them in the same order may come to need each just as it has been stolen: then two
//! evaluate everything, side by side. So when work has been done twice, the next sparks are passed
//! over, as many again each time: the other one needs them first, and finds done what comes after.
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a thread has found done what it had evaluated. That is seldom, so all HECs count together.
static DONE_TWICE: AtomicUsize = AtomicUsize::new(0);

/// A thread has found done what it had evaluated.
pub fn work_was_done_twice() {
    DONE_TWICE.fetch_add(1, Ordering::Relaxed);
}

/// How often that has been so.
pub fn work_done_twice() -> usize {
    DONE_TWICE.load(Ordering::Relaxed)
}

/// The largest lead, and sparks after which it is halved.
const MOST: usize = 32;
const LASTS: usize = 256;
/// So many sparks that were passed over are kept for later. (Most have been evaluated until then.)
pub const MOST_PASSED: usize = 4 * MOST;

#[derive(Clone, Copy, Debug, Default)]
pub struct SparkSkip {
    sparks: usize,
    /// How often work had been done twice when last asked; how often asked since.
    seen: usize,
    asked: usize,
}

impl SparkSkip {
    /// How many sparks to pass over before the next one is taken, if work has been done twice so often.
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

    /// Should what others have sparked come before what was passed over?
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
