//! Classes of events, and which of them are logged.
use crate::abi::rts_flags::{flags, TraceFlags};
use std::sync::atomic::{AtomicU32, Ordering};

/// Classes of events, with the option of each.
pub mod class {
    /// `s`: threads and tasks.
    pub const SCHEDULER: u32 = 1;
    /// `g`: collections and the heap.
    pub const GC: u32 = 1 << 1;
    /// `p`: counts of sparks.
    pub const SPARK_COUNTERS: u32 = 1 << 2;
    /// `f`: every spark.
    pub const SPARKS: u32 = 1 << 3;
    /// `u`: events of the program itself.
    pub const USER: u32 = 1 << 4;
    /// HECs: in a log with any other class.
    pub const HECS: u32 = 1 << 5;
    /// The process: in every log.
    pub const PROCESS: u32 = 1 << 6;
    /// `w`: waits for descriptors and time.
    pub const WAITS: u32 = 1 << 7;
    /// No class of the log: threads' run times are measured at the same places as [`SCHEDULER`], which so have one
    /// branch for both.
    pub const RUN_TIMES: u32 = 1 << 8;
}

/// The classes that are logged; none if there is no log. Also [`class::RUN_TIMES`].
static CLASSES: AtomicU32 = AtomicU32::new(0);

/// Logs these classes from now on.
pub(super) fn log(classes: u32) {
    let measured = CLASSES.load(Ordering::Relaxed) & class::RUN_TIMES;
    CLASSES.store(classes | measured, Ordering::Relaxed);
}

/// Has run times of threads measured from now on.
pub fn measure_run_times() {
    if !on(class::RUN_TIMES) {
        CLASSES.fetch_or(class::RUN_TIMES, Ordering::Relaxed);
    }
}

/// Is one of these classes logged?
#[inline(always)]
pub fn on(classes: u32) -> bool {
    CLASSES.load(Ordering::Relaxed) & classes != 0
}

/// The classes that the flags select.
pub(super) fn selected_classes(trace: &TraceFlags) -> u32 {
    let debug = flags().DebugFlags;
    let mut classes = class::PROCESS;
    for (wanted, class) in [
        (trace.scheduler || debug.scheduler, class::SCHEDULER),
        (trace.gc || debug.gc, class::GC),
        // Each spark, or their number, but not both.
        (trace.sparks_sampled && !trace.sparks_full, class::SPARK_COUNTERS),
        (trace.sparks_full || debug.sparks, class::SPARKS),
        (trace.user, class::USER),
        (trace.waits, class::WAITS),
    ] {
        if wanted {
            classes |= class | class::HECS;
        }
    }
    classes
}
