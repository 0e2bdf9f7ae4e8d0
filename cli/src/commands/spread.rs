//! `hecaton spread`: a program over several processing elements (PEs), of this machine or of several hosts.
use super::installed;
use crate::elf::{self, Verdict};
use crate::error::{reason, Fail, Result};
use crate::spread::launch::{self, Part};
use crate::spread::watch::{self, Alone, End, Signals};
use crate::spread::{hosts, remote};
use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    path::{self, Path},
    process::Command,
};

#[derive(clap::Args)]
pub struct Options {
    /// The number of processing elements, from 1 to 128; with --hosts at most as many as these have room for
    #[arg(short = 'n', value_name = "N", required_unless_present = "hosts")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=hosts::MAX_ELEMENTS as i64))]
    elements: Option<u16>,
    /// Hosts, each with a number of processing elements, from 1 to 128: a:2,me@b:4
    #[arg(long, value_name = "LIST")]
    hosts: Option<String>,
    /// A path, or a name on PATH, followed by arguments for the program
    // One list: arguments after the program are the program's.
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, required = true, num_args = 1..)]
    command: Vec<OsString>,
}

pub fn run(options: &Options) -> Result<()> {
    let elements = options.elements.map(usize::from);
    if let (None, Some(count)) = (&options.hosts, elements.filter(|&count| count > launch::MAX_ON_HOST)) {
        let most = launch::MAX_ON_HOST;
        return Err(Fail::usage(format!("-n {count} is more than one machine has: {most} (see --hosts)")));
    }
    let hosts = options.hosts.as_deref().map(|list| hosts::parse(list, elements)).transpose()?;
    let path = installed::path_of(&options.command[0])?;
    let command = || {
        let mut command = Command::new(&path);
        command.args(&options.command[1..]);
        command
    };
    if hosts.is_none() && elements == Some(1) {
        return Err(cannot_run(&path, &command().env_remove(launch::MEMBERSHIP).exec()));
    }
    if let Verdict::Refused(why) = elf::examine_static(&path) {
        return Err(Fail::new(format!("{} {why}", path.display())));
    }
    let signals = Signals::block()?;
    let end = match (hosts, elements) {
        (Some(hosts), _) => {
            let whole = path::absolute(&path).map_err(|error| cannot_run(&path, &error))?;
            let whole = [whole.into_os_string()];
            remote::run(&hosts, &[&whole, &options.command[1..]].concat(), &signals)?
        }
        (None, count) => {
            let total = count.unwrap_or(1);
            let part = Part { first: 0, count: total, total, others: None };
            let (elements, _) = launch::start(command, part, signals.previous())?;
            watch::to_the_end(elements, &signals, &mut Alone)?
        }
    };
    match end {
        End::Exit(0) => Ok(()),
        End::Exit(code) => Err(Fail::silent(code)),
        End::Signal(signal) => watch::end_by(signal),
    }
}

fn cannot_run(path: &Path, error: &io::Error) -> Fail {
    Fail::new(format!("cannot run {}: {}", path.display(), reason(error)))
}
