//! Runs the tools of a build. They are silent if they succeed; if one fails, its output is shown.
use crate::error::{reason, Fail, Result};
use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Command, Output, Stdio},
};

/// Runs a tool to its end and returns what it wrote to stdout; `what` says what is being done.
pub fn tool(what: &str, command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().map_err(|e| Fail::new(format!("{what}: cannot run {name}: {}", reason(&e))))?;
    if out.status.success() {
        return Ok(out.stdout);
    }
    Err(failed(what, &out))
}

/// Runs cargo, and prints `notice` on standard error if there is anything to compile, because that takes long.
pub fn cargo_build(what: &str, command: &mut Command, notice: &str) -> Result<()> {
    let cannot = |e: io::Error| Fail::new(format!("{what}: cannot run cargo: {}", reason(&e)));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let (mut said, mut told) = (Vec::new(), false);
    for line in BufReader::new(child.stderr.take().expect("it is piped")).lines() {
        let line = line.map_err(cannot)?;
        if !told && is_work(&line) {
            eprintln!("{notice}");
            told = true;
        }
        said.extend_from_slice(line.as_bytes());
        said.push(b'\n');
    }
    let status = child.wait().map_err(cannot)?;
    match status.success() {
        true => Ok(()),
        false => Err(failed(what, &Output { status, stdout: Vec::new(), stderr: said })),
    }
}

/// Whether cargo says that it begins something long.
fn is_work(line: &str) -> bool {
    ["Compiling ", "Downloading "].iter().any(|word| line.trim_start().starts_with(word))
}

fn failed(what: &str, out: &Output) -> Fail {
    let said = [&out.stdout[..], &out.stderr[..]].concat();
    if tells_of_full_disk(&String::from_utf8_lossy(&said)) {
        return Fail::new(format!("the disk is full ({what})"));
    }
    let _ = io::stderr().write_all(&said);
    Fail::new(format!("{what} failed"))
}

/// Whether a tool failed because the disk is full. It says so, or is a linker that maps its output into memory, or is
/// binutils' `ar`, which does not give the reason.
fn tells_of_full_disk(said: &str) -> bool {
    ["No space left on device", "ld terminated with signal 7 [Bus error]", "unable to copy file"]
        .iter()
        .any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiling_is_announced_and_being_done_is_not() {
        assert!(is_work("   Compiling hecaton-rts v0.1.0 (/x)"));
        assert!(!is_work("    Finished `release` profile [optimized] target(s) in 0.03s"));
        let cargo = |script: &str| {
            cargo_build("trying", Command::new("sh").args(["-c", script]), "building").map_err(|f| f.message)
        };
        assert_eq!(cargo("echo ok >&2"), Ok(()));
        assert_eq!(cargo("echo 'No space left on device' >&2; exit 1"), Err("the disk is full (trying)".to_owned()));
    }

    #[test]
    fn a_full_disk_is_called_by_its_name() {
        let message = |script: &str| tool("trying", Command::new("sh").args(["-c", script])).unwrap_err().message;
        assert_eq!(message("echo 'ld: a.o: No space left on device' >&2; exit 1"), "the disk is full (trying)");
        assert_eq!(
            message("echo 'collect2: fatal error: ld terminated with signal 7 [Bus error]' >&2; exit 1"),
            "the disk is full (trying)"
        );
        assert_eq!(message("exit 1"), "trying failed");
    }
}
