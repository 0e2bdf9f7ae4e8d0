//! `hecaton run`: an installed, dynamically linked Haskell program on this runtime, once or with many seeds.
use super::explore;
use super::installed::Installed;
use crate::error::Result;
use crate::project::Project;
use std::{ffi::OsString, os::unix::process::CommandExt};

#[derive(clap::Args)]
pub struct Options {
    /// Report waits for black holes when the program ends
    #[arg(long)]
    blackholes: bool,
    /// The order in which threads run: fifo, lifo or random:SEED
    #[arg(long, value_name = "NAME", value_parser = scheduler)]
    scheduler: Option<String>,
    /// Look for a seed from 1 to N with which the program ends in another way than plainly
    #[arg(long, value_name = "N", conflicts_with_all = ["blackholes", "scheduler"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    explore: Option<u32>,
    /// Run J processes at a time when exploring [default: one for each core]
    #[arg(long, value_name = "J", requires = "explore", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// A path, or a name on PATH, followed by arguments for the program
    // One list: arguments after the program are the program's.
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, required = true, num_args = 1..)]
    command: Vec<OsString>,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    let installed = Installed::find(project, &options.command[0])?;
    if let Some(seeds) = options.explore {
        return explore::run(project, &installed, &options.command, seeds, options.jobs);
    }
    let mut command = installed.command();
    if options.blackholes {
        command.env("HECATON_SHOW", "blackholes");
    }
    if let Some(name) = &options.scheduler {
        command.env(explore::SCHEDULER, name);
    }
    Err(installed.failure(&command.args(&options.command[1..]).exec()))
}

/// Checks the name of a scheduler.
fn scheduler(name: &str) -> std::result::Result<String, &'static str> {
    let is_seed = |text: &str| text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u64>().is_ok();
    if matches!(name, "fifo" | "lifo") || name.strip_prefix("random:").is_some_and(is_seed) {
        return Ok(name.to_owned());
    }
    Err("it is one of fifo, lifo and random:SEED, where SEED is a number")
}
