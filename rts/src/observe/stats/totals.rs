//! Totals over all collections, and the times at which the program's phases began and ended.
use crate::abi::rts_stats::{GcDetails, RtsStats};
use crate::base::clock::TimePair;
use crate::base::config::{stats_mode_now, StatsMode, MAX_GENERATIONS};
use crate::observe::gc_phases::PhaseCosts;
use crate::observe::stats::upcalls::UpcallCounts;

/// The collector's data about one collection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collection {
    /// The oldest generation that was collected.
    pub gen: usize,
    pub threads: usize,
    /// Bytes allocated since the previous collection.
    pub allocated: u64,
    /// Live bytes of all generations. Generations that were not collected count as live.
    pub live: u64,
    /// Bytes of these in large objects and in compact regions.
    pub large: u64,
    pub compact: u64,
    /// Bytes of blocks without objects.
    pub slop: u64,
    pub copied: u64,
    /// With several threads: the most bytes that one copied, and the bytes that were shared evenly.
    pub par_max_copied: u64,
    pub par_balanced_copied: u64,
    /// Nanoseconds that it took to stop the world.
    pub sync: i64,
    pub phases: PhaseCosts,
    /// Bytes taken from the system: now, and the maximum so far.
    pub mem_in_use: u64,
    pub mem_peak: u64,
}

/// Other data for the final report.
#[derive(Clone, Copy, Debug, Default)]
pub struct FinalData {
    /// Bytes allocated since the last collection.
    pub allocated: u64,
    /// Bytes taken from the system that could not be used.
    pub fragmentation: u64,
    pub mem_peak: u64,
    pub tasks: Tasks,
    pub sparks: Sparks,
    pub lenient: Sparks,
    /// HECs that have existed.
    pub hecs: usize,
    pub events: EventCounts,
    pub upcalls: UpcallCounts,
    /// Nanoseconds in activations of user schedulers, if they were measured.
    pub activations: Option<u64>,
}

/// OS threads that have run Haskell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tasks {
    pub total: u64,
    pub bound: u64,
    pub workers: u64,
    pub peak_workers: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Sparks {
    /// Sparks that are neither duds nor overflowed.
    pub kept: u64,
    pub converted: u64,
    pub overflowed: u64,
    pub dud: u64,
    pub collected: u64,
    pub fizzled: u64,
}

impl std::ops::Add for Sparks {
    type Output = Sparks;
    fn add(self, b: Sparks) -> Sparks {
        Sparks {
            kept: self.kept + b.kept,
            converted: self.converted + b.converted,
            overflowed: self.overflowed + b.overflowed,
            dud: self.dud + b.dud,
            collected: self.collected + b.collected,
            fizzled: self.fizzled + b.fizzled,
        }
    }
}

impl Sparks {
    pub fn created(&self) -> u64 {
        self.kept + self.overflowed + self.dud
    }
}

/// What event loops have done.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventCounts {
    /// Waits for descriptors, and those that the system was asked again about.
    pub waits: u64,
    pub verified: u64,
    /// Delays and timers.
    pub timers: u64,
    /// What descriptors and times have woken or started.
    pub woken_by_descriptors: u64,
    pub woken_by_timers: u64,
    pub polls: u64,
    /// Polls that blocked, and those of them that another task has ended.
    pub sleeps: u64,
    pub interrupted_sleeps: u64,
}

impl EventCounts {
    pub fn woken(&self) -> u64 {
        self.woken_by_descriptors + self.woken_by_timers
    }

    /// A number that differs if anything has begun to wait or was woken.
    pub fn activity(&self) -> u64 {
        self.waits + self.timers + self.woken()
    }

    /// Has anything waited?
    pub fn is_used(&self) -> bool {
        self.waits + self.timers > 0
    }
}

impl std::iter::Sum for EventCounts {
    fn sum<I: Iterator<Item = EventCounts>>(counts: I) -> EventCounts {
        counts.fold(EventCounts::default(), |a, b| EventCounts {
            waits: a.waits + b.waits,
            verified: a.verified + b.verified,
            timers: a.timers + b.timers,
            woken_by_descriptors: a.woken_by_descriptors + b.woken_by_descriptors,
            woken_by_timers: a.woken_by_timers + b.woken_by_timers,
            polls: a.polls + b.polls,
            sleeps: a.sleeps + b.sleeps,
            interrupted_sleeps: a.interrupted_sleeps + b.interrupted_sleeps,
        })
    }
}

/// Collections of one generation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfGeneration {
    pub collections: u64,
    pub par_collections: u64,
    pub time: TimePair,
    pub max_pause: i64,
    pub phases: PhaseCosts,
}

pub type GcDoneHook = unsafe extern "C" fn(*const GcDetails);

pub(super) struct Stats {
    pub totals: RtsStats,
    pub of: [OfGeneration; MAX_GENERATIONS],
    pub gc: TimePair,
    pub started: TimePair,
    pub initialised: TimePair,
    pub exit_started: TimePair,
    pub ended: TimePair,
    pub gc_started: TimePair,
    pub faults_before: i64,
    pub faults_at_start: i64,
    pub hook: Option<GcDoneHook>,
    /// Bytes that the parent process allocated before the fork.
    pub inherited: u64,
}

