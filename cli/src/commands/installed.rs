//! An installed, dynamically linked Haskell program, to be run with this runtime in the place of GHC's.
//!
//! The program asks the dynamic loader for `libHSrts…-ghc9.0.2.so`, and LD_LIBRARY_PATH comes before the run path in
//! it. So that nothing runs on another runtime unnoticed, the program is looked at first. One that is linked with
//! Hecaton runs as it is.
use crate::build;
use crate::elf::{self, Verdict};
use crate::error::{reason, Fail, Result};
use crate::project::{is_executable, on_path, Project};
use std::{
    env,
    ffi::OsStr,
    fs::File,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
    process::Command,
};

pub struct Installed {
    path: PathBuf,
    is_script: bool,
    lib: PathBuf,
}

impl Installed {
    /// Finds `program` as a shell does, and refuses one that would not run on this runtime.
    pub fn find(project: &Project, program: &OsStr) -> Result<Installed> {
        let path = path_of(program)?;
        let is_script = is_script(&path)?;
        if !is_script {
            match elf::examine(&path) {
                Verdict::Runs => {}
                Verdict::Refused(why) => return Err(Fail::new(format!("{} {why}", path.display()))),
            }
        }
        Ok(Installed { path, is_script, lib: build::ensure_built(project)? })
    }

    pub fn command(&self) -> Command {
        on_hecaton(&self.path, &self.lib)
    }

    /// Why the system did not run it.
    pub fn failure(&self, error: &io::Error) -> Fail {
        let path = self.path.display();
        if self.is_script && error.kind() == ErrorKind::NotFound {
            return Fail::new(format!("cannot run {path}: what its first line names to run it is missing"));
        }
        Fail::new(format!("cannot run {path}: {}", reason(error)))
    }
}

/// `program` with the shared libraries in `lib` ahead of all others.
pub fn on_hecaton(program: &Path, lib: &Path) -> Command {
    let mut search = lib.as_os_str().to_owned();
    if let Some(more) = env::var_os("LD_LIBRARY_PATH").filter(|v| !v.is_empty()) {
        search.push(":");
        search.push(more);
    }
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", search);
    command
}

/// A path if it has a slash, otherwise a name on PATH, as in a shell.
pub fn path_of(program: &OsStr) -> Result<PathBuf> {
    let shown = program.to_string_lossy();
    if !shown.contains('/') {
        return on_path(&shown).next().ok_or_else(|| Fail::new(format!("no program called {shown} on PATH")));
    }
    let path = PathBuf::from(program);
    if path.is_dir() {
        return Err(Fail::new(format!("{shown} is a folder")));
    }
    match path.metadata() {
        Err(e) if e.kind() == ErrorKind::NotFound => return Err(Fail::new(format!("there is no {shown}"))),
        Err(e) => return Err(Fail::io("look at", &path, e)),
        Ok(_) => {}
    }
    if !is_executable(&path) {
        return Err(Fail::new(format!("{shown} is not executable")));
    }
    Ok(path)
}

/// Scripts (Debian's `/usr/bin/ghc` is one) start the real program with the environment they are given.
fn is_script(path: &Path) -> Result<bool> {
    let mut start = [0; 2];
    let mut file = File::open(path).map_err(|e| Fail::io("open", path, e))?;
    let read = file.read(&mut start).map_err(|e| Fail::io("read", path, e))?;
    Ok(&start[..read] == b"#!")
}
