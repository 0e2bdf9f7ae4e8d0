//! `-t --machine-readable`: statistics as a list of pairs; and `--internal-counters`.
use crate::abi::rts_stats::RtsStats;
use crate::abi::Ways;
use crate::base::clock::seconds;
use crate::observe::stats::derived::{average_live, share, Phases};
use crate::observe::stats::totals::{EventCounts, FinalData, OfGeneration};

struct Pairs(Vec<String>);

impl Pairs {
    fn add(&mut self, key: &str, value: impl std::fmt::Display) {
        self.0.push(format!("(\"{key}\", \"{value}\")\n"));
    }

    fn count(&mut self, key: &str, value: impl Into<u64>) {
        self.add(key, value.into());
    }

    fn real(&mut self, key: &str, value: f64) {
        self.add(key, format_args!("{value:.6}"));
    }

    fn time(&mut self, key: &str, ns: i64) {
        self.real(key, seconds(ns));
    }
}

pub(in crate::observe) fn pairs(
    t: &RtsStats,
    generations: &[OfGeneration],
    p: &Phases,
    end: &FinalData,
    ways: Ways,
) -> String {
    let mut all = Pairs(Vec::new());
    all.count("bytes allocated", t.allocated_bytes);
    all.count("num_GCs", t.gcs);
    all.count("average_bytes_used", average_live(t));
    all.count("max_bytes_used", t.max_live_bytes);
    all.count("num_byte_usage_samples", t.major_gcs);
    all.count("peak_megabytes_allocated", t.max_mem_in_use_bytes >> 20);
    for (name, time) in [("init", p.init), ("mut", p.mutator), ("GC", p.gc), ("exit", p.exit), ("total", p.total)] {
        all.time(&format!("{name}_cpu_seconds"), time.cpu);
        all.time(&format!("{name}_wall_seconds"), time.elapsed);
    }
    all.count("major_gcs", t.major_gcs);
    all.count("allocated_bytes", t.allocated_bytes);
    all.count("max_live_bytes", t.max_live_bytes);
    all.count("max_large_objects_bytes", t.max_large_objects_bytes);
    all.count("max_compact_bytes", t.max_compact_bytes);
    all.count("max_slop_bytes", t.max_slop_bytes);
    all.count("max_mem_in_use_bytes", t.max_mem_in_use_bytes);
    all.count("cumulative_live_bytes", t.cumulative_live_bytes);
    all.count("copied_bytes", t.copied_bytes);
    all.count("par_copied_bytes", t.par_copied_bytes);
    all.count("cumulative_par_max_copied_bytes", t.cumulative_par_max_copied_bytes);
    all.count("cumulative_par_balanced_copied_bytes", t.cumulative_par_balanced_copied_bytes);
    if !ways.threaded {
        all.real("gc_cpu_percent", share(p.gc.cpu as f64, p.total.cpu as f64));
        all.real("gc_wall_percent", share(p.gc.elapsed as f64, p.total.elapsed as f64));
    }
    all.count("fragmentation_bytes", end.fragmentation);
    all.count("alloc_rate", p.alloc_rate);
    all.real("productivity_cpu_percent", p.productivity.0);
    all.real("productivity_wall_percent", p.productivity.1);
    if ways.threaded {
        threaded(&mut all, p, end);
    }
    for (i, g) in generations.iter().enumerate() {
        all.count(&format!("gen_{i}_collections"), g.collections);
        all.count(&format!("gen_{i}_par_collections"), g.par_collections);
        all.time(&format!("gen_{i}_cpu_seconds"), g.time.cpu);
        all.time(&format!("gen_{i}_wall_seconds"), g.time.elapsed);
        all.time(&format!("gen_{i}_max_pause_seconds"), g.max_pause);
        let average = share(seconds(g.time.elapsed), g.collections as f64);
        all.real(&format!("gen_{i}_avg_pause_seconds"), average);
        if ways.threaded {
            all.count(&format!("gen_{i}_sync_spin"), 0u64);
            all.count(&format!("gen_{i}_sync_yield"), 0u64);
        }
    }
    if end.events.is_used() {
        event_counts(&mut all, &end.events);
    }
    // The stock runtime has no activations.
    if let Some(ns) = end.activations.filter(|_| end.upcalls.any()) {
        all.time("activation_seconds", ns as i64);
    }
    format!(" [{} ]\n", all.0.join(" ,"))
}

