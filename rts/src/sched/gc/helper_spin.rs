//! How long a task stays awake that waits for the world to go on.
//!
//! While a collection may be shared it stands by: who collects counts on those who do, and others take long to come. While one thread
//! does it alone there is nothing to do but to be there when it is over. Whether that is soon is learnt.
use crate::base::adaptive_spin::AdaptiveSpin;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long it stays awake with nothing to do: most collections are done by then.
const SHORT_STOP: Duration = Duration::from_micros(200);

pub struct HelperSpin<'a> {
    since: Instant,
    /// Whether it stays awake through this collection, which is done without it; not known before it is.
    tries: Option<bool>,
    patience: &'a Cell<AdaptiveSpin>,
}

impl HelperSpin<'_> {
    pub fn begin(patience: &Cell<AdaptiveSpin>) -> HelperSpin<'_> {
        HelperSpin { since: Instant::now(), tries: None, patience }
    }

    /// It has had something to do.
    pub fn has_helped(&mut self) {
        self.since = Instant::now();
    }

    /// Shall it stay awake? `alone`: the collection is done by one thread.
    pub fn goes_on(&mut self, alone: bool) -> bool {
        let may_be_wanted = !alone || *self.tries.get_or_insert_with(|| with(self.patience, AdaptiveSpin::should_spin));
        may_be_wanted && self.since.elapsed() < SHORT_STOP
    }

    /// It has stopped standing by. Is the wait over?
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

    /// How often of 100 times a task stays awake for a collection that takes long.
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
