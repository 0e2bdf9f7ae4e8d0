//! `hecaton run --explore`: looks for a seed of the random scheduler with which a program ends in another way.
//!
//! 1. The program runs once plainly. How it ends then is what the other runs are compared with.
//! 2. It runs with seed after seed, several processes at a time. The lowest seed with another end is the answer.
//! 3. It runs with that seed again, to find out whether the command that is printed repeats the failure.
//!
//! All these runs have the same input, environment and kinds of outputs, because programs behave differently on a
//! terminal. The command that is printed has them too.
use super::installed::Installed;
use crate::error::{Fail, Result};
use crate::process::{self, End};
use crate::project::Project;
use crate::thread_pool::first_of;
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Seek},
    os::{fd::FromRawFd, unix::ffi::OsStrExt},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// The environment variable that names the scheduler of a program on Hecaton.
pub const SCHEDULER: &str = "HECATON_SCHEDULER";
/// A run counts as one that does not end after this time, and [`LIMIT_FACTOR`] times that of the plain run.
const SHORTEST_LIMIT: Duration = Duration::from_secs(1);
const LIMIT_FACTOR: u32 = 10;
/// Lines of standard error that are shown.
const SHOWN_LINES: usize = 20;

struct Run {
    end: End,
    elapsed: Duration,
    stderr: Vec<u8>,
}

/// Explores the program of `line`, which is followed by its arguments, with the seeds from 1 to `seeds`.
pub fn run(project: &Project, installed: &Installed, line: &[OsString], seeds: u32, jobs: Option<u16>) -> Result<()> {
    process::kill_groups_on_interrupt()?;
    let command = || {
        let mut command = installed.command();
        command.args(&line[1..]).env_remove(SCHEDULER);
        command
    };
    let finished = |command, limit| run_quietly(command, limit).map_err(|e| installed.failure(&e));
    let plain = finished(command(), Duration::MAX)?;
    let limit = SHORTEST_LIMIT.max(plain.elapsed.saturating_mul(LIMIT_FACTOR));
    let run_seed = |seed: usize| {
        let mut command = command();
        command.env(SCHEDULER, random(seed));
        finished(command, limit)
    };
    let jobs = jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let differs = |n| run_seed(n + 1).map(|run| (run.end != plain.end).then_some(run));
    let program = line[0].to_string_lossy();
    let Some((n, found)) = first_of(jobs, seeds as usize, differs)? else {
        println!("{program}: {} plainly and with each of {seeds} seeds", plain.end.describe());
        return Ok(());
    };
    let seed = n + 1;
    let described = |end: End| match end {
        End::TimeLimit => format!("did not end within {:.1} s", limit.as_secs_f64()),
        end => end.describe(),
    };
    println!("{program}: {} plainly, but with seed {seed}: {}", plain.end.describe(), described(found.end));
    print!("{}", shown(&found.stderr));
    println!("to repeat it:\n    {}", repeating(project, line, seed)?);
    let again = run_seed(seed)?;
    if again.end != found.end {
        let end = described(again.end);
        println!("but a second run with this seed: {end}; the program depends on more than the order of its threads");
    }
    Err(Fail::silent(1))
}

fn random(seed: usize) -> String {
    format!("random:{seed}")
}

/// Runs `command` without input, and drops its standard output.
fn run_quietly(mut command: Command, limit: Duration) -> io::Result<Run> {
    let mut errors = nameless_file()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(errors.try_clone()?));
    let ended = process::run_to_end(command, limit)?;
    let mut stderr = Vec::new();
    errors.rewind()?;
    errors.read_to_end(&mut stderr)?;
    Ok(Run { end: ended.end, elapsed: ended.elapsed, stderr })
}

/// A file in memory, which no run can fill as it does a pipe, and which is gone when this command is.
fn nameless_file() -> io::Result<File> {
    // SAFETY: the name is a live constant.
    match unsafe { libc::memfd_create(c"standard error".as_ptr(), libc::MFD_CLOEXEC) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new, and nobody else has it.
        descriptor => Ok(unsafe { File::from_raw_fd(descriptor) }),
    }
}

/// The last lines that a program printed on standard error.
fn shown(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return "standard error is empty\n".to_owned();
    }
    let left_out = lines.len().saturating_sub(SHOWN_LINES);
    let mark = if left_out > 0 { format!(", without the first {left_out} lines") } else { String::new() };
    let last: String = lines[left_out..].iter().map(|line| format!("    {line}\n")).collect();
    format!("standard error{mark}:\n{last}")
}

/// A command for a shell that runs the program as it was run with `seed`.
fn repeating(project: &Project, line: &[OsString], seed: usize) -> Result<String> {
    let quoted = |words: &mut dyn Iterator<Item = &OsStr>| match shlex::bytes::try_join(words.map(OsStrExt::as_bytes)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) => Err(Fail::new(format!("cannot print the command: {e}"))),
    };
    let hecaton = quoted(&mut [project.root.join("hecaton").as_os_str()].into_iter())?;
    let program = quoted(&mut line.iter().map(OsString::as_os_str))?;
    Ok(format!("{hecaton} run --scheduler={} {program} </dev/null >/dev/null", random(seed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_last_lines_of_standard_error_are_shown() {
        assert_eq!(shown(b""), "standard error is empty\n");
        assert_eq!(shown(b"a\nb\n"), "standard error:\n    a\n    b\n");
        let many: String = (1..=23).map(|n| format!("{n}\n")).collect();
        let text = shown(many.as_bytes());
        assert!(text.starts_with("standard error, without the first 3 lines:\n    4\n"), "{text}");
        assert!(text.ends_with("    23\n"), "{text}");
    }

    #[test]
    fn the_command_that_repeats_a_run_is_one_for_a_shell() {
        let project = Project { root: PathBuf::from("/at/my home") };
        let line = ["./a b", "it's", "", "x"].map(OsString::from);
        let quoted = repeating(&project, &line, 7).unwrap();
        let start = "'/at/my home/hecaton' run ";
        assert!(quoted.starts_with(start), "{quoted}");
        let words = shlex::split(&quoted[start.len()..]).unwrap();
        assert_eq!(words, ["--scheduler=random:7", "./a b", "it's", "", "x", "</dev/null", ">/dev/null"]);
    }

    #[test]
    fn runs_have_no_input_and_keep_only_standard_error() {
        let mut command = Command::new("sh");
        command.args(["-c", "cat; echo out; echo err >&2; exit 3"]);
        let run = run_quietly(command, Duration::from_secs(60)).unwrap();
        assert_eq!((run.end, &run.stderr[..]), (End::Exit(3), &b"err\n"[..]));
    }
}