/// Locks that scripts look for. Nothing here counts spins, so all counts are 0. One name occurs twice, as on the stock
/// runtime.
const SPIN_COUNTERS: [&str; 16] = [
    "gc_alloc_block_sync_spin",
    "gc_alloc_block_sync_yield",
    "gc_alloc_block_sync_spin",
    "gc_spin_spin",
    "gc_spin_yield",
    "mut_spin_spin",
    "mut_spin_yield",
    "waitForGcThreads_spin",
    "waitForGcThreads_yield",
    "whitehole_gc_spin",
    "whitehole_lockClosure_spin",
    "whitehole_lockClosure_yield",
    "whitehole_executeMessage_spin",
    "whitehole_threadPaused_spin",
    "any_work",
    "no_work",
];

fn threaded(all: &mut Pairs, p: &Phases, end: &FinalData) {
    all.count("bound_task_count", end.tasks.bound);
    all.count("sparks_count", end.sparks.created());
    all.count("sparks_converted", end.sparks.converted);
    all.count("sparks_overflowed", end.sparks.overflowed);
    // The space is part of the name that scripts expect.
    all.count("sparks_dud ", end.sparks.dud);
    all.count("sparks_gcd", end.sparks.collected);
    all.count("sparks_fizzled", end.sparks.fizzled);
    all.real("work_balance", p.balance);
    all.count("n_capabilities", end.hecs as u64);
    all.count("task_count", end.tasks.total);
    all.count("peak_worker_count", end.tasks.peak_workers);
    all.count("worker_count", end.tasks.workers);
    for name in SPIN_COUNTERS {
        all.count(name, 0u64);
    }
    all.count("scav_find_work", 0u64);
}

/// What the runtime's event manager has done. The stock runtime does not count that, so these are not among its pairs.
fn event_counts(all: &mut Pairs, events: &EventCounts) {
    all.count("event_waits", events.waits);
    all.count("event_waits_verified", events.verified);
    all.count("event_timers", events.timers);
    all.count("event_wakeups_by_descriptors", events.woken_by_descriptors);
    all.count("event_wakeups_by_timers", events.woken_by_timers);
    all.count("event_polls", events.polls);
    all.count("event_polls_blocked", events.sleeps);
    all.count("event_polls_woken", events.interrupted_sleeps);
}

/// The text that `--internal-counters` adds to the summary.
pub(in crate::observe) fn internal_counters(generations: usize, ways: Ways) -> String {
    if !ways.threaded {
        return "Internal Counters require the threaded RTS".to_owned();
    }
    let mut text = String::from("Internal Counters:\n");
    text += &format!("    {:<32}{:>12}{:>14}\n", "SpinLock", "Spins", "Yields");
    let mut row = |name: &str, yields: &str| {
        text += &format!("    {name:<32}{:>12}{yields:>14}\n", 0);
    };
    row("gc_alloc_block_sync", "0");
    row("gc_spin", "0");
    row("mut_spin", "0");
    for name in ["gc", "threadPaused", "executeMessage"] {
        row(&format!("whitehole_{name}"), "n/a");
    }
    row("whitehole_lockClosure", "0");
    row("waitForGcThreads", "0");
    for i in 0..generations {
        row(&format!("gen[{i}].sync"), "0");
    }
    text.push('\n');
    for name in ["any_work", "no_work", "scav_find_work"] {
        text += &format!("    {name:<32}{:>12}\n", 0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_line_up() {
        let text = internal_counters(1, Ways { threaded: true, ..Ways::default() });
        let expected = "Internal Counters:
    SpinLock                               Spins        Yields
    gc_alloc_block_sync                        0             0
    gc_spin                                    0             0
    mut_spin                                   0             0
    whitehole_gc                               0           n/a
    whitehole_threadPaused                     0           n/a
    whitehole_executeMessage                   0           n/a
    whitehole_lockClosure                      0             0
    waitForGcThreads                           0             0
    gen[0].sync                                0             0

    any_work                                   0
    no_work                                    0
    scav_find_work                             0
";
        assert_eq!(text, expected);
    }
}
