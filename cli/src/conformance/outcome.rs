//! Outcomes of programs: output and end. Gets one, keeps the stock runtime's, and compares two.
use crate::build::hash;
use crate::conformance::{Kind, PLAIN};
use crate::error::{reason, Fail, Result};
use crate::process;
use crate::process::End;
use crate::programs::{Maker, Program, Runtime};
use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// The time limit of a program, unless its header has another. It is for programs that hang: a loaded machine must not
/// make a test fail.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How often a program is tried on the stock runtime until it finishes. One in ten runs of a program that keeps
/// changing its number of capabilities hangs there, and gives no outcome to compare with.
const STOCK_TRIES: u32 = 3;
/// The number of lines of a difference that are shown.
const LINES_SHOWN: usize = 40;

#[derive(PartialEq)]
pub struct Answer {
    end: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// What the end of a run that was stopped is described with.
const OVER_TIME: &str = "over the time limit of ";

impl Answer {
    /// Was it stopped at its time limit?
    pub fn unfinished(&self) -> bool {
        self.end.starts_with(OVER_TIME)
    }
}

/// Runs `program` in an empty folder of its own, with its own time limit or another.
pub fn ask(maker: &Maker, program: &Program, runtime: Runtime, kind: &Kind, limit: Option<Duration>) -> Result<Answer> {
    let folder = maker.folder(program).join(format!("run-{}-{}", runtime.name(), kind.name));
    let (work, channels) = (folder.join("work"), folder.join("channels"));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| Fail::io("empty", &folder, e))?;
    }
    for dir in [&work, &channels] {
        fs::create_dir_all(dir).map_err(|e| Fail::io("create", dir, e))?;
    }
    let header = &program.header;
    let executable = maker.executable(program, runtime);
    // Programs print what they were called as; both are called alike.
    let mut command = match kind.elements {
        None => {
            let mut command = Command::new(executable);
            command.arg0(&program.name);
            command
        }
        Some(elements) => {
            let this = std::env::current_exe().map_err(|e| Fail::new(format!("cannot find itself: {}", reason(&e))))?;
            let mut command = Command::new(this);
            command.args(["spread", "-n", elements]).arg(executable);
            command
        }
    };
    command.args(&header.args).current_dir(&work);
    command.env_remove("GHCRTS").env_remove("HECATON_CHECK").env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8");
    command.envs(header.env.iter().map(|(n, v)| (n, v))).envs(kind.env.iter().copied());
    let limit = limit.unwrap_or(header.timeout.unwrap_or(TIME_LIMIT) * kind.slowdown);
    let outcome = process::run(command, header.stdin.as_bytes(), limit, &channels)?;
    let end = match outcome.end {
        End::TimeLimit => format!("{OVER_TIME}{} s", limit.as_secs()),
        end => end.describe(),
    };
    Ok(Answer { end, stdout: outcome.stdout, stderr: outcome.stderr })
}

/// The stock runtime's answer, asked for once per version of the program.
pub fn stock_answer(maker: &Maker, program: &Program) -> Result<Answer> {
    let folder = maker.folder(program).join("answer");
    let key = maker.key(program, Runtime::Stock);
    // The header, with its arguments and input, is part of the sources.
    let key = hash([key.as_str(), "answer"]);
    let read = |name: &str| fs::read(folder.join(name)).ok();
    if read("key").is_some_and(|k| k == key.as_bytes()) {
        if let (Some(end), Some(stdout), Some(stderr)) = (read("end"), read("stdout"), read("stderr")) {
            return Ok(Answer { end: String::from_utf8_lossy(&end).into_owned(), stdout, stderr });
        }
    }
    let mut answer = ask(maker, program, Runtime::Stock, &PLAIN, None)?;
    for _ in 1..STOCK_TRIES {
        if answer.unfinished() {
            answer = ask(maker, program, Runtime::Stock, &PLAIN, None)?;
        }
    }
    if answer.unfinished() {
        return Ok(answer);
    }
    write_all(
        &folder,
        &[
            ("end", answer.end.as_bytes()),
            ("stdout", &answer.stdout),
            ("stderr", &answer.stderr),
            ("key", key.as_bytes()),
        ],
    )?;
    Ok(answer)
}

