//! How long a task spins while the world is stopped.
//!
//! While a collection may be shared, the task waits as a helper: the collecting task relies on spinning helpers,
//! because waking others takes long. While one thread collects alone, the task can only wait for the end. Whether that
//! comes soon is learnt ([`AdaptiveSpin`]).
use crate::base::adaptive_spin::AdaptiveSpin;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long a helper spins without work: most collections are complete within this time.
const SHORT_STOP: Duration = Duration::from_micros(200);

pub struct HelperSpin<'a> {
    since: Instant,
    /// Whether it spins through this collection, which one thread does alone. `None` until that is known.
    tries: Option<bool>,
    patience: &'a Cell<AdaptiveSpin>,
}

impl HelperSpin<'_> {
    pub fn begin(patience: &Cell<AdaptiveSpin>) -> HelperSpin<'_> {
        HelperSpin { since: Instant::now(), tries: None, patience }
    }

    /// The helper has had work.
    pub fn has_helped(&mut self) {
        self.since = Instant::now();
    }

    /// Should the task continue to spin? `alone`: one thread does the collection.
    pub fn goes_on(&mut self, alone: bool) -> bool {
        let may_be_wanted = !alone || *self.tries.get_or_insert_with(|| with(self.patience, AdaptiveSpin::should_spin));
        may_be_wanted && self.since.elapsed() < SHORT_STOP
    }

    /// The task has stopped spinning. `over`: its wait is over.
    pub fn end(self, over: bool) {
        if self.tries == Some(true) {
            with(self.patience, |p| p.record(over));
        }
    }
}

fn with<T>(patience: &Cell<AdaptiveSpin>, change: impl FnOnce(&mut AdaptiveSpin) -> T) -> T {
    let mut p = patience.get();
    let result = change(&mut p);
    patience.set(p);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often out of 100 times a task spins through a collection that takes long.
    fn stays(patience: &Cell<AdaptiveSpin>, alone: bool) -> usize {
        let once = || {
            let mut by = HelperSpin::begin(patience);
            let stays = by.goes_on(false) && by.goes_on(alone);
            by.end(false);
            stays
        };
        (0..100).filter(|_| once()).count()
    }

    #[test]
    fn who_may_help_stands_by_however_long_others_took_alone() {
        let patience = Cell::new(AdaptiveSpin::NEW);
        assert!(stays(&patience, true) < 20);
        assert_eq!(stays(&patience, false), 100);
    }

    #[test]
    fn nobody_stands_by_for_long_with_nothing_to_do() {
        let patience = Cell::new(AdaptiveSpin::NEW);
        let mut by = HelperSpin::begin(&patience);
        std::thread::sleep(SHORT_STOP);
        assert!(!by.goes_on(false));
        by.has_helped();
        assert!(by.goes_on(false));
    }
}
