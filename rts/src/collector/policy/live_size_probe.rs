//! Whether to look again how much is alive.
//!
//! Nurseries of several HECs follow what the last full collection has found alive. If next to nothing is promoted
//! after it, there is no other one, and nurseries stay as large as they were when most was alive. So after a while
//! a full collection is made to look again: where little is left it costs little. If it was in vain, it is longer until the next.
use crate::base::poison::unpoisoned;
use std::sync::{Mutex, MutexGuard};

/// Small collections until it is looked again, at first and at most.
const FIRST: usize = 8;
const MOST: usize = 1024;
/// Old generations that have grown by less than one in so many parts have not grown.
const PART: usize = 16;

pub struct LiveProbe {
    /// Blocks alive after the last full collection.
    live: usize,
    /// Blocks in old generations when these grew last, small collections since then, and how many are waited for.
    held: usize,
    since: usize,
    wait: usize,
    /// Blocks alive when a full collection was made to look again.
    before: Option<usize>,
}

impl LiveProbe {
    pub const fn new() -> LiveProbe {
        LiveProbe { live: 0, held: 0, since: 0, wait: FIRST, before: None }
    }

    /// A small collection is about to be, of a heap that has `held` blocks in old generations. Should it be a full one?
    pub fn is_due(&mut self, held: usize) -> bool {
        if held > self.held + self.held / PART {
            (self.held, self.since) = (held, 0);
        }
        self.since += 1;
        let due = self.since > self.wait;
        if due {
            self.before = Some(self.live);
        }
        due
    }

    /// A full collection has found so many blocks alive.
    pub fn record(&mut self, live: usize) {
        (self.live, self.held, self.since) = (live, live, 0);
        if let Some(before) = self.before.take() {
            self.wait = if live * 2 > before { (2 * self.wait).min(MOST) } else { FIRST };
        }
    }
}

static LIVE_PROBE: Mutex<LiveProbe> = Mutex::new(LiveProbe::new());

/// What is known, for the thread that collects.
pub(in crate::collector) fn live_probe() -> MutexGuard<'static, LiveProbe> {
    unpoisoned(LIVE_PROBE.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small collections before one should be full, with so many blocks in old generations.
    fn small(r: &mut LiveProbe, held: usize) -> usize {
        (0..10 * MOST).take_while(|_| !r.is_due(held)).count()
    }

    #[test]
    fn fruitless_probes_become_rarer() {
        let mut r = LiveProbe::new();
        r.record(100);
        for wait in [FIRST, 2 * FIRST, 4 * FIRST] {
            assert_eq!(small(&mut r, 101), wait);
            r.record(90);
        }
        assert_eq!(small(&mut r, 100), 8 * FIRST);
        r.record(10);
        assert_eq!(small(&mut r, 10), FIRST);
    }

    #[test]
    fn a_growing_heap_is_not_probed() {
        let mut r = LiveProbe::new();
        r.record(100);
        assert!((100..1000).step_by(70).all(|held| !r.is_due(held)));
        assert_eq!(small(&mut r, 1000), FIRST);
    }
}
