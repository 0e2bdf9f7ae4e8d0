//! Start and end of a log, by options and by C code.
use super::buffer::Buffer;
use super::classes::{self, class, on, selected_classes};
use super::event::{Event, CLOCK, PROCESS};
use super::post::{now, post, start_clock, write_out, AS_TEXT, BUFFERS, COMMON, LOG};
use super::writer::WRITER;
use super::{header, hooks, waits, writer};
use crate::abi::layout::*;
use crate::abi::rts_flags::{flags, EventLogWriter};
use crate::abi::Ways;
use crate::base::poison::unpoisoned;
use crate::base::{fatal, program_args};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::SystemTime;

/// The status for `base` and C (`EventLogStatus` in the header).
#[no_mangle]
pub extern "C" fn eventLogStatus() -> u32 {
    let status = match (Ways::linked().eventlog, WRITER.load(Ordering::Acquire).is_null()) {
        (false, _) => EVENTLOG_NOT_SUPPORTED,
        (true, true) => EVENTLOG_NOT_CONFIGURED,
        (true, false) => EVENTLOG_RUNNING,
    };
    status as u32
}

/// Starts a log of the classes that the flags select. False if there is one, or the program is not linked for it.
/// # Safety
/// `writer` stays valid until the log ends.
#[no_mangle]
pub unsafe extern "C" fn startEventLogging(writer: *const EventLogWriter) -> bool {
    let _log = unpoisoned(LOG.lock());
    if writer.is_null() || eventLogStatus() != EVENTLOG_NOT_CONFIGURED as u32 {
        return false;
    }
    begin(writer);
    true
}

/// Ends the log, and forgets its writer.
#[no_mangle]
pub extern "C" fn endEventLogging() {
    let _log = unpoisoned(LOG.lock());
    stop();
}

/// Starts the log that the options ask for.
/// # Safety
/// Called once at start, after the options were parsed. The writer stays valid.
pub unsafe fn configure(writer: *const EventLogWriter) {
    let trace = flags().TraceFlags;
    if trace.tracing == TRACE_EVENTLOG as i32 {
        startEventLogging(writer);
    } else if trace.tracing == TRACE_STDERR as i32 {
        AS_TEXT.store(true, Ordering::Relaxed);
        classes::log(selected_classes(&trace));
        log_preamble();
    }
}

/// Logs the last events of a program, and ends its log.
pub fn end() {
    hooks::log_end_of_tasks();
    hooks::log_end_of_hecs();
    endEventLogging();
    // A textual log has no writer.
    classes::log(0);
}

/// The caller holds [`LOG`], and there is no log.
unsafe fn begin(writer: *const EventLogWriter) {
    fatal::set_last_action(flush_before_exit);
    for b in all_buffers() {
        unpoisoned(b.lock()).clear();
    }
    WRITER.store(writer.cast_mut(), Ordering::Release);
    writer::begin();
    writer::write(&mut header::header());
    writer::flush();
    AS_TEXT.store(false, Ordering::Relaxed);
    classes::log(selected_classes(&flags().TraceFlags));
    log_preamble();
}

/// The caller holds [`LOG`].
fn stop() {
    if WRITER.load(Ordering::Acquire).is_null() {
        return;
    }
    classes::log(0);
    for b in all_buffers() {
        let mut b = unpoisoned(b.lock());
        write_out(&mut b, now());
    }
    writer::write(&mut (EVENT_DATA_END as u16).to_be_bytes());
    writer::stop();
    WRITER.store(null_mut(), Ordering::Release);
}

/// Writes what there is so far, if there is a log.
pub fn flush() {
    if WRITER.load(Ordering::Acquire).is_null() {
        return;
    }
    for b in all_buffers() {
        let mut b = unpoisoned(b.lock());
        write_out(&mut b, now());
    }
}

fn all_buffers() -> impl Iterator<Item = &'static Mutex<Buffer>> {
    BUFFERS.iter().chain([&COMMON])
}

/// Writes the buffers and marks the end, for a program that cannot continue. Buffers that another OS thread has locked
/// are not written: they may never be unlocked.
pub fn flush_before_exit() {
    let Some(_log) = try_lock(&LOG) else { return };
    if WRITER.load(Ordering::Acquire).is_null() {
        return;
    }
    classes::log(0);
    for b in all_buffers() {
        if let Some(mut b) = try_lock(b) {
            write_out(&mut b, now());
        }
    }
    writer::write(&mut (EVENT_DATA_END as u16).to_be_bytes());
}

fn try_lock<T>(m: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match m.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(p)) => Some(p.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Runs `f` with all locks of the log held, so that a fork in it leaves nothing half done.
pub fn with_locked<R>(f: impl FnOnce() -> R) -> R {
    let _log = unpoisoned(LOG.lock());
    let _tasks = unpoisoned(hooks::TASKS.lock());
    let _buffers: Vec<_> = all_buffers().map(|b| unpoisoned(b.lock())).collect();
    writer::with_file_locked(f)
}

/// Starts a log for the child of a fork.
/// # Safety
/// Called in the child, while one OS thread runs.
pub unsafe fn after_fork() {
    start_clock();
    hooks::after_fork();
    let writer = WRITER.swap(null_mut(), Ordering::Acquire);
    if !writer.is_null() {
        let _log = unpoisoned(LOG.lock());
        writer::after_fork();
        begin(writer);
    }
}

/// Logs what a reader must know first: process, clock and HECs.
fn log_preamble() {
    let common = |event| post(None, event);
    if on(class::HECS) {
        common(Event::CapsetCreate { set: PROCESS, kind: CAPSET_TYPE_OSPROCESS });
        common(Event::CapsetCreate { set: CLOCK, kind: CAPSET_TYPE_CLOCKDOMAIN });
    }
    hooks::log_hecs();
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    common(Event::WallClock { seconds: clock.as_secs(), nanoseconds: clock.subsec_nanos() });
    common(Event::Process(std::process::id()));
    common(Event::ParentProcess(std::os::unix::process::parent_id()));
    // The format requires "GHC", the version and the way.
    let name = format!("GHC-{GHC_VERSION} {} (Hecaton)", Ways::linked().name());
    common(Event::RtsIdentifier(name.as_bytes()));
    let args: Vec<u8> = program_args::full_args().iter().flat_map(|a| a.as_bytes_with_nul().to_vec()).collect();
    common(Event::ProgramArgs(&args));
    hooks::log_heap_info();
    waits::log_event_manager();
}
