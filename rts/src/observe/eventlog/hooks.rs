//! The functions by which other folders log events: one line at the event, and one branch while there is no log.
//!
//! `hec` is the number of the HEC of the event. Its holder calls.
use super::classes::{class, on};
use super::event::{Event, GcStats, HeapShape, SparkCounts, CLOCK, PROCESS};
use super::merge;
use super::post::post;
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, BlockedOnScheduler};
use crate::base::poison::unpoisoned;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;

/// Functions that log one event of a class, on the HEC that is their first argument.
macro_rules! hec_events {
    ($($(#[$doc:meta])* $class:ident: $name:ident($($arg:ident: $ty:ty),*) => $event:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name(hec: u32 $(, $arg: $ty)*) {
            if on(class::$class) {
                post(Some(hec), $event);
            }
        }
    )*};
}

hec_events! {
    /// Threads are represented by their numbers, here and below.
    SCHEDULER: thread_created(thread: u64) => Event::CreateThread(thread as u32);
    SCHEDULER: thread_run(thread: u64) => Event::RunThread(thread as u32);
    /// The thread starts a safe foreign call.
    SCHEDULER: thread_called_out(thread: u64) => Event::StopThread {
        thread: thread as u32, status: THREAD_SUSPENDED_FOREIGN_CALL as u16, on: 0,
    };
    SCHEDULER: thread_runnable(thread: u64) => Event::ThreadRunnable(thread as u32);
    /// The thread moves to the run queue of HEC `to`.
    SCHEDULER: thread_migrated(thread: u64, to: u32) => Event::MigrateThread {
        thread: thread as u32, to: to as u16,
    };
    /// The thread was blocked, and continues on HEC `to`.
    SCHEDULER: thread_woken(thread: u64, to: u32) => Event::ThreadWakeup {
        thread: thread as u32, hec: to as u16,
    };
    /// A user scheduler is ejected, with what there is to say about it.
    SCHEDULER: scheduler_ejected(details: &[u8]) => Event::LogMessage(details);
    SCHEDULER: thread_labelled(thread: u64, label: &[u8]) => Event::ThreadLabel {
        thread: thread as u32, label,
    };

    GC: gc_requested(parallel: bool) => Event::Bare(match parallel {
        true => EVENT_REQUEST_PAR_GC,
        false => EVENT_REQUEST_SEQ_GC,
    });
    GC: gc_started() => Event::Bare(EVENT_GC_START);
    /// All HECs have stopped.
    GC: gc_world_stopped() => Event::Bare(EVENT_GC_GLOBAL_SYNC);
    /// Three states of the HEC's GC thread: it copies, finds no work, has finished.
    GC: gc_working() => Event::Bare(EVENT_GC_WORK);
    GC: gc_idle() => Event::Bare(EVENT_GC_IDLE);
    GC: gc_done() => Event::Bare(EVENT_GC_DONE);
    GC: gc_ended() => Event::Bare(EVENT_GC_END);
    GC: gc_stats(stats: GcStats) => Event::GcStats(stats);
    /// Bytes since the program's start.
    GC: heap_allocated(bytes: u64) => Event::HeapAllocated(bytes);
    /// Bytes taken from the system.
    GC: heap_size(bytes: u64) => Event::HeapSize(bytes);
    /// Live bytes, as a full collection found them.
    GC: heap_live(bytes: u64) => Event::HeapLive(bytes);

    SPARKS: spark_thread_created(thread: u64) => Event::CreateSparkThread(thread as u32);
    SPARKS: spark_created() => Event::Bare(EVENT_SPARK_CREATE);
    SPARKS: spark_dud() => Event::Bare(EVENT_SPARK_DUD);
    SPARKS: spark_overflowed() => Event::Bare(EVENT_SPARK_OVERFLOW);
    SPARKS: spark_run() => Event::Bare(EVENT_SPARK_RUN);
    SPARKS: spark_stolen(victim: u32) => Event::SparkSteal { victim: victim as u16 };
    SPARKS: spark_fizzled() => Event::Bare(EVENT_SPARK_FIZZLE);
    SPARKS: spark_collected() => Event::Bare(EVENT_SPARK_GC);
    SPARK_COUNTERS: spark_counters(counts: SparkCounts) => Event::SparkCounters(counts);

    USER: user_message(text: &[u8]) => Event::UserMessage(text);
    USER: user_marker(text: &[u8]) => Event::UserMarker(text);
    USER: user_binary(bytes: &[u8]) => Event::UserBinary(bytes);
}

/// The thread has left Haskell. `status` is a return code. For `ThreadBlocked` it is the result of [`status_of_block`].
/// `waits_for` is the thread that it waits for, or 0.
#[inline]
pub fn thread_stopped(hec: u32, thread: u64, status: impl FnOnce() -> (u16, u64)) {
    if on(class::SCHEDULER) {
        let (status, waits_for) = status();
        post(Some(hec), Event::StopThread { thread: thread as u32, status, on: waits_for as u32 });
    }
}

