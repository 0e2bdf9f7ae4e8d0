//! How a program ends when it cannot go on.
use super::{eventlog, program};
use std::io::{Cursor, Write};

/// The exit code of a program that the system has no memory for: the stock runtime's.
const OUT_OF_MEMORY: i32 = 251;
/// Bytes of the longest line said when memory is out.
const LINE: usize = 256;

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

/// Ends the program: the system has no memory for us. Allocates none.
#[cold]
pub fn out_of_memory(bytes: usize) -> ! {
    let mut line = Cursor::new([0; LINE]);
    // What does not fit is cut off: the number is at the end, so the name is what is shortened.
    let name = program::name_bytes().unwrap_or(b"hecaton");
    let _ = line.write_all(&name[..name.len().min(LINE / 2)]);
    let _ = writeln!(line, ": out of memory (requested {bytes} bytes)");
    let length = line.position() as usize;
    let _ = std::io::stderr().write_all(&line.get_ref()[..length]);
    leave(OUT_OF_MEMORY)
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
