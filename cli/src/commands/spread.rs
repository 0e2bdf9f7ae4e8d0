//! `hecaton spread`: a program over several processing elements (PEs) of this machine.
use super::installed;
use crate::elf::{self, Verdict};
use crate::error::{reason, Fail, Result};
use crate::spread::{launch, watch};
use std::{ffi::OsString, io, os::unix::process::CommandExt, path::Path, process::Command};

/// The most PEs of one machine. There is a pair of sockets for each two of them.
const MAX_ELEMENTS: i64 = 128;

#[derive(clap::Args)]
pub struct Options {
    /// The number of processing elements, from 1 to 128
    #[arg(short = 'n', value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=MAX_ELEMENTS))]
    elements: u16,
    /// A path, or a name on PATH, followed by arguments for the program
    // One list: arguments after the program are the program's.
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, required = true, num_args = 1..)]
    command: Vec<OsString>,
}

pub fn run(options: &Options) -> Result<()> {
    let path = installed::path_of(&options.command[0])?;
    let command = || {
        let mut command = Command::new(&path);
        command.args(&options.command[1..]);
        command
    };
    if options.elements == 1 {
        return Err(cannot_run(&path, &command().env_remove(launch::MEMBERSHIP).exec()));
    }
    if let Verdict::Refused(why) = elf::examine_static(&path) {
        return Err(Fail::new(format!("{} {why}", path.display())));
    }
    let signals = watch::Signals::block()?;
    let elements = launch::start(command, options.elements as usize, signals.previous())?;
    match watch::to_the_end(elements, &signals)? {
        watch::End::Exit(0) => Ok(()),
        watch::End::Exit(code) => Err(Fail::silent(code)),
        watch::End::Signal(signal) => signals.end_by(signal),
    }
}

fn cannot_run(path: &Path, error: &io::Error) -> Fail {
    Fail::new(format!("cannot run {}: {}", path.display(), reason(error)))
}
