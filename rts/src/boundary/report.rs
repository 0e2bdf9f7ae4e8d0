//! The program's last words about itself: statistics, and the end of the event log.
use crate::memory::{blocks, BLOCK_BYTES};
use crate::observe::eventlog;
use crate::observe::stats::{self, AtEnd};
use crate::sched::{gc_events, spark, task, world};

/// Prints the statistics that the flags ask for, and ends the event log.
/// # Safety
/// The world is stopped.
pub unsafe fn report() {
    let hecs = world::hecs();
    let allocated: u64 = hecs.iter().map(|h| h.alloc.allocated()).sum();
    stats::end_exit();
    stats::report(&AtEnd {
        allocated: allocated - stats::getAllocations(),
        mem_peak: (blocks::peak_blocks_resident() * BLOCK_BYTES) as u64,
        tasks: task::counts(),
        sparks: spark::counts(),
        hecs: crate::hec::count(),
        ..AtEnd::default()
    });
    gc_events::at_end(&hecs);
    eventlog::end();
}
