//! The `hecaton` command.
mod build;
mod fail;
mod ghc;
mod project;

use clap::{error::ErrorKind, Parser, Subcommand};
use fail::{Fail, Result};
use project::Project;
use std::process::exit;

#[derive(Parser)]
#[command(name = "hecaton", about = "A runtime system for programs compiled by GHC 9.0.2", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Cmd,
}

#[derive(Subcommand)]
enum Cmd {
    /// Build the runtime's libraries (quick when nothing changed, silent on success)
    Build,
}

fn main() {
    if let Err(fail) = start() {
        if !fail.message.is_empty() {
            eprintln!("hecaton: {fail}");
        }
        exit(fail.code);
    }
}

fn start() -> Result<()> {
    let cli = Cli::try_parse().or_else(usage_error)?;
    let project = Project::locate()?;
    match cli.command {
        Cmd::Build => build::ensure_built(&project).map(drop),
    }
}

/// Help is printed as it is; a wrong argument becomes one line and exit code 2.
fn usage_error(error: clap::Error) -> Result<Cli> {
    match error.kind() {
        ErrorKind::DisplayHelp => error.exit(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Err(Fail { message: "which command? (build, ghc, run, demo, test, bench; see --help)".into(), code: 2 })
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(Fail { message: format!("{} (see --help)", first.trim_start_matches("error: ")), code: 2 })
        }
    }
}
