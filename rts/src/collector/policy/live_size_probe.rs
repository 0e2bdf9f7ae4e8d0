//! Decides when a full collection should measure the live data again.
//!
//! Nurseries of several HECs follow what the last full collection found alive. If next to nothing is promoted after it,
//! no other full collection comes, and nurseries stay as large as they were when most was alive. So after a number of
//! minor collections a full one probes the live data, which costs little where little is left. After a fruitless probe
//! the number doubles.
use crate::base::poison::unpoisoned;
use std::sync::{Mutex, MutexGuard};

/// Minor collections until a probe, at first.
const MIN_WAIT: usize = 8;
/// The same, at most.
const MAX_WAIT: usize = 1024;
/// Old generations that have grown by less than one part in this many count as unchanged.
const GROWTH_DIVISOR: usize = 16;

pub struct LiveProbe {
    /// Blocks alive after the last full collection.
    live: usize,
    /// Blocks in old generations when these last grew, minor collections since then, and how many must pass.
    held: usize,
    minors_since: usize,
    wait: usize,
    /// Blocks alive before a probe that is under way.
    live_before_probe: Option<usize>,
}

impl LiveProbe {
    pub const fn new() -> LiveProbe {
        LiveProbe { live: 0, held: 0, minors_since: 0, wait: MIN_WAIT, live_before_probe: None }
    }

    /// Counts a minor collection of a heap with `held` blocks in old generations. Should it be a full one?
    pub fn is_due(&mut self, held: usize) -> bool {
        if held > self.held + self.held / GROWTH_DIVISOR {
            (self.held, self.minors_since) = (held, 0);
        }
        self.minors_since += 1;
        let due = self.minors_since > self.wait;
        if due {
            self.live_before_probe = Some(self.live);
        }
        due
    }

    /// Records that a full collection has found `live` blocks alive.
    pub fn record(&mut self, live: usize) {
        (self.live, self.held, self.minors_since) = (live, live, 0);
        if let Some(live_before_probe) = self.live_before_probe.take() {
            self.wait = if live * 2 > live_before_probe { (2 * self.wait).min(MAX_WAIT) } else { MIN_WAIT };
        }
    }
}

static LIVE_PROBE: Mutex<LiveProbe> = Mutex::new(LiveProbe::new());

/// Locks the state, for the collecting thread.
pub(in crate::collector) fn live_probe() -> MutexGuard<'static, LiveProbe> {
    unpoisoned(LIVE_PROBE.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many minor collections come before a probe, with `held` blocks in old generations.
    fn count_minors(probe: &mut LiveProbe, held: usize) -> usize {
        (0..10 * MAX_WAIT).take_while(|_| !probe.is_due(held)).count()
    }

    #[test]
    fn fruitless_probes_become_rarer() {
        let mut probe = LiveProbe::new();
        probe.record(100);
        for wait in [MIN_WAIT, 2 * MIN_WAIT, 4 * MIN_WAIT] {
            assert_eq!(count_minors(&mut probe, 101), wait);
            probe.record(90);
        }
        assert_eq!(count_minors(&mut probe, 100), 8 * MIN_WAIT);
        probe.record(10);
        assert_eq!(count_minors(&mut probe, 10), MIN_WAIT);
    }

    #[test]
    fn a_growing_heap_is_not_probed() {
        let mut probe = LiveProbe::new();
        probe.record(100);
        assert!((100..1000).step_by(70).all(|held| !probe.is_due(held)));
        assert_eq!(count_minors(&mut probe, 1000), MIN_WAIT);
    }
}
