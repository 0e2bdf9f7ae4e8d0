//! How a program ends when it cannot go on.
//!
//! Protocol: several threads may come to an end at once (GC threads that find memory out). The first that
//! exchanges `ENDING` for its own name says why and ends the process; the others sleep until it has.
use crate::base::program_args;
use crate::observe::eventlog;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// The exit code of a program that the system has no memory for: the stock runtime's.
const OUT_OF_MEMORY: i32 = 251;
/// Bytes of the longest line said when memory is out.
const LINE: usize = 256;

/// What messages begin with.
pub fn program_name() -> String {
    program_args::name().unwrap_or_else(|| "hecaton".to_owned())
}

/// Prints `PROGRAM: message` to stderr.
pub fn print_message(message: &str) {
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

/// The thread that ends the process: process and thread number. Zero: none does.
static ENDING: AtomicU64 = AtomicU64::new(0);

/// Returns in one thread of the process only: in that which is to end it. Allocates nothing.
fn claim_exit() {
    // SAFETY: asks who we are.
    let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
    let me = (process as u64) << 32 | thread as u64;
    loop {
        let who = ENDING.load(Ordering::Relaxed);
        // Nobody, or somebody in the process that this one was forked from.
        let free = who >> 32 != process as u64;
        if who == me || free && ENDING.compare_exchange(who, me, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return;
        }
        if !free {
            // SAFETY: sleeps.
            unsafe { libc::pause() };
        }
    }
}

/// Ends the process at once, without running Haskell again.
pub fn exit_now(code: i32) -> ! {
    claim_exit();
    eventlog::flush_before_exit();
    // SAFETY: ends the process; nothing of ours runs after it.
    unsafe { libc::_exit(code) }
}

/// Prints `PROGRAM: message` and ends the process at once.
#[cold]
pub fn exit_with(code: i32, message: &str) -> ! {
    claim_exit();
    print_message(message);
    exit_now(code)
}

/// Ends the program: the system has no memory for us. Allocates none.
#[cold]
pub fn out_of_memory(bytes: usize) -> ! {
    claim_exit();
    let mut line = Cursor::new([0; LINE]);
    // What does not fit is cut off: the number is at the end, so the name is what is shortened.
    let name = program_args::name_bytes().unwrap_or(b"hecaton");
    let _ = line.write_all(&name[..name.len().min(LINE / 2)]);
    let _ = writeln!(line, ": out of memory (requested {bytes} bytes)");
    let length = line.position() as usize;
    let _ = std::io::stderr().write_all(&line.get_ref()[..length]);
    exit_now(OUT_OF_MEMORY)
}

/// A broken invariant: says where and what, and aborts.
#[cold]
#[track_caller]
pub fn broken(what: &str) -> ! {
    claim_exit();
    let at = std::panic::Location::caller();
    print_message(&format!("internal error: {what}\n    (Hecaton, {}:{})", at.file(), at.line()));
    eventlog::flush_before_exit();
    // SAFETY: as above.
    unsafe { libc::abort() }
}

/// Ends the program with one line naming a feature that is not there, and what there is instead.
#[cold]
pub fn unsupported(feature: &str) -> ! {
    let instead = match feature {
        "the bytecode interpreter" | "the object linker" => external_interpreter(&program_name()),
        _ => "",
    };
    exit_with(1, &format!("{feature} is not supported by Hecaton yet{instead}"))
}

/// How `program` can have code interpreted in a process of its own. (`runghc` is there only to start `ghc`.)
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
    fn each_program_is_told_what_it_can_do() {
        for (program, words) in
            [("ghc", "runghc --ghc-arg="), ("haddock", "--optghc="), ("doctest", "Opt_ExternalInterpreter")]
        {
            assert!(super::external_interpreter(program).contains(words), "{program}");
        }
    }

    #[test]
    fn threads_that_end_the_program_together_say_one_line() {
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
                .args(["threads_that_end_the_program_together", "--nocapture"])
                .env(CHILD, "1")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&child.stderr);
            assert_eq!(child.status.code(), Some(super::OUT_OF_MEMORY), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}
