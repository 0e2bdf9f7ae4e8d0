//! Event log entries about collections.
use crate::hec::Hec;
use crate::memory::{block_alloc, BLOCK_BYTES};
use crate::observe::eventlog::hooks::*;
use crate::observe::eventlog::{GcStats, SparkCounts};
use crate::observe::stats::Collection;
use crate::sched::{hec, settings};

/// The calling OS thread requests to stop the world.
/// # Safety
/// The OS thread holds a HEC.
pub unsafe fn requested() {
    if settings().threaded {
        gc_requested(hec().no, false);
    }
}

/// The world is stopped for a collection by HEC `leader`.
pub fn begin(leader: u32) {
    gc_started(leader);
    gc_world_stopped(leader);
    gc_working(leader);
}

/// The collection is complete. `major`: it covered all generations, so the live size is known.
pub fn end(leader: u32, hecs: &[&mut Hec], c: &Collection, major: bool) {
    gc_idle(leader);
    gc_done(leader);
    allocated(hecs);
    let in_use = (block_alloc::blocks_in_use() * BLOCK_BYTES) as u64;
    gc_stats(
        leader,
        GcStats {
            generation: c.gen as u16,
            copied: c.copied,
            slop: c.slop,
            fragmentation: c.mem_in_use.saturating_sub(in_use),
            threads: c.threads as u32,
            max_copied_by_one: c.par_max_copied,
            balanced_copied: c.par_balanced_copied,
        },
    );
    gc_ended(leader);
    if major {
        heap_live(leader, c.live);
    }
    heap_size(leader, c.mem_in_use);
    sparks(hecs);
}

/// The program has ended.
pub fn at_end(hecs: &[&mut Hec]) {
    allocated(hecs);
    sparks(hecs);
}

/// Logs the bytes that every HEC has allocated so far.
fn allocated(hecs: &[&mut Hec]) {
    for h in hecs {
        heap_allocated(h.no, h.alloc.allocated());
    }
}

fn sparks(hecs: &[&mut Hec]) {
    if settings().threaded {
        for h in hecs {
            let c = &h.spark_counts;
            let counts = SparkCounts {
                created: c.kept,
                dud: c.dud,
                overflowed: c.overflowed,
                converted: c.converted,
                collected: c.collected,
                fizzled: c.fizzled,
                remaining: h.sparks.len() as u64,
            };
            spark_counters(h.no, counts);
        }
    }
}