pub(super) const NEVER: TimePair = TimePair { cpu: 0, elapsed: 0 };
pub(super) const NO_GENERATION: OfGeneration =
    OfGeneration { collections: 0, par_collections: 0, time: NEVER, max_pause: 0, phases: PhaseCosts::ZERO };

impl Stats {
    pub const fn new() -> Stats {
        Stats {
            // SAFETY: numbers only.
            totals: unsafe { std::mem::zeroed() },
            of: [NO_GENERATION; MAX_GENERATIONS],
            gc: NEVER,
            started: NEVER,
            initialised: NEVER,
            exit_started: NEVER,
            ended: NEVER,
            gc_started: NEVER,
            faults_before: 0,
            faults_at_start: 0,
            hook: None,
            inherited: 0,
        }
    }

    pub fn is_timed(&self) -> bool {
        self.hook.is_some() || stats_mode_now() > StatsMode::Off
    }

    /// Adds a collection that took `time`.
    pub fn add(&mut self, c: &Collection, time: TimePair, major: bool) {
        let parallel = c.threads > 1;
        let s = &mut self.totals;
        s.gcs += 1;
        s.allocated_bytes += c.allocated;
        s.copied_bytes += c.copied;
        s.max_mem_in_use_bytes = s.max_mem_in_use_bytes.max(c.mem_in_use).max(c.mem_peak);
        if major {
            s.major_gcs += 1;
            s.cumulative_live_bytes += c.live;
            s.max_live_bytes = s.max_live_bytes.max(c.live);
            s.max_large_objects_bytes = s.max_large_objects_bytes.max(c.large);
            s.max_compact_bytes = s.max_compact_bytes.max(c.compact);
            s.max_slop_bytes = s.max_slop_bytes.max(c.slop);
        }
        if parallel {
            s.par_copied_bytes += c.copied;
            s.cumulative_par_max_copied_bytes += c.par_max_copied;
            s.cumulative_par_balanced_copied_bytes += c.par_balanced_copied;
        }
        s.gc = GcDetails {
            gen: c.gen as u32,
            threads: c.threads as u32,
            allocated_bytes: c.allocated,
            live_bytes: c.live,
            large_objects_bytes: c.large,
            compact_bytes: c.compact,
            slop_bytes: c.slop,
            mem_in_use_bytes: c.mem_in_use,
            copied_bytes: c.copied,
            par_max_copied_bytes: c.par_max_copied,
            par_balanced_copied_bytes: c.par_balanced_copied,
            sync_elapsed_ns: c.sync,
            cpu_ns: time.cpu,
            elapsed_ns: time.elapsed,
            ..GcDetails::default()
        };
        self.gc = self.gc + time;
        if self.exit_started.elapsed != 0 {
            // Not part of the exit.
            self.exit_started = self.exit_started + time;
        }
        // The program may see a higher number for the oldest generation.
        let of = &mut self.of[c.gen.min(MAX_GENERATIONS - 1)];
        of.collections += 1;
        of.par_collections += parallel as u64;
        of.time = of.time + time;
        of.max_pause = of.max_pause.max(time.elapsed);
        of.phases.add(&c.phases);
    }

    /// The totals, with times up to `now`.
    pub fn totals_at(&self, now: TimePair) -> RtsStats {
        let init = self.initialised - self.started;
        let run = now - self.initialised;
        RtsStats {
            init_cpu_ns: init.cpu,
            init_elapsed_ns: init.elapsed,
            mutator_cpu_ns: run.cpu - self.gc.cpu,
            mutator_elapsed_ns: run.elapsed - self.gc.elapsed,
            gc_cpu_ns: self.gc.cpu,
            gc_elapsed_ns: self.gc.elapsed,
            cpu_ns: run.cpu,
            elapsed_ns: run.elapsed,
            ..self.totals
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up() {
        let mut s = Stats::new();
        s.started = TimePair { cpu: 10, elapsed: 100 };
        s.initialised = TimePair { cpu: 15, elapsed: 110 };
        let minor = Collection { gen: 0, threads: 1, allocated: 1000, live: 300, copied: 200, ..Default::default() };
        let major = Collection { gen: 1, live: 250, mem_in_use: 5, mem_peak: 9, ..minor };
        s.add(&minor, TimePair { cpu: 2, elapsed: 3 }, false);
        s.add(&major, TimePair { cpu: 4, elapsed: 5 }, true);
        let t = s.totals_at(TimePair { cpu: 100, elapsed: 200 });
        assert_eq!((t.gcs, t.major_gcs, t.allocated_bytes, t.copied_bytes), (2, 1, 2000, 400));
        // Only major collections determine how much is live.
        assert_eq!((t.max_live_bytes, t.cumulative_live_bytes), (250, 250));
        assert_eq!(t.max_mem_in_use_bytes, 9);
        assert_eq!((t.init_cpu_ns, t.init_elapsed_ns), (5, 10));
        assert_eq!((t.gc_cpu_ns, t.gc_elapsed_ns), (6, 8));
        assert_eq!((t.mutator_cpu_ns, t.mutator_elapsed_ns), (79, 82));
        assert_eq!(t.gc.gen, 1);
        assert_eq!((s.of[0].collections, s.of[1].collections, s.of[1].max_pause), (1, 1, 5));
    }
}
