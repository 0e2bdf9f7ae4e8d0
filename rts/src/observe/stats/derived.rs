//! Numbers derived from the totals.
use crate::abi::rts_stats::RtsStats;
use crate::base::clock::{seconds, TimePair};
use crate::observe::stats::totals::Stats;

/// `a / b`, or 0 if `b` is 0.
pub fn share(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        0.0
    } else {
        a / b
    }
}

pub fn average_live(t: &RtsStats) -> u64 {
    t.cumulative_live_bytes / u64::from(t.major_gcs).max(1)
}

/// The phases of a program that has ended, and derived numbers.
pub struct Phases {
    pub init: TimePair,
    pub mutator: TimePair,
    pub gc: TimePair,
    pub exit: TimePair,
    pub total: TimePair,
    /// Bytes per second of mutator time.
    pub alloc_rate: u64,
    /// The mutator's part of all time.
    pub productivity: (f64, f64),
    /// How evenly parallel collections were shared, from 0 to 1.
    pub balance: f64,
}

impl Phases {
    pub(super) fn of(s: &Stats) -> Phases {
        let init = s.initialised - s.started;
        let exit = s.ended - s.exit_started;
        let total = s.ended - s.started;
        let at_least_zero = |t: TimePair| TimePair { cpu: t.cpu.max(0), elapsed: t.elapsed.max(0) };
        let mutator = at_least_zero(total - init - s.gc - exit);
        let shared = s.totals.cumulative_par_balanced_copied_bytes as f64;
        Phases {
            init,
            mutator,
            gc: s.gc,
            exit,
            total,
            alloc_rate: share(s.totals.allocated_bytes as f64, seconds(mutator.cpu)) as u64,
            productivity: (
                share(mutator.cpu as f64, total.cpu as f64),
                share(mutator.elapsed as f64, total.elapsed as f64),
            ),
            balance: share(shared, s.totals.par_copied_bytes as f64),
        }
    }
}
