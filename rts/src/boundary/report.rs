//! The program's last words about itself: statistics, and the end of the event log.
use crate::memory::{blocks, heap, BLOCK_BYTES};
use crate::observe::settings::{stats_mode_now, StatsMode};
use crate::observe::stats::{self, AtEnd};
use crate::observe::{blackholes, eventlog};
use crate::sched::{collect, gc_events, roll, spark, world};

/// How much is alive is known from full collections: a program that is to tell, and has made none, makes one now.
/// # Safety
/// The world is stopped; all weak pointers are dead.
pub unsafe fn look_once() {
    let never = || heap().gens.last().is_some_and(|oldest| oldest.collections == 0);
    if stats_mode_now() > StatsMode::Collect && never() {
        collect::look();
    }
}

/// Prints the statistics that the flags ask for, and ends the event log.
/// # Safety
/// The world is stopped.
pub unsafe fn report() {
    let hecs = world::hecs();
    let allocated: u64 = hecs.iter().map(|h| h.alloc.allocated()).sum();
    blackholes::report();
    stats::end_exit();
    stats::report(&AtEnd {
        allocated: allocated - stats::getAllocations(),
        mem_peak: (blocks::peak_blocks_resident() * BLOCK_BYTES) as u64,
        tasks: roll::counts(),
        sparks: spark::counts(),
        hecs: crate::hec::count(),
        ..AtEnd::default()
    });
    gc_events::at_end(&hecs);
    eventlog::end();
}
