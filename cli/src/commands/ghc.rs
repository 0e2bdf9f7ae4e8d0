//! `hecaton ghc`: the installed ghc, made to link with this runtime.
//!
//! - `-L<libraries>` goes first, so that the linker finds this `libHSrts….a` or `.so` before GHC's.
//! - With `-dynamic`, `scripts/link` puts the folder first in the program's run path too, and links in a check at start
//!   that the runtime there is this one.
//! - The linker defines the symbol `__hecaton_build`, whose value tells one build of the runtime from another. It makes
//!   `ghc --make` link again when the runtime changed, or when the program was linked with GHC's own runtime before. It
//!   also marks the program as linked by this command.
//! - `-package-db` makes the package `hecaton` of `library/` visible.
//!
//! A message names what this runtime does not have: profiling and `-staticlib`, which link GHC's own runtime, and the
//! report of `-ticky`.
use crate::build::{self, package};
use crate::error::{reason, Fail, Result};
use crate::ghc::Ghc;
use crate::project::Project;
use std::{
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

/// The symbol in programs linked by this command.
pub const MARK: &str = "__hecaton_build";

/// Flags that ghc answers alone, without the runtime.
const QUESTIONS: [&str; 12] = [
    "--version",
    "-V",
    "--numeric-version",
    "--info",
    "--print-libdir",
    "--supported-extensions",
    "--supported-languages",
    "--print-booter-version",
    "--print-build-platform",
    "--print-host-platform",
    "--print-target-platform",
    "-?",
];

/// Modes in which ghc does not link.
const COMPILES_ONLY: [&str; 10] =
    ["-c", "-S", "-C", "-E", "-M", "-e", "-no-link", "-fno-code", "--interactive", "--frontend"];

/// The message when a program with counters is linked.
const TICKY: &str =
    "-ticky: the code counts, but Hecaton writes no report of it (+RTS -r); for one, link with ghc itself";

pub fn run(project: &Project, args: &[OsString]) -> Result<()> {
    let (mut command, args) = if args.iter().any(|a| QUESTIONS.iter().any(|q| a == q)) {
        let ghc = Ghc::find(project)?;
        ghc.check_version()?;
        (Command::new(ghc.path), args.to_vec())
    } else {
        let lib = build::ensure_built(project)?;
        if has(args, "-staticlib") && !COMPILES_ONLY.iter().any(|mode| has(args, mode)) {
            eprintln!("hecaton: -staticlib puts GHC's own runtime into the library; for Hecaton, make a shared one (-shared -dynamic -flink-rts)");
        }
        let mut command = linking(project, &lib, args)?;
        // The script hands on to the linker that the user names.
        let (linker, rest) = match takes_script(args) {
            true => named_linker(args),
            false => (None, args.to_vec()),
        };
        if let Some(linker) = linker {
            command.env("HECATON_LINKER", linker);
        }
        let rest = match package_database(project)? {
            Some(database) => package::visible(&database, &rest),
            None => rest,
        };
        (command, rest)
    };
    let error = command.args(args).exec();
    Err(Fail::new(format!("cannot run {}: {}", command.get_program().to_string_lossy(), reason(&error))))
}

/// A ghc that links with the libraries in `lib`, to be given `args` (which stay to be added).
pub fn linking(project: &Project, lib: &Path, args: &[impl AsRef<OsStr>]) -> Result<Command> {
    let mut command = Command::new(Ghc::find(project)?.path);
    if !is_left_to_ghc(args) {
        let mut search = OsString::from("-L");
        search.push(lib);
        let identity = build::hash([build::identity(lib)]);
        command.arg(search).arg(format!("-optl-Wl,--defsym,{MARK}=0x{identity}"));
    }
    if takes_script(args) {
        command.arg("-pgml").arg(project.root.join("scripts/link")).env("HECATON_LIB", lib);
    }
    if has(args, "-ticky") {
        command.env("HECATON_NOTE", TICKY);
    }
    Ok(command)
}

/// The database of the package `hecaton`. Where the libraries are given, they are used with the package that is there.
fn package_database(project: &Project) -> Result<Option<PathBuf>> {
    match Project::lib_dir_override() {
        Some(_) => Ok(package::database(project)),
        None => package::ensure_built(project).map(Some),
    }
}

fn has(args: &[impl AsRef<OsStr>], flag: &str) -> bool {
    args.iter().any(|a| a.as_ref() == flag)
}

/// What is linked gets GHC's own runtime, and is not to be marked as ours.
fn is_left_to_ghc(args: &[impl AsRef<OsStr>]) -> bool {
    has(args, "-prof") || has(args, "-staticlib")
}

/// Whether there is something for `scripts/link` to add or to say.
fn takes_script(args: &[impl AsRef<OsStr>]) -> bool {
    ["-dynamic", "-prof", "-ticky"].iter().any(|flag| has(args, flag))
}

/// The linker that the last `-pgml` names, and the arguments without these.
fn named_linker(args: &[OsString]) -> (Option<OsString>, Vec<OsString>) {
    let (mut linker, mut rest) = (None, Vec::new());
    let mut all = args.iter();
    while let Some(arg) = all.next() {
        match arg.to_str().and_then(|a| a.strip_prefix("-pgml")) {
            Some("") => linker = all.next().cloned(),
            Some(name) if !name.starts_with('-') => linker = Some(name.into()),
            _ => rest.push(arg.clone()),
        }
    }
    (linker, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_named_linker_is_found() {
        let found = |line: &str| named_linker(&words(line));
        assert_eq!(found("-O -pgml a Main.hs -pgmlb"), (Some("b".into()), words("-O Main.hs")));
        assert_eq!(found("-pgml-supports-no-pie x"), (None, words("-pgml-supports-no-pie x")));
    }

    #[test]
    fn the_script_is_for_what_is_not_simple() {
        assert!(
            takes_script(&words("-O -dynamic"))
                && takes_script(&words("-prof"))
                && !takes_script(&words("-O -dynamic-too"))
        );
        assert!(is_left_to_ghc(&words("-prof")) && !is_left_to_ghc(&words("-dynamic -ticky")));
    }
}
