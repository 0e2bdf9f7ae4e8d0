//! Running the tools of a build: silent when they succeed, their words passed on when they fail.
use crate::fail::{Fail, Result};
use std::{
    io::{self, Write},
    process::{Command, Output},
};

/// Runs a tool to its end and returns what it wrote to stdout; `what` says what is being done.
pub fn tool(what: &str, command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().map_err(|e| Fail::new(format!("{what}: cannot run {name}: {e}")))?;
    if out.status.success() {
        return Ok(out.stdout);
    }
    Err(failed(what, &out))
}

fn failed(what: &str, out: &Output) -> Fail {
    let said = [&out.stdout[..], &out.stderr[..]].concat();
    if tells_of_full_disk(&String::from_utf8_lossy(&said)) {
        return Fail::new(format!("the disk is full ({what})"));
    }
    let _ = io::stderr().write_all(&said);
    Fail::new(format!("{what} failed"))
}

/// Whether a tool failed for want of room: it says so, or is a linker that maps its output into memory, or is binutils' `ar`, which
/// forgets the reason.
fn tells_of_full_disk(said: &str) -> bool {
    ["No space left on device", "ld terminated with signal 7 [Bus error]", "unable to copy file"].iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_called_by_its_name() {
        let message = |script: &str| tool("trying", Command::new("sh").args(["-c", script])).unwrap_err().message;
        assert_eq!(message("echo 'ld: a.o: No space left on device' >&2; exit 1"), "the disk is full (trying)");
        assert_eq!(message("echo 'collect2: fatal error: ld terminated with signal 7 [Bus error]' >&2; exit 1"), "the disk is full (trying)");
        assert_eq!(message("exit 1"), "trying failed");
    }
}
