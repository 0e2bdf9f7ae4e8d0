//! Test and benchmark programs: finding them, compiling each once, and linking it with both runtimes.
//!
//! A program is a file `NAME.hs`, or a folder `NAME` with a `Main.hs`. Everything made of it is in a folder of its own:
//!     objects/         what ghc compiled, used by both links
//!     stock/NAME       linked with GHC's runtime
//!     hecaton/NAME     linked with this one, under the same name, since programs print theirs
//!     stock/key, hecaton/key      what they were made from; a program whose key still holds is not made again
mod header;

pub use header::{Aimed, Header};

use crate::build::{self, hash};
use crate::commands;
use crate::error::{reason, Fail, Result};
use crate::ghc::Ghc;
use crate::project::Project;
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[derive(Clone)]
pub struct Program {
    pub name: String,
    pub header: Header,
    /// The folder with its sources.
    folder: PathBuf,
    main: PathBuf,
    /// The fingerprint of its sources.
    sources: String,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Runtime {
    Stock,
    Hecaton,
}

impl Runtime {
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Stock => "stock",
            Runtime::Hecaton => "hecaton",
        }
    }
}

/// How programs are made: with which ghc and libraries, and in which folder.
pub struct Maker<'a> {
    project: &'a Project,
    ghc: Ghc,
    lib: PathBuf,
    identity: String,
    dir: PathBuf,
}

/// The programs in `folder`, in the order of their names; those that `filters` do not name are left out (all stay if there are none).
pub fn find(folder: &Path, filters: &[String]) -> Result<Vec<Program>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Fail::io("read", folder, e)),
    };
    let mut found = Vec::new();
    for path in entries.flatten().map(|e| e.path()) {
        let is_folder = path.is_dir();
        let main = if is_folder { path.join("Main.hs") } else { path.clone() };
        if !main.is_file() || main.extension() != Some(OsStr::new("hs")) {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str())) {
            found.push(Program::load(name, if is_folder { &path } else { folder }, main, is_folder)?);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

impl Program {
    /// A program without sources, for tests of what its header decides.
    #[cfg(test)]
    pub fn with_header(name: &str, header: &str) -> Program {
        let header = Header::parse(header).expect("a header");
        Program { name: name.into(), header, folder: PathBuf::new(), main: PathBuf::new(), sources: String::new() }
    }

    /// The same program with another flag for ghc.
    pub fn with_flag(&self, flag: &str) -> Program {
        let mut program = self.clone();
        program.header.ghc.push(flag.to_owned());
        program
    }

    fn load(name: String, folder: &Path, main: PathBuf, owns_folder: bool) -> Result<Program> {
        let text = fs::read_to_string(&main).map_err(|e| Fail::io("read", &main, e))?;
        let header = Header::parse(&text).map_err(|why| Fail::new(format!("{}: {why}", main.display())))?;
        let mut files = vec![main.clone()];
        if owns_folder {
            files.extend(
                fs::read_dir(folder)
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|e| e.path())
                    .filter(|p| p.is_file() && *p != main),
            );
            files.sort();
        } else {
            files.extend(header.c.iter().map(|c| folder.join(c)));
        }
        let mut contents = Vec::new();
        for file in files {
            contents.push(fs::read(&file).map_err(|e| Fail::io("read", &file, e))?);
        }
        Ok(Program { name, header, folder: folder.to_path_buf(), main, sources: hash(contents) })
    }
}

impl<'a> Maker<'a> {
    /// Makes programs in `dir`, after bringing the runtime up to date.
    pub fn new(project: &'a Project, dir: PathBuf) -> Result<Maker<'a>> {
        let lib = build::ensure_built(project)?;
        Maker::with_library(project, dir, lib)
    }

    /// Makes programs in `dir` that link with the runtime in `lib`.
    pub fn with_library(project: &'a Project, dir: PathBuf, lib: PathBuf) -> Result<Maker<'a>> {
        let identity = build::identity(&lib);
        let ghc = Ghc::find(project)?;
        ghc.check_version()?;
        Ok(Maker { project, ghc, lib, identity, dir })
    }

    /// The folder of the runtime's libraries.
    pub fn library(&self) -> &Path {
        &self.lib
    }

    /// The folder for everything made of `program`.
    pub fn folder(&self, program: &Program) -> PathBuf {
        self.dir.join(&program.name)
    }

    /// What ghc compiled of `program`.
    pub fn objects(&self, program: &Program) -> PathBuf {
        self.folder(program).join("objects")
    }

    pub fn executable(&self, program: &Program, runtime: Runtime) -> PathBuf {
        self.folder(program).join(runtime.name()).join(&program.name)
    }

    /// What `program` linked with `runtime` depends on.
    pub fn key(&self, program: &Program, runtime: Runtime) -> String {
        let runtime = if runtime == Runtime::Stock { "stock" } else { &self.identity };
        let rtsopts = program.header.rtsopts.as_deref().unwrap_or("all");
        hash([runtime, &program.sources, &program.header.ghc.join(" "), rtsopts, &self.ghc.path.to_string_lossy()])
    }

    /// Compiles `program` if that has not been done, and links it with `runtime`. The error is what ghc said.
    pub fn make(&self, program: &Program, runtime: Runtime) -> std::result::Result<PathBuf, String> {
        let executable = self.executable(program, runtime);
        let folder = self.folder(program).join(runtime.name());
        let key = self.key(program, runtime);
        if fs::read_to_string(folder.join("key")).is_ok_and(|k| k == key) && executable.exists() {
            return Ok(executable);
        }
        let flags = &program.header.ghc;
        let mut command = match runtime {
            Runtime::Stock => Command::new(&self.ghc.path),
            Runtime::Hecaton => commands::ghc::linking(self.project, &self.lib, flags).map_err(|e| e.to_string())?,
        };
        let objects = self.objects(program);
        for dir in [&objects, &folder] {
            fs::create_dir_all(dir).map_err(|e| Fail::io("create", dir, e).to_string())?;
        }
        let rtsopts = match program.header.rtsopts.as_deref() {
            None => "-rtsopts".to_owned(),
            Some(policy) => format!("-rtsopts={policy}"),
        };
        command.arg("--make").arg("-v0").args(flags).arg(rtsopts).arg(format!("-i{}", program.folder.display()));
        command.arg("-outputdir").arg(&objects).arg("-o").arg(&executable).arg(&program.main);
        // By their names alone: what comes of a path goes beside it, where other programs' builds may write the same file at the same time.
        command.args(&program.header.c).current_dir(&program.folder);
        let out = command.output().map_err(|e| format!("cannot run {}: {}", self.ghc.path.display(), reason(&e)))?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned());
        }
        fs::write(folder.join("key"), key).map_err(|e| Fail::io("write", &folder, e).to_string())?;
        Ok(executable)
    }
}
