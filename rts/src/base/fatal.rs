//! Fatal errors: how a program ends when it cannot continue.
//!
//! *Protocol*
//!
//! 1. Several threads may fail at once, such as GC threads without memory. Each tries to exchange `ENDING` for its own
//!    number.
//! 2. The first one that succeeds prints its message and ends the process. The others sleep until then.
//!
//! *Checked by* the test below, which starts processes that fail in eight threads.
use crate::base::program_args;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// Exit code of a program that the system has no memory for. The stock runtime has the same.
const OUT_OF_MEMORY: i32 = 251;
/// Bytes of the longest message when memory is exhausted. It is on the stack, and a name and a number fit.
const MAX_LINE: usize = 256;

/// How messages begin.
pub fn program_name() -> String {
    program_args::name().unwrap_or_else(|| "hecaton".to_owned())
}

/// Prints `PROGRAM: message` to stderr.
pub fn print_message(message: &str) {
    // One write, so that no other output comes between. A closed stderr must not end the program.
    let line = format!("{}: {message}\n", program_name());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The error's text in C's words.
pub fn system_error(e: &std::io::Error) -> String {
    let Some(number) = e.raw_os_error() else { return e.to_string() };
    // SAFETY: `strerror` returns a string that is never freed, for any number.
    unsafe { std::ffi::CStr::from_ptr(libc::strerror(number)) }.to_string_lossy().into_owned()
}

/// Process and thread number of the thread that ends the process; 0 if there is none.
static ENDING: AtomicU64 = AtomicU64::new(0);

/// Returns only in the one thread that is to end the process. Does not allocate.
fn claim_exit() {
    // SAFETY: queries.
    let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
    let me = (process as u64) << 32 | thread as u64;
    loop {
        let ending = ENDING.load(Ordering::Relaxed);
        // No thread, or one of the process that this one was forked from.
        let free = ending >> 32 != process as u64;
        if ending == me || free && ENDING.compare_exchange(ending, me, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return;
        }
        if !free {
            // SAFETY: sleeps.
            unsafe { libc::pause() };
        }
    }
}

/// The last action before the process ends early. The event log, which is above this layer, sets it.
static LAST_ACTION: OnceLock<fn()> = OnceLock::new();

/// Sets the function to call before the process ends early. It allocates nothing. Later calls have no effect.
pub fn set_last_action(flush: fn()) {
    let _ = LAST_ACTION.set(flush);
}

fn run_last_action() {
    if let Some(flush) = LAST_ACTION.get() {
        flush()
    }
}

/// Ends the process at once, without running Haskell again.
pub fn exit_now(code: i32) -> ! {
    claim_exit();
    run_last_action();
    // SAFETY: ends the process; no code of the runtime runs after it.
    unsafe { libc::_exit(code) }
}

/// Prints `PROGRAM: message` and ends the process at once.
#[cold]
pub fn exit_with(code: i32, message: &str) -> ! {
    claim_exit();
    print_message(message);
    exit_now(code)
}

/// Ends the program because the system has no memory for it. Does not allocate.
#[cold]
pub fn out_of_memory(bytes: usize) -> ! {
    claim_exit();
    let mut line = Cursor::new([0; MAX_LINE]);
    // The number must not be cut off, so the name is shortened.
    let name = program_args::name_bytes().unwrap_or(b"hecaton");
    let _ = line.write_all(&name[..name.len().min(MAX_LINE / 2)]);
    let _ = writeln!(line, ": out of memory (requested {bytes} bytes)");
    let length = line.position() as usize;
    let _ = std::io::stderr().write_all(&line.get_ref()[..length]);
    exit_now(OUT_OF_MEMORY)
}

/// Reports a broken invariant with file and line, and aborts.
#[cold]
#[track_caller]
pub fn broken(what: &str) -> ! {
    claim_exit();
    let at = std::panic::Location::caller();
    print_message(&format!("internal error: {what}\n    (Hecaton, {}:{})", at.file(), at.line()));
    run_last_action();
    // SAFETY: as above.
    unsafe { libc::abort() }
}

/// Ends the program with one line that names an unsupported feature, and its replacement if there is one.
#[cold]
pub fn unsupported(feature: &str) -> ! {
    let instead = match feature {
        "the bytecode interpreter" | "the object linker" => external_interpreter(&program_name()),
        _ => "",
    };
    exit_with(1, &format!("{feature} is not supported by Hecaton yet{instead}"))
}

/// How `program` can run interpreted code in a separate process. (`runghc` only starts `ghc`.)
fn external_interpreter(program: &str) -> &'static str {
    match program {
        "haddock" => "; haddock --optghc=-fexternal-interpreter has it in a process of its own",
        "ghc" => {
            "; ghc -fexternal-interpreter (runghc --ghc-arg=-fexternal-interpreter) has it in a process of its own"
        }
        _ => {
            "; a program on the GHC API has it in a process of its own with Opt_ExternalInterpreter set in its DynFlags"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::Barrier;

    /// Set in the process that is to end.
    const CHILD: &str = "HECATON_TEST_ENDING";

    #[test]
    fn the_message_fits_the_program() {
        for (program, words) in
            [("ghc", "runghc --ghc-arg="), ("haddock", "--optghc="), ("doctest", "Opt_ExternalInterpreter")]
        {
            assert!(super::external_interpreter(program).contains(words), "{program}");
        }
    }

    #[test]
    fn threads_that_fail_together_print_one_line() {
        if std::env::var_os(CHILD).is_some() {
            let together = Barrier::new(8);
            std::thread::scope(|s| {
                for bytes in 0..8 {
                    let together = &together;
                    s.spawn(move || {
                        together.wait();
                        super::out_of_memory(bytes)
                    });
                }
            });
        }
        for _ in 0..20 {
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["threads_that_fail_together", "--nocapture"])
                .env(CHILD, "1")
                .output()
                .unwrap();
            let output = String::from_utf8_lossy(&child.stderr);
            assert_eq!(child.status.code(), Some(super::OUT_OF_MEMORY), "{output}");
            assert_eq!(output.lines().count(), 1, "{output}");
        }
    }
}
