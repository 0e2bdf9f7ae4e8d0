//! The program's last words about itself: statistics, and the end of the event log.
use crate::memory::{blocks, BLOCK_BYTES};
use crate::observe::settings::{stats_mode_now, StatsMode};
use crate::observe::stats::{self, AtEnd};
use crate::observe::{blackholes, eventlog};
use crate::sched::{collect, gc_events, roll, spark, world};

/// How much is alive is known from full collections: a program that is to tell, and has made none, makes one now.
/// # Safety
/// The world is stopped; all weak pointers are dead.
pub unsafe fn look_once() {
    if stats_mode_now() > StatsMode::Collect && stats::nothing_looked_at() {
        collect::look();
    }
}

/// Prints the statistics that the flags ask for, and ends the event log.
/// # Safety
/// The world is stopped.
pub unsafe fn report() {
    let hecs = world::hecs();
    blackholes::report();
    stats::end_exit();
    stats::report(&AtEnd {
        allocated: stats::since_last(collect::allocated()),
        mem_peak: (blocks::peak_blocks_resident() * BLOCK_BYTES) as u64,
        tasks: roll::counts(),
        sparks: spark::counts(),
        hecs: crate::hec::count(),
        ..AtEnd::default()
    });
    gc_events::at_end(&hecs);
    eventlog::end();
}
