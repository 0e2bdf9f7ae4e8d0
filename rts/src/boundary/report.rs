//! The program's last words about itself: statistics at the end.
use crate::hec::Hec;
use crate::memory::{blocks, BLOCK_BYTES};
use crate::observe::stats::{self, AtEnd};
use crate::sched::task;

/// Prints the statistics that the flags ask for. `hec` is held, and nothing runs any more.
pub fn report(hec: &Hec) {
    stats::end_exit();
    stats::report(&AtEnd {
        allocated: hec.alloc.allocated() - stats::getAllocations(),
        mem_peak: (blocks::peak_blocks_resident() * BLOCK_BYTES) as u64,
        tasks: task::counts(),
        ..AtEnd::default()
    });
}
