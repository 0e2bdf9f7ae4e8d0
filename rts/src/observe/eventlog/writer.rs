//! The destination of a log: a writer that a C program supplies, or a file.
//!
//! *Locking*: one lock for the file.
use crate::abi::rts_flags::{flags, EventLogWriter};
use crate::base::fatal;
use crate::base::poison::unpoisoned;
use libc::c_void;
use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::Mutex;

/// The writer of blocks; null if there is no binary log.
pub(super) static WRITER: AtomicPtr<EventLogWriter> = AtomicPtr::new(std::ptr::null_mut());

fn writer() -> Option<&'static EventLogWriter> {
    // SAFETY: null, or valid as long as the log lasts.
    unsafe { WRITER.load(Ordering::Acquire).as_ref() }
}

pub fn begin() {
    if let Some(begin) = writer().and_then(|w| w.initEventLogWriter) {
        // SAFETY: C's contract for this field; the same holds below.
        unsafe { begin() }
    }
}

/// Writes a block. Writers report their own errors: a failing log does not end the program.
pub fn write(bytes: &mut [u8]) {
    if let Some(write) = writer().and_then(|w| w.writeEventLog) {
        // SAFETY: the bytes are borrowed for the call.
        unsafe { write(bytes.as_mut_ptr().cast(), bytes.len()) };
    }
}

pub fn flush() {
    if let Some(flush) = writer().and_then(|w| w.flushEventLog) {
        // SAFETY: as above.
        unsafe { flush() }
    }
}

pub fn stop() {
    if let Some(stop) = writer().and_then(|w| w.stopEventLogWriter) {
        // SAFETY: as above.
        unsafe { stop() }
    }
}

/// Writes to `PROGRAM.eventlog`, or to the file that `-ol` names.
#[no_mangle]
pub static FileEventLogWriter: EventLogWriter = EventLogWriter {
    initEventLogWriter: Some(open_file),
    writeEventLog: Some(write_file),
    flushEventLog: None,
    stopEventLogWriter: Some(close_file),
};

static FILE: Mutex<Option<File>> = Mutex::new(None);

/// This process is the child of a fork, so its file has its process number in the name.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The file's name. The child of a fork has its number in it, because its parent still writes to the file with the
/// plain name.
fn file_name() -> PathBuf {
    let given = flags().TraceFlags.trace_output;
    let child = FORKED.load(Ordering::Relaxed).then(|| format!(".{}", std::process::id()));
    let child = child.unwrap_or_default();
    let name = match given.is_null() {
        true => format!("{}{child}.eventlog", fatal::program_name()).into_bytes(),
        // SAFETY: a string that is never freed.
        false => [unsafe { CStr::from_ptr(given) }.to_bytes(), child.as_bytes()].concat(),
    };
    PathBuf::from(OsString::from_vec(name))
}

unsafe extern "C" fn open_file() {
    let name = file_name();
    match File::create(&name) {
        Ok(file) => *unpoisoned(FILE.lock()) = Some(file),
        Err(e) => {
            let why = fatal::system_error(&e);
            let name = name.display();
            fatal::exit_with(1, &format!("initEventLogFileWriter: can't open {name}: {why}"))
        }
    }
}

unsafe extern "C" fn write_file(bytes: *mut c_void, len: usize) -> bool {
    let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), len);
    let mut file = unpoisoned(FILE.lock());
    let Some(open) = file.as_mut() else { return false };
    let written = open.write_all(bytes);
    if let Err(e) = &written {
        // A part of a block would make the rest of the log unreadable.
        *file = None;
        drop(file);
        fatal::print_message(&format!("the event log ends here: {}", fatal::system_error(e)));
    }
    written.is_ok()
}

unsafe extern "C" fn close_file() {
    *unpoisoned(FILE.lock()) = None;
}

/// Runs `f` while no thread writes to the file.
pub fn with_file_locked<R>(f: impl FnOnce() -> R) -> R {
    let _file = unpoisoned(FILE.lock());
    f()
}

/// In the child of a fork: the open file is the parent's.
pub fn after_fork() {
    FORKED.store(true, Ordering::Relaxed);
    *unpoisoned(FILE.lock()) = None;
}