/// The status for a reason to block: these come after the return codes and the foreign call. A thread that waits for
/// its own scheduler is shown as one that waits for an MVar, and one that waits for an absent object as one that waits
/// for a black hole, because readers of logs know no such reasons.
pub fn status_of_block(why_blocked: usize) -> u16 {
    let why_blocked = match why_blocked {
        BlockedOnScheduler => BlockedOnMVar,
        BlockedOnAbsent => BlockedOnBlackHole,
        why => why,
    };
    (THREAD_SUSPENDED_FOREIGN_CALL + why_blocked) as u16
}

/// The HEC has a spark of another process of the run. Such sparks are few, so each one is logged beside their counts.
#[inline]
pub fn spark_stolen_elsewhere(hec: u32, process: u16) {
    if on(class::SPARKS | class::SPARK_COUNTERS) {
        post(Some(hec), Event::SparkSteal { victim: merge::hec_of(process) });
    }
}

/// A message to another process of the run, or from it, if there is something to say of it.
#[inline]
pub fn message_passed(describe: impl FnOnce() -> Option<String>) {
    if on(class::SCHEDULER) {
        if let Some(line) = describe() {
            post(None, Event::LogMessage(line.as_bytes()));
        }
    }
}

/// `task` is the number of the calling OS thread, which runs Haskell.
#[inline]
pub fn task_created(task: u64, hec: u32) {
    if on(class::SCHEDULER) {
        // SAFETY: a query.
        let os_thread = unsafe { libc::gettid() } as u64;
        let depth = *unpoisoned(TASKS.lock()).entry(task).and_modify(|depth| *depth += 1).or_insert(1);
        if depth == 1 {
            post(None, Event::TaskCreate { task, hec: hec as u16, os_thread });
        }
    }
}

#[inline]
pub fn task_migrated(task: u64, from: u32, to: u32) {
    // A task that was not logged yet only gets its first HEC.
    if on(class::SCHEDULER) && unpoisoned(TASKS.lock()).contains_key(&task) {
        post(None, Event::TaskMigrate { task, from: from as u16, to: to as u16 });
    }
}

#[inline]
pub fn task_deleted(task: u64) {
    if on(class::SCHEDULER) {
        let mut tasks = unpoisoned(TASKS.lock());
        let depth = tasks.get_mut(&task).map(|depth| {
            *depth -= 1;
            *depth
        });
        if depth == Some(0) {
            tasks.remove(&task);
            drop(tasks);
            post(None, Event::TaskDelete(task));
        }
    }
}

/// Tasks that were logged and have not ended, and how often they were made less how often they ended: a worker that
/// calls C, which calls Haskell, is a task twice.
pub(super) static TASKS: Mutex<BTreeMap<u64, u32>> = Mutex::new(BTreeMap::new());

/// Logs the end of all tasks: the program ends, and with it the waiting workers.
pub(super) fn log_end_of_tasks() {
    let left = std::mem::take(&mut *unpoisoned(TASKS.lock()));
    for task in left.into_keys() {
        post(None, Event::TaskDelete(task));
    }
}

/// In the child of a fork: the other OS threads are the parent's.
pub(super) fn after_fork() {
    unpoisoned(TASKS.lock()).clear();
}

/// The number of HECs so far. A log that starts later begins with events for them.
static HECS: AtomicU32 = AtomicU32::new(0);

/// A HEC was made, the next in number.
pub fn hec_created(hec: u32) {
    HECS.fetch_max(hec + 1, Ordering::Relaxed);
    log_hec(hec);
}

/// The number of HECs so far.
pub fn hec_count() -> u32 {
    HECS.load(Ordering::Relaxed)
}

fn log_hec(hec: u32) {
    if on(class::HECS) {
        let hec = hec as u16;
        post(None, Event::CapCreate(hec));
        post(None, Event::CapsetAssign { set: PROCESS, hec });
        post(None, Event::CapsetAssign { set: CLOCK, hec });
    }
}

/// The HEC no longer gets threads, or gets them again.
pub fn hec_enabled(hec: u32, enabled: bool) {
    if on(class::HECS) {
        let event = if enabled { Event::CapEnable } else { Event::CapDisable };
        post(None, event(hec as u16));
    }
}

/// Logs all HECs at the start of a log.
pub(super) fn log_hecs() {
    for hec in 0..hec_count() {
        log_hec(hec);
    }
}

/// Logs the end of all HECs, with the end of the program.
pub(super) fn log_end_of_hecs() {
    if !on(class::HECS) {
        return;
    }
    for hec in 0..hec_count() {
        let hec = hec as u16;
        post(None, Event::CapsetRemove { set: PROCESS, hec });
        post(None, Event::CapsetRemove { set: CLOCK, hec });
        post(None, Event::CapDelete(hec));
    }
    post(None, Event::CapsetDelete(PROCESS));
    post(None, Event::CapsetDelete(CLOCK));
}

static HEAP: Mutex<Option<HeapShape>> = Mutex::new(None);

/// The heap is ready.
pub fn heap_initialised(shape: HeapShape) {
    *unpoisoned(HEAP.lock()) = Some(shape);
    log_heap_info();
}

pub(super) fn log_heap_info() {
    if on(class::GC) {
        if let Some(shape) = *unpoisoned(HEAP.lock()) {
            post(None, Event::HeapInfo(shape));
        }
    }
}
