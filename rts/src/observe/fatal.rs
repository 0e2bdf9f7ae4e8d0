//! How a program ends when it cannot go on.
use super::program;
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

/// Ends the process at once, without running Haskell again.
pub fn leave(code: i32) -> ! {
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
    // SAFETY: as above.
    unsafe { libc::abort() }
}

/// Ends the program with one line naming a feature that is not there.
#[cold]
pub fn unsupported(feature: &str) -> ! {
    exit_with(1, &format!("{feature} is not supported by Hecaton yet"))
}