/// What differs between the stock runtime's answer and Hecaton's, if anything that the program wants compared does.
pub fn difference(
    maker: &Maker,
    program: &Program,
    kind: &Kind,
    expected: &Answer,
    got: &Answer,
) -> Result<Option<String>> {
    let compare = program.header.compare;
    let mut report = String::new();
    if compare.exit && expected.end != got.end {
        report += &format!("ended with {}, expected {}\n", got.end, expected.end);
    }
    if let Some(said) = program.header.exit.and_then(|code| not_ended_with(code, got)) {
        report += &said;
    }
    let folder = maker.folder(program).join(format!("difference-{}", kind.name));
    for (name, wanted, expected, got) in [
        ("stdout", compare.stdout, &expected.stdout, &got.stdout),
        ("stderr", compare.stderr, &expected.stderr, &got.stderr),
    ] {
        if wanted && expected != got {
            report += &unified(&folder, name, expected, got)?;
        }
    }
    // A crash explains itself on stderr even when that is not compared.
    if !report.is_empty() && !compare.stderr && !got.stderr.is_empty() {
        report += &shortened(&format!("stderr was:\n{}", String::from_utf8_lossy(&got.stderr)));
    }
    if report.is_empty() {
        return Ok(None);
    }
    Ok(Some(report + &rerun(maker, program, kind)))
}

/// What a program that must end with this code printed, if it ended otherwise.
fn not_ended_with(code: i32, got: &Answer) -> Option<String> {
    let wanted = End::Exit(code).describe();
    (got.end != wanted).then(|| {
        format!("ended with {}, must end with {wanted}\n{}", got.end, shortened(&String::from_utf8_lossy(&got.stdout)))
    })
}

/// A command that repeats the run.
fn rerun(maker: &Maker, program: &Program, kind: &Kind) -> String {
    let header = &program.header;
    let mut words: Vec<String> = header.env.iter().map(|(n, v)| format!("{n}={}", quoted(v))).collect();
    words.extend(kind.env.iter().map(|(n, v)| format!("{n}={v}")));
    words.extend(kind.elements.map(|elements| format!("./hecaton spread -n {elements}")));
    words.push(maker.executable(program, Runtime::Hecaton).display().to_string());
    words.extend(header.args.iter().map(|a| quoted(a)));
    if !header.stdin.is_empty() {
        words.push(format!("<<< {}", quoted(&header.stdin)));
    }
    format!("again: {}\n", words.join(" "))
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_+=./,:".contains(c));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn unified(folder: &Path, name: &str, expected: &[u8], got: &[u8]) -> Result<String> {
    let (old, new) = (format!("{name}.stock"), format!("{name}.hecaton"));
    write_all(folder, &[(&old, expected), (&new, got)])?;
    let out = Command::new("diff")
        .args(["-u", "--text", "--label", &old, "--label", &new])
        .args([folder.join(&old), folder.join(&new)])
        .output()
        .map_err(|e| Fail::new(format!("cannot run diff: {}", reason(&e))))?;
    Ok(shortened(&String::from_utf8_lossy(&out.stdout)))
}

fn shortened(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().take(LINES_SHOWN).map(|l| l.chars().take(300).collect()).collect();
    let more = text.lines().count().saturating_sub(LINES_SHOWN);
    if more > 0 {
        lines.push(format!("… {more} more lines"));
    }
    lines.join("\n") + "\n"
}

fn write_all(folder: &Path, files: &[(&str, &[u8])]) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Fail::io("create", folder, e))?;
    for (name, contents) in files {
        let path: PathBuf = folder.join(name);
        fs::write(&path, contents).map_err(|e| Fail::io("write", &path, e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("-A16k"), "-A16k");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_program_may_have_to_end_with_a_certain_code() {
        let got = Answer { end: "exit 1".to_owned(), stdout: b"law 3 fails\n".to_vec(), stderr: Vec::new() };
        assert_eq!(not_ended_with(1, &got), None);
        assert_eq!(not_ended_with(0, &got).unwrap(), "ended with exit 1, must end with exit 0\nlaw 3 fails\n");
    }

    #[test]
    fn long_texts_are_shortened() {
        let text = "x\n".repeat(LINES_SHOWN + 3);
        assert!(shortened(&text).ends_with("… 3 more lines\n"));
        assert_eq!(shortened("a\nb\n"), "a\nb\n");
    }
}
