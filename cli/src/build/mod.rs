//! `hecaton build`: builds the libraries that programs link with.
//!
//! Protocol. `build/lib` is either absent or complete, and holds a stamp: a fingerprint of everything it was made from.
//! A build
//!  1. compares the stamp with the sources, and is done when they agree;
//!  2. otherwise takes the lock `build/lock` and looks again, since another build may just have finished;
//!  3. has cargo and ghc compile what changed (objects are kept in `build/obj`, each under a name that fingerprints its
//!     sources);
//!  4. links the new libraries in `build/tmp`, writes the stamp there last;
//!  5. exchanges `build/tmp` and `build/lib` in one step, and removes the old libraries.
//!
//! A step that fails leaves `build/lib` as it was.
mod compile;
mod fingerprint;
mod link;
pub mod package;
mod steps;

use crate::error::{Fail, Result};
use crate::ghc::Ghc;
use crate::project::{cargo, Project};
use std::{
    ffi::CString,
    fs::{self, File},
    io,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

pub use fingerprint::hash;
pub use steps::tool;

/// One of the runtime's ways; ghc's link flags choose among them.
pub struct Way {
    /// What follows `HSrts` in the library's name.
    pub suffix: &'static str,
    pub threaded: bool,
    pub debug: bool,
    pub eventlog: bool,
}

pub const WAYS: [Way; 6] = [
    Way { suffix: "", threaded: false, debug: false, eventlog: false },
    Way { suffix: "_debug", threaded: false, debug: true, eventlog: true },
    Way { suffix: "_l", threaded: false, debug: false, eventlog: true },
    Way { suffix: "_thr", threaded: true, debug: false, eventlog: false },
    Way { suffix: "_thr_debug", threaded: true, debug: true, eventlog: true },
    Way { suffix: "_thr_l", threaded: true, debug: false, eventlog: true },
];

/// How the runtime enters and updates thunks: a folder of cmm/evaluation.
#[derive(Clone, Copy, PartialEq)]
pub enum Evaluation {
    LockFree,
    /// With atomic instructions, for comparison.
    Atomic,
}

impl Evaluation {
    fn name(self) -> &'static str {
        match self {
            Evaluation::LockFree => "lock-free",
            Evaluation::Atomic => "atomic",
        }
    }

    /// The folder for all outputs.
    fn dir(self, project: &Project) -> PathBuf {
        match self {
            Evaluation::LockFree => project.build_dir(),
            Evaluation::Atomic => project.build_dir().join("study/atomic-runtime"),
        }
    }
}

/// Brings the libraries up to date and returns their folder.
pub fn ensure_built(project: &Project) -> Result<PathBuf> {
    if let Some(dir) = Project::lib_dir_override() {
        return match dir.join("libHSrts.a").is_file() {
            true => Ok(dir),
            false => Err(Fail::new(format!("HECATON_LIB_DIR names {}, which holds no libHSrts.a", dir.display()))),
        };
    }
    ensure_variant(project, Evaluation::LockFree)
}

/// Brings the libraries of a variant up to date and returns their folder.
pub fn ensure_variant(project: &Project, evaluation: Evaluation) -> Result<PathBuf> {
    let ghc = Ghc::find(project)?;
    let lib = evaluation.dir(project).join("lib");
    if is_current(project, &ghc, &lib)? {
        return Ok(lib);
    }
    ghc.check_version()?;
    cargo()?;
    let _lock = lock(&project.build_dir())?;
    if !is_current(project, &ghc, &lib)? {
        build(project, &ghc, evaluation, &lib)?;
    }
    Ok(lib)
}

