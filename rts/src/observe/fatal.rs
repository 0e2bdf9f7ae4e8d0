//! How a program ends when it cannot go on.
use super::{eventlog, program};
use std::io::Write;

/// What messages begin with.
pub fn program_name() -> String {
    program::name().unwrap_or_else(|| "hecaton".to_owned())
}

/// Prints `PROGRAM: message` to stderr.
pub fn say(message: &str) {
    // In one piece, so that nothing comes between. A closed stderr must not end the program.
    let line = format!("{}: {message}\n", program_name());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// What went wrong, as C words it.
pub fn system_error(e: &std::io::Error) -> String {
    let Some(number) = e.raw_os_error() else { return e.to_string() };
    // SAFETY: a string that is never freed, for any number.
    unsafe { std::ffi::CStr::from_ptr(libc::strerror(number)) }.to_string_lossy().into_owned()
}

/// Ends the process at once, without running Haskell again.
pub fn leave(code: i32) -> ! {
    eventlog::flush_in_haste();
    // SAFETY: ends the process; nothing of ours runs after it.
    unsafe { libc::_exit(code) }
}

/// Prints `PROGRAM: message` and ends the process at once.
#[cold]
pub fn exit_with(code: i32, message: &str) -> ! {
    say(message);
    leave(code)
}

/// A broken invariant: says where and what, and aborts.
#[cold]
#[track_caller]
pub fn broken(what: &str) -> ! {
    let at = std::panic::Location::caller();
    say(&format!("internal error: {what}\n    (Hecaton, {}:{})", at.file(), at.line()));
    eventlog::flush_in_haste();
    // SAFETY: as above.
    unsafe { libc::abort() }
}

/// Ends the program with one line naming a feature that is not there.
#[cold]
pub fn unsupported(feature: &str) -> ! {
    exit_with(1, &format!("{feature} is not supported by Hecaton yet"))
}
