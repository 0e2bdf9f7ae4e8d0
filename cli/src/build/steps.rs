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
    if String::from_utf8_lossy(&said).contains("No space left on device") {
        return Fail::new(format!("the disk is full ({what})"));
    }
    let _ = io::stderr().write_all(&said);
    Fail::new(format!("{what} failed"))
}
