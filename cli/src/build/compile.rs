//! Compiles the Rust crate by cargo, Cmm files by ghc and C files by gcc, the latter two for static and for shared
//! libraries.
use super::{
    fingerprint::hash,
    steps::{cargo_build, tool},
    Evaluation, Way, WAYS,
};
use crate::error::{Fail, Result};
use crate::ghc::Ghc;
use crate::project::{cargo, Project};
use crate::thread_pool::in_parallel;
use std::{
    collections::HashSet,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The objects of the library of one way.
pub struct One {
    pub rust: PathBuf,
    /// From Cmm and C.
    pub common: Vec<PathBuf>,
    pub way: PathBuf,
}

/// The objects of all libraries.
pub struct Objects {
    /// Cargo's static library: this runtime and the parts of Rust's standard library.
    pub rust: PathBuf,
    pub static_: Kind,
    pub shared: Kind,
    dir: PathBuf,
}

/// Objects for one kind of library.
pub struct Kind {
    /// From Cmm and C.
    pub common: Vec<PathBuf>,
    /// One for each way, in the order of `WAYS`.
    pub ways: Vec<PathBuf>,
}

/// One compilation: a source, the kind of library it is for, and defines.
struct Unit {
    source: PathBuf,
    shared: bool,
    defines: Vec<String>,
}

pub fn all(project: &Project, ghc: &Ghc, evaluation: Evaluation) -> Result<Objects> {
    let compiler = Compiler::new(project, ghc, evaluation)?;
    let sources = sources(&project.root)?;
    let mut units = Vec::new();
    for shared in [false, true] {
        units.extend(sources.iter().map(|source| Unit { source: source.clone(), shared, defines: Vec::new() }));
        units.extend(WAYS.iter().map(|way| Unit::of_way(&project.root, way, shared)));
    }
    let mut made = in_parallel(&units, |unit| compiler.compile(unit))?.into_iter();
    let mut kind =
        || Kind { common: made.by_ref().take(sources.len()).collect(), ways: made.by_ref().take(WAYS.len()).collect() };
    let (static_, shared) = (kind(), kind());
    // Last, because it takes longest: errors in Cmm show earlier.
    let rust = crate_archive(project, ghc, "release")?;
    Ok(Objects { rust, static_, shared, dir: compiler.dir })
}

/// Compiles what one way needs, the crate with one of cargo's profiles.
pub fn one(project: &Project, ghc: &Ghc, way: &Way, shared: bool, profile: &str) -> Result<One> {
    let compiler = Compiler::new(project, ghc, Evaluation::LockFree)?;
    let mut units = vec![Unit::of_way(&project.root, way, shared)];
    units.extend(sources(&project.root)?.into_iter().map(|source| Unit { source, shared, defines: Vec::new() }));
    let mut common = in_parallel(&units, |unit| compiler.compile(unit))?;
    let way = common.remove(0);
    Ok(One { rust: crate_archive(project, ghc, profile)?, common, way })
}

/// The sources of all ways.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    Ok([files(&root.join("cmm"), "cmm")?, files(&root.join("rts/haskell"), "hs")?, files(&root.join("rts/c"), "c")?]
        .concat())
}

impl Unit {
    /// The defines that distinguish the ways.
    fn of_way(root: &Path, way: &Way, shared: bool) -> Unit {
        let flags = [("THREADED", way.threaded), ("DEBUG", way.debug), ("EVENTLOG", way.eventlog), ("DYNAMIC", shared)];
        let defines = flags.iter().map(|(name, on)| format!("-DWAY_{name}={}", u8::from(*on))).collect();
        Unit { source: root.join("rts/ways/way.c"), shared, defines }
    }
}

