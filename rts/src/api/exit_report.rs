//! The report at the end of a program: statistics, and the end of the event log.
use crate::base::config::{stats_mode_now, StatsMode};
use crate::events::event_loop;
use crate::memory::{block_alloc, BLOCK_BYTES};
use crate::observe::stats;
use crate::observe::stats::FinalData;
use crate::observe::{blackhole_profile, eventlog};
use crate::sched::gc::events;
use crate::sched::{gc, lenient, spark, stop_world, task_table};
use crate::spread::{counts, event_log};

/// Runs a full collection if statistics are to be printed and there was none. Only a full collection determines how
/// much is live.
/// # Safety
/// The world is stopped, and all weak pointers are dead.
pub unsafe fn ensure_live_size_is_known() {
    if stats_mode_now() > StatsMode::Collect && stats::has_no_major_gc() {
        gc::measure_live();
    }
}

/// Prints the statistics that the flags ask for, and ends the event log.
/// # Safety
/// The world is stopped.
pub unsafe fn report() {
    let hecs = stop_world::hecs();
    blackhole_profile::report();
    stats::end_exit();
    let is_summary = stats_mode_now() >= StatsMode::Summary;
    let others = counts::report(is_summary);
    if !is_summary {
        // As much as was asked for, where errors go.
        eprint!("{others}");
    }
    let end = FinalData {
        allocated: stats::allocated_since_last(gc::allocated()),
        mem_peak: (block_alloc::peak_blocks_resident() * BLOCK_BYTES) as u64,
        tasks: task_table::counts(),
        sparks: spark::counts(),
        lenient: lenient::counts(),
        hecs: crate::hec::count(),
        events: event_loop::counts(),
        upcalls: hecs.iter().map(|h| h.upcalls).sum(),
        activations: hecs.iter().map(|h| h.activation_time.total()).sum(),
        ..FinalData::default()
    };
    stats::report(&end, &others);
    events::at_end(&hecs);
    event_log::collect();
    eventlog::end();
}
