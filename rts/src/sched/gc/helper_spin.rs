//! How long a task spins while the world is stopped.
//!
//! While a collection may be shared, the task waits as a helper: the collecting task relies on spinning helpers,
//! because waking others takes long. While one thread collects alone, the task can only wait for the end. Whether that
//! comes soon is learnt ([`AdaptiveSpin`]).
//!
//! *Checked by*: the unit tests below.
use crate::base::adaptive_spin::AdaptiveSpin;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a helper spins without work: most collections are complete within this time.
const MAX_SPIN: Duration = Duration::from_micros(200);

/// Were more HECs busy than there are cores when the world was stopped? Then tasks that spin while the world is stopped
/// take cores from HECs that have not stopped yet.
static OVERSUBSCRIBED: AtomicBool = AtomicBool::new(false);

pub fn set_oversubscribed(yes: bool) {
    OVERSUBSCRIBED.store(yes, Ordering::Relaxed);
}

pub fn is_oversubscribed() -> bool {
    OVERSUBSCRIBED.load(Ordering::Relaxed)
}

pub struct HelperSpin<'a> {
    since: Instant,
    /// Whether it spins through this collection, which one thread does alone. `None` until that is known.
    spins: Option<bool>,
    spin: &'a Cell<AdaptiveSpin>,
}

impl HelperSpin<'_> {
    pub fn begin(spin: &Cell<AdaptiveSpin>) -> HelperSpin<'_> {
        HelperSpin { since: Instant::now(), spins: None, spin }
    }

    /// The helper has had work.
    pub fn on_work(&mut self) {
        self.since = Instant::now();
    }

    /// Should the task continue to spin? `alone`: one thread does the collection.
    pub fn should_spin(&mut self, alone: bool) -> bool {
        let may_be_wanted = !alone || *self.spins.get_or_insert_with(|| with(self.spin, AdaptiveSpin::should_spin));
        may_be_wanted && self.since.elapsed() < MAX_SPIN
    }

    /// The task has stopped spinning. `over`: its wait is over.
    pub fn end(self, over: bool) {
        if self.spins == Some(true) {
            with(self.spin, |p| p.record(over));
        }
    }
}

fn with<T>(spin: &Cell<AdaptiveSpin>, change: impl FnOnce(&mut AdaptiveSpin) -> T) -> T {
    let mut p = spin.get();
    let result = change(&mut p);
    spin.set(p);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often out of 100 times a task spins through a collection that takes long.
    fn spins_through(spin: &Cell<AdaptiveSpin>, alone: bool) -> usize {
        let once = || {
            let mut helper = HelperSpin::begin(spin);
            let spins_through = helper.should_spin(false) && helper.should_spin(alone);
            helper.end(false);
            spins_through
        };
        (0..100).filter(|_| once()).count()
    }

    #[test]
    fn a_helper_spins_while_a_collection_may_be_shared() {
        let spin = Cell::new(AdaptiveSpin::NEW);
        assert!(spins_through(&spin, true) < 20);
        assert_eq!(spins_through(&spin, false), 100);
    }

    #[test]
    fn a_helper_without_work_stops_spinning() {
        let spin = Cell::new(AdaptiveSpin::NEW);
        let mut helper = HelperSpin::begin(&spin);
        std::thread::sleep(MAX_SPIN);
        assert!(!helper.should_spin(false));
        helper.on_work();
        assert!(helper.should_spin(false));
    }
}