impl Objects {
    /// Removes objects of earlier versions of the sources.
    pub fn remove_stale(&self) {
        let kinds = [&self.static_, &self.shared];
        let used: HashSet<&PathBuf> = kinds.iter().flat_map(|k| k.common.iter().chain(&k.ways)).collect();
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if !used.contains(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn crate_archive(project: &Project, ghc: &Ghc, profile: &str) -> Result<PathBuf> {
    let mut command = Command::new(cargo()?);
    command
        .args(["build", "--profile", profile, "--package", "hecaton-rts", "--target-dir"])
        .arg(project.root.join("target"));
    command.current_dir(&project.root);
    if !ghc.is_default {
        command.env("HECATON_GHC", &ghc.path);
    }
    cargo_build(
        "compiling the runtime's Rust",
        &mut command,
        "hecaton: building the runtime; this takes a minute or two",
    )?;
    Ok(project.root.join("target").join(profile).join("libhecaton.a"))
}

struct Compiler<'a> {
    ghc: &'a Ghc,
    include: PathBuf,
    root: &'a Path,
    /// Where Evaluation.h is.
    evaluation: PathBuf,
    dir: PathBuf,
    /// The contents of all headers that a source may include.
    headers: Vec<u8>,
}

impl<'a> Compiler<'a> {
    fn new(project: &'a Project, ghc: &'a Ghc, evaluation: Evaluation) -> Result<Compiler<'a>> {
        let dir = evaluation.dir(project).join("obj");
        fs::create_dir_all(&dir).map_err(|e| Fail::io("create", &dir, e))?;
        let root = &project.root;
        let evaluation = root.join("cmm/evaluation").join(evaluation.name());
        let headers =
            [files(&root.join("cmm"), "h")?, files(&evaluation, "h")?, files(&root.join("rts/c"), "h")?].concat();
        Ok(Compiler {
            ghc,
            include: ghc.libdir()?.join("include"),
            root,
            evaluation,
            dir,
            headers: contents(&headers)?,
        })
    }

    /// Compiles one unit, unless an object of exactly these sources and flags exists.
    fn compile(&self, unit: &Unit) -> Result<PathBuf> {
        let extension = unit.source.extension().and_then(OsStr::to_str);
        let flags = match extension {
            Some("cmm") => self.cmm_flags(unit.shared),
            Some("hs") => self.haskell_flags(unit.shared),
            _ => self.c_flags(unit.shared),
        };
        let by_ghc = matches!(extension, Some("cmm" | "hs"));
        let flags: Vec<String> = flags.into_iter().chain(unit.defines.iter().cloned()).collect();
        let text = fs::read(&unit.source).map_err(|e| Fail::io("read", &unit.source, e))?;
        let key =
            hash([&text[..], &self.headers, flags.join(" ").as_bytes(), self.ghc.path.as_os_str().as_encoded_bytes()]);
        let stem = unit.source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let object = self.dir.join(format!("{stem}-{key}.o"));
        if object.exists() {
            return Ok(object);
        }
        let tmp = self.dir.join(format!("{stem}-{key}.tmp.o"));
        let mut command = Command::new(if by_ghc { self.ghc.path.as_os_str() } else { OsStr::new("gcc") });
        command.args(&flags).arg("-c").arg(&unit.source).arg("-o").arg(&tmp);
        if extension == Some("hs") {
            command.arg("-ohi").arg(tmp.with_extension("hi"));
        }
        let shown = unit.source.strip_prefix(self.root).unwrap_or(&unit.source).display();
        tool(&format!("compiling {shown}"), &mut command)?;
        fs::rename(&tmp, &object).map_err(|e| Fail::io("rename", &tmp, e))?;
        Ok(object)
    }

    fn cmm_flags(&self, shared: bool) -> Vec<String> {
        let mut flags = vec!["-O2".to_owned(), format!("-I{}", self.root.join("cmm").display())];
        flags.push(format!("-I{}", self.evaluation.display()));
        if shared {
            flags.extend(["-dynamic".to_owned(), "-fPIC".to_owned()]);
        }
        flags
    }

    /// The Haskell module is a unit of its own, which nothing imports: programs find its code by symbols.
    fn haskell_flags(&self, shared: bool) -> Vec<String> {
        let mut flags = ["-O", "-Wall", "-this-unit-id", "hecaton-rts"].map(str::to_owned).to_vec();
        if shared {
            flags.extend(["-dynamic".to_owned(), "-fPIC".to_owned()]);
        }
        flags
    }

    fn c_flags(&self, shared: bool) -> Vec<String> {
        let mut flags: Vec<String> =
            ["-O2", "-g1", "-Wall", "-Wno-unknown-pragmas", "-fno-strict-aliasing"].map(str::to_owned).into();
        flags.push(format!("-I{}", self.include.display()));
        flags.push(format!("-I{}", self.root.join("rts/c").display()));
        flags.push(if shared { "-fPIC" } else { "-fno-PIE" }.to_owned());
        flags
    }
}

/// The files in `dir` with this extension, in the order of their names (none if there is no such folder).
fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(dir).map_err(|e| Fail::io("read", dir, e))?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension() == Some(OsStr::new(extension))).collect();
    found.sort();
    Ok(found)
}

fn contents(files: &[PathBuf]) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for file in files {
        all.extend(fs::read(file).map_err(|e| Fail::io("read", file, e))?);
    }
    Ok(all)
}
