//! The event log: what happened when, for tools such as ThreadScope or as text (`+RTS -l`, `-v`).
//!
//! *Protocol*
//!
//! 1. Other folders call the one-line functions of [`hooks`]. Each of them asks [`on`] for its class of events: one
//!    load and one branch while there is no log.
//! 2. An event goes to the buffer of its HEC, or to the common buffer if it belongs to none.
//! 3. The thread that finds a buffer full writes it as a block. Blocks of different HECs come in any order; readers
//!    sort them by time.
//! 4. [`end`] first clears the classes and then writes the buffers, each under its lock. A thread that adds an event
//!    reads the classes again under that lock. So no event is added to a buffer after it was written for the last time.
//!
//! *Locking*
//!
//! - Each buffer has a lock. The holder of its HEC takes it without contention. The thread that ends the log, or
//!   flushes it after an error, may be any OS thread.
//! - Order: [`LOG`], then buffers, then the lock of a writer.
//!
//! *Checked by* `tests.rs` and `bytes_tests.rs`, for the format.
mod buffer;
#[cfg(test)]
mod bytes_tests;
mod control;
mod event;
mod header;
pub mod hooks;
#[cfg(test)]
mod tests;
mod text;
mod writer;

pub use control::{after_fork, configure, end, flush_before_exit, with_locked};
pub use event::{GcStats, HeapShape, SparkCounts};
pub use writer::FileEventLogWriter;

use crate::abi::rts_flags::{flags, EventLogWriter, TraceFlags};
use crate::base::clock::getProcessElapsedTime;
use crate::base::poison::unpoisoned;
use buffer::{is_too_long, Buffer, NO_HEC};
use event::Event;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32, Ordering};
use std::sync::Mutex;

/// Classes of events, with the option letter of each.
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
}

/// The classes that are logged; none if there is no log.
static CLASSES: AtomicU32 = AtomicU32::new(0);

/// Events are printed to stderr instead of a log.
static AS_TEXT: AtomicBool = AtomicBool::new(false);

/// Is one of these classes logged?
#[inline(always)]
pub fn on(classes: u32) -> bool {
    CLASSES.load(Ordering::Relaxed) & classes != 0
}

/// HECs with a buffer of their own; the others use the common one.
const MAX_HECS: usize = 256;

static BUFFERS: [Mutex<Buffer>; MAX_HECS] = [const { Mutex::new(Buffer::new()) }; MAX_HECS];
static COMMON: Mutex<Buffer> = Mutex::new(Buffer::new());

/// Held by the thread that starts or ends a log.
static LOG: Mutex<()> = Mutex::new(());
/// The writer of blocks; null if there is no binary log.
static WRITER: AtomicPtr<EventLogWriter> = AtomicPtr::new(std::ptr::null_mut());

/// Start of the program on the monotonic clock; 0 if not yet known.
static START: AtomicI64 = AtomicI64::new(0);

/// Counts times from now on.
pub fn start_clock() {
    START.store(getProcessElapsedTime(), Ordering::Relaxed);
}

/// Nanoseconds since the program's start.
fn now() -> u64 {
    if START.load(Ordering::Relaxed) == 0 {
        // C code has started a log before the runtime.
        start_clock();
    }
    (getProcessElapsedTime() - START.load(Ordering::Relaxed)) as u64
}

/// The classes that the flags select.
fn selected_classes(trace: &TraceFlags) -> u32 {
    let debug = flags().DebugFlags;
    let mut classes = class::PROCESS;
    for (wanted, class) in [
        (trace.scheduler || debug.scheduler, class::SCHEDULER),
        (trace.gc || debug.gc, class::GC),
        // Each spark, or their number, but not both.
        (trace.sparks_sampled && !trace.sparks_full, class::SPARK_COUNTERS),
        (trace.sparks_full || debug.sparks, class::SPARKS),
        (trace.user, class::USER),
    ] {
        if wanted {
            classes |= class | class::HECS;
        }
    }
    classes
}

fn buffer_of(hec: Option<u32>) -> (&'static Mutex<Buffer>, u16) {
    match hec {
        Some(no) if (no as usize) < MAX_HECS => (&BUFFERS[no as usize], no as u16),
        _ => (&COMMON, NO_HEC),
    }
}

/// Logs an event that happens now, on a HEC or on none.
#[cold]
fn post(hec: Option<u32>, event: Event) {
    if AS_TEXT.load(Ordering::Relaxed) {
        return text::print(hec, now(), &event);
    }
    if is_too_long(&event) {
        return crate::base::fatal::print_message("Event size exceeds EVENT_PAYLOAD_SIZE_MAX, bail out");
    }
    let (buffer, no) = buffer_of(hec);
    let mut buffer = unpoisoned(buffer.lock());
    if !on(u32::MAX) {
        return;
    }
    // Read under the lock, so that times in a block never decrease.
    let time = now();
    if buffer.is_full_for(&event) {
        write_out(&mut buffer, time);
    }
    buffer.add(time, no, &event);
}

/// Writes the buffer as a block.
fn write_out(buffer: &mut Buffer, now: u64) {
    if let Some(block) = buffer.block(now) {
        writer::write(block);
        buffer.clear();
    }
}
