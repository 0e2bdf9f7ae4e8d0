//! How a program ends when it cannot go on.
use std::sync::OnceLock;

static PROGRAM: OnceLock<String> = OnceLock::new();

/// The name that messages begin with.
pub fn set_program_name(name: String) {
    let _ = PROGRAM.set(name);
}

pub fn program_name() -> &'static str {
    PROGRAM.get().map_or("hecaton", |s| s)
}

/// Prints `PROGRAM: message` to stderr.
pub fn message(text: &str) {
    use std::io::Write;
    // A closed stderr must not end the program.
    let _ = writeln!(std::io::stderr(), "{}: {text}", program_name());
}

/// Ends the process at once, without running Haskell again.
pub fn leave(code: i32) -> ! {
    // SAFETY: ends the process; nothing of ours runs after it.
    unsafe { libc::_exit(code) }
}

/// Prints `PROGRAM: text` and ends the process at once.
#[cold]
pub fn exit_with(code: i32, text: &str) -> ! {
    message(text);
    leave(code)
}

/// A broken invariant: says where and what, and aborts.
#[cold]
#[track_caller]
pub fn broken(what: &str) -> ! {
    let at = std::panic::Location::caller();
    message(&format!("internal error: {what}\n    (Hecaton, {}:{})", at.file(), at.line()));
    // SAFETY: as above.
    unsafe { libc::abort() }
}

/// Ends the program with one line naming a feature that is not there.
#[cold]
pub fn unsupported(feature: &str) -> ! {
    exit_with(1, &format!("{feature} is not supported by Hecaton yet"))
}
