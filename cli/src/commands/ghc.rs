//! `hecaton ghc`: the installed ghc, made to link with this runtime.
//!
//! - `-L<libraries>` goes first, so that the linker finds this `libHSrts….a` or `.so` before GHC's.
//! - With `-dynamic`, `scripts/link-dynamic` puts the folder first in the program's run path too.
//! - The linker defines the symbol `__hecaton_build`, whose value tells one build of the runtime from another. It makes `ghc --make` link
//!   again when the runtime changed, or when the program was linked with GHC's own runtime before; and it marks the program as ours.
use crate::{
    build,
    fail::{Fail, Result},
    ghc::Ghc,
    project::Project,
};
use std::{
    ffi::OsString,
    os::unix::process::CommandExt,
    path::Path,
    process::Command,
};

/// The symbol in programs linked by this command.
pub const MARK: &str = "__hecaton_build";

/// Answered by ghc alone, with no need for the runtime.
const QUESTIONS: [&str; 12] = [
    "--version", "-V", "--numeric-version", "--info", "--print-libdir", "--supported-extensions", "--supported-languages",
    "--print-booter-version", "--print-build-platform", "--print-host-platform", "--print-target-platform", "-?",
];

pub fn run(project: &Project, args: &[OsString]) -> Result<()> {
    let mut command = if args.iter().any(|a| QUESTIONS.iter().any(|q| a == q)) {
        let ghc = Ghc::find(project)?;
        ghc.check_version()?;
        Command::new(ghc.path)
    } else {
        linking(project, &build::ensure_built(project)?, is_dynamic(args))?
    };
    let error = command.args(args).exec();
    Err(Fail::new(format!("cannot run {}: {error}", command.get_program().to_string_lossy())))
}

/// A ghc that links with the libraries in `lib`.
pub fn linking(project: &Project, lib: &Path, dynamic: bool) -> Result<Command> {
    let mut command = Command::new(Ghc::find(project)?.path);
    let mut search = OsString::from("-L");
    search.push(lib);
    let identity = build::hash([build::identity(lib)]);
    command.arg(search).arg(format!("-optl-Wl,--defsym,{MARK}=0x{identity}"));
    if dynamic {
        command.arg("-pgml").arg(project.root.join("scripts/link-dynamic")).env("HECATON_RPATH", lib);
    }
    Ok(command)
}

/// Whether a shared runtime may be linked: said outright, or perhaps in a response file.
fn is_dynamic(args: &[OsString]) -> bool {
    args.iter().any(|a| a == "-dynamic" || a.to_string_lossy().starts_with('@'))
}