/// Makes the library of one way in `lib`, whatever is there, with the crate compiled by one of cargo's profiles.
pub fn one_way(project: &Project, way: &Way, shared: bool, profile: &str, lib: &Path) -> Result<()> {
    let ghc = Ghc::find(project)?;
    let stamp = fingerprint::of_sources(project, &ghc)?;
    let objects = compile::one(project, &ghc, way, shared, profile)?;
    if lib.exists() {
        fs::remove_dir_all(lib).map_err(|e| Fail::io("remove", lib, e))?;
    }
    fs::create_dir_all(lib).map_err(|e| Fail::io("create", lib, e))?;
    link::one(&objects, way, shared, &project.root, lib)?;
    let path = lib.join("stamp");
    fs::write(&path, stamp).map_err(|e| Fail::io("write", &path, e))
}

/// The way that flags for ghc choose, and whether its library is a shared one.
pub fn way_of(flags: &[String]) -> (&'static Way, bool) {
    let has = |flag: &str| flags.iter().any(|f| f == flag);
    let (threaded, debug) = (has("-threaded"), has("-debug"));
    let eventlog = debug || has("-eventlog");
    let way = WAYS.iter().find(|w| (w.threaded, w.debug, w.eventlog) == (threaded, debug, eventlog));
    (way.expect("a way for each combination"), has("-dynamic"))
}

/// Identifies the libraries in `lib`: builds from different sources differ in it.
pub fn identity(lib: &Path) -> String {
    fs::read_to_string(lib.join("stamp")).unwrap_or_else(|_| hash([lib.as_os_str().as_bytes()]))
}

fn is_current(project: &Project, ghc: &Ghc, lib: &Path) -> Result<bool> {
    match fs::read_to_string(lib.join("stamp")) {
        Ok(stamp) => Ok(stamp == fingerprint::of_sources(project, ghc)?),
        Err(_) => Ok(false),
    }
}

fn build(project: &Project, ghc: &Ghc, evaluation: Evaluation, lib: &Path) -> Result<()> {
    // Computed before compiling: a source that changes meanwhile makes the result out of date, not wrongly current.
    let stamp = fingerprint::of_sources(project, ghc)?;
    let objects = compile::all(project, ghc, evaluation)?;
    let tmp = evaluation.dir(project).join("tmp");
    if tmp.exists() {
        fs::remove_dir_all(&tmp).map_err(|e| Fail::io("remove", &tmp, e))?;
    }
    fs::create_dir_all(&tmp).map_err(|e| Fail::io("create", &tmp, e))?;
    let made = link::all(&objects, &project.root, &tmp).and_then(|()| {
        let path = tmp.join("stamp");
        fs::write(&path, stamp).map_err(|e| Fail::io("write", &path, e))?;
        exchange(&tmp, lib).map_err(|e| Fail::io("put in place", lib, e))
    });
    // Either incomplete new libraries or the replaced old ones.
    let _ = fs::remove_dir_all(&tmp);
    made?;
    objects.remove_stale();
    Ok(())
}

/// Puts folder `new` where `old` is (or is not yet), in one step.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if !old.exists() {
        return fs::rename(new, old);
    }
    let from = CString::new(new.as_os_str().as_bytes())?;
    let to = CString::new(old.as_os_str().as_bytes())?;
    // SAFETY: both are NUL-terminated paths that live through the call.
    match unsafe { libc::renameat2(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::RENAME_EXCHANGE) }
    {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits until no other build runs in `dir`; the lock is held as long as the file is open.
pub fn lock(dir: &Path) -> Result<File> {
    fs::create_dir_all(dir).map_err(|e| Fail::io("create", dir, e))?;
    let path = dir.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(|e| Fail::io("open", &path, e))?;
    // SAFETY: the descriptor is open.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(file),
        _ => Err(Fail::io("lock", &path, io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_choose_a_way() {
        let of = |flags: &str| {
            let (way, shared) = way_of(&flags.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            (way.suffix, shared)
        };
        assert_eq!(
            [of("-O"), of("-threaded -O"), of("-debug -threaded")],
            [("", false), ("_thr", false), ("_thr_debug", false)]
        );
        assert_eq!([of("-eventlog -dynamic"), of("-debug -eventlog")], [("_l", true), ("_debug", false)]);
    }
}
