//! `hecaton run`: an installed, dynamically linked Haskell program on this runtime.
use super::installed::Installed;
use crate::error::Result;
use crate::project::Project;
use std::{
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt,
};

pub fn run(project: &Project, program: &OsStr, args: &[OsString], blackholes: bool) -> Result<()> {
    let installed = Installed::find(project, program)?;
    let mut command = installed.command();
    if blackholes {
        command.env("HECATON_SHOW", "blackholes");
    }
    Err(installed.failure(&command.args(args).exec()))
}
