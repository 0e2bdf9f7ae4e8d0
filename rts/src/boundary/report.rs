//! The program's last words about itself: statistics at the end.
use crate::memory::{blocks, BLOCK_BYTES};
use crate::observe::stats::{self, AtEnd};
use crate::sched::{spark, task, world};

/// Prints the statistics that the flags ask for.
/// # Safety
/// The world is stopped.
pub unsafe fn report() {
    let allocated: u64 = world::hecs().iter().map(|h| h.alloc.allocated()).sum();
    stats::end_exit();
    stats::report(&AtEnd {
        allocated: allocated - stats::getAllocations(),
        mem_peak: (blocks::peak_blocks_resident() * BLOCK_BYTES) as u64,
        tasks: task::counts(),
        sparks: spark::counts(),
        hecs: crate::hec::count(),
        ..AtEnd::default()
    });
}
