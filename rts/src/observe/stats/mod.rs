//! Statistics of collections and of the program's phases: `GHC.Stats`, and the output of `-t -s -S`.
//!
//! *Protocol*
//!
//! 1. The phases are `begin_init`, `end_init`, any number of `begin_gc` and `end_gc`, `start_exit`, `end_exit`,
//!    `report`.
//! 2. All time outside initialisation, collections and exit is the mutator's.
//! 3. Clocks are read only if the times will be used.
//!
//! *Locking*: one lock for all statistics.
pub mod activation_time;
mod derived;
mod machine_readable;
mod text;
mod totals;
mod upcalls;

pub use text::grouped;
pub use totals::{Collection, EventCounts, FinalData, GcDoneHook, Sparks, Tasks};
pub use upcalls::{Dequeue, Enqueue, UpcallCounts};

use crate::abi::rts_flags::flags;
use crate::abi::rts_stats::RtsStats;
use crate::base::clock::{page_faults, TimePair};
use crate::base::config::{stats_mode_now, StatsMode};
use crate::base::poison::unpoisoned;
use crate::observe::stats::totals::{Stats, NEVER};
use std::sync::{Mutex, MutexGuard};

static STATS: Mutex<Stats> = Mutex::new(Stats::new());

fn stats() -> MutexGuard<'static, Stats> {
    unpoisoned(STATS.lock())
}

/// Sets the hook that is called after each collection.
pub fn set_gc_done_hook(hook: Option<GcDoneHook>) {
    stats().hook = hook;
}

/// The first step of `hs_init`.
pub fn begin_init() {
    stats().started = TimePair::now();
}

/// Initialisation has ended; Haskell is about to run.
pub fn end_init() {
    stats().initialised = TimePair::now();
    if stats_mode_now() == StatsMode::Verbose {
        text::emit(text::VERBOSE_HEAD);
    }
}

/// A collection begins. The world is stopped.
pub fn begin_gc() {
    if flags().GcFlags.ringBell {
        eprint!("\x07");
    }
    let mut s = stats();
    if s.is_timed() {
        s.gc_started = TimePair::now();
        s.faults_at_start = page_faults();
    }
}

/// The collection has ended. `major`: all generations were collected.
pub fn end_gc(c: &Collection, major: bool) {
    let mut s = stats();
    if !s.is_timed() {
        return s.add(c, NEVER, major);
    }
    let now = TimePair::now();
    let time = now - s.gc_started;
    s.add(c, time, major);
    let faults = page_faults();
    let (during, between) = (faults - s.faults_at_start, s.faults_at_start - s.faults_before);
    s.faults_before = faults;
    if stats_mode_now() == StatsMode::Verbose {
        let total = now - s.started;
        text::emit(&text::verbose_line(&s.totals.gc, time, total, during, between));
    }
    let (hook, details) = (s.hook, s.totals.gc);
    // The hook may ask for statistics.
    drop(s);
    if let Some(hook) = hook {
        // SAFETY: C's contract for `gcDoneHook`.
        unsafe { hook(&details) }
    }
}

/// Haskell has ended.
pub fn start_exit() {
    stats().exit_started = TimePair::now();
}

/// The shutdown has ended, except for this report.
pub fn end_exit() {
    stats().ended = TimePair::now();
}

/// Prints the statistics that the flags ask for, then what is said of other processes, and closes the statistics file.
pub fn report(end: &FinalData, others: &str) {
    let mut s = stats();
    s.totals.allocated_bytes += end.allocated;
    s.totals.max_mem_in_use_bytes = s.totals.max_mem_in_use_bytes.max(end.mem_peak);
    text::final_report(&s, end, others);
}

/// Runs `f` (a fork) while no thread reads or writes statistics.
pub fn with_locked<R>(f: impl FnOnce() -> R) -> R {
    let _stats = stats();
    f()
}

/// Resets the statistics in the child of a fork. Its parent has allocated `allocated` bytes.
pub fn after_fork(allocated: u64) {
    let mut s = stats();
    let now = TimePair::now();
    *s = Stats { hook: s.hook, inherited: allocated, started: now, initialised: now, ..Stats::new() };
}

/// Bytes allocated since the last collection or the fork, given the total so far.
pub fn allocated_since_last(allocated: u64) -> u64 {
    let s = stats();
    allocated - s.inherited - s.totals.allocated_bytes
}

/// How many collections there were, and how many nanoseconds passed in them.
pub fn collections() -> (u64, i64) {
    let s = stats();
    (s.totals.gcs.into(), s.gc.elapsed)
}

/// Was there no full collection?
pub fn has_no_major_gc() -> bool {
    stats().totals.major_gcs == 0
}

/// Writes the command line at the head of the statistics file, if there is one.
pub fn write_command_line(flags: &crate::abi::rts_flags::Flags) {
    if !flags.GcFlags.statsFile.is_null() {
        text::emit_bytes(&text::command_line());
    }
}

/// # Safety
/// `out` may be written.
#[no_mangle]
pub unsafe extern "C" fn getRTSStats(out: *mut RtsStats) {
    *out = stats().totals_at(TimePair::now());
}

#[no_mangle]
pub extern "C" fn getRTSStatsEnabled() -> libc::c_int {
    (stats_mode_now() > StatsMode::Off) as libc::c_int
}

/// Bytes allocated up to the last collection.
#[no_mangle]
pub extern "C" fn getAllocations() -> u64 {
    stats().totals.allocated_bytes
}
