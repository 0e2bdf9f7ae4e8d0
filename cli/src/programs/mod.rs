//! Test and benchmark programs: finding them, compiling each once, and linking it with both runtimes.
//!
//! A program is a file `NAME.hs`, in the suite's folder or in one below it; names are unique within a suite. A file
//! whose name begins with a capital is a module. A program imports modules from its own folder and from the suite's
//! folder `common`.
//!
//! Everything made of a program is in a folder of its own:
//!     objects/         what ghc compiled, used by both links
//!     stock/NAME       linked with GHC's runtime
//!     hecaton/NAME     linked with this one, under the same name, since programs print theirs
//!     stock/key, hecaton/key      what they were made from; a program whose key still holds is not made again
mod header;

pub use header::{Aimed, Header};

use crate::build::{self, hash, package};
use crate::commands;
use crate::error::{reason, Fail, Result};
use crate::ghc::Ghc;
use crate::project::Project;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[derive(Clone)]
pub struct Program {
    pub name: String,
    pub header: Header,
    main: PathBuf,
    /// Where its modules and C sources are: its own folder first.
    folders: Vec<PathBuf>,
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

/// The programs in `suite` and in the folders below it, in the order of their names. With filters, only those whose
/// paths contain one.
pub fn find(suite: &Path, filters: &[String]) -> Result<Vec<Program>> {
    load(suite, paths(suite)?, filters)
}

/// As [`find`], without the folders below `suite`.
pub fn find_directly_in(suite: &Path, filters: &[String]) -> Result<Vec<Program>> {
    let mut paths = paths(suite)?;
    paths.retain(|path| !path.contains('/'));
    load(suite, paths, filters)
}

fn load(suite: &Path, paths: Vec<String>, filters: &[String]) -> Result<Vec<Program>> {
    let mut found = Vec::new();
    for path in paths {
        if filters.is_empty() || filters.iter().any(|f| path.contains(f.as_str())) {
            found.push(Program::load(suite, path)?);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The paths of all programs within `suite`, without extensions: `ffi/ffi_basics`. Two of one name are an error.
pub fn paths(suite: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    collect(suite, "", &mut found)?;
    found.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    match found.windows(2).find(|two| name_of(&two[0]) == name_of(&two[1])) {
        Some(two) => Err(Fail::new(format!("{}: {} and {} have the same name", suite.display(), two[0], two[1]))),
        None => Ok(found),
    }
}

fn collect(suite: &Path, below: &str, found: &mut Vec<String>) -> Result<()> {
    let folder = suite.join(below);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Fail::io("read", &folder, e)),
    };
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            collect(suite, &format!("{below}{file}/"), found)?;
        } else if let Some(name) = file.strip_suffix(".hs").filter(|n| !n.starts_with(char::is_uppercase)) {
            found.push(format!("{below}{name}"));
        }
    }
    Ok(())
}

/// The name of the program with this path.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The names of the modules that a source imports.
fn imports(source: &str) -> impl Iterator<Item = &str> {
    let after = source.lines().filter_map(|l| l.strip_prefix("import "));
    after.filter_map(|l| l.split_whitespace().find(|w| w.starts_with(char::is_uppercase)))
}

impl Program {
    /// A program without sources, for tests of what its header decides.
    #[cfg(test)]
    pub fn with_header(name: &str, header: &str) -> Program {
        let header = Header::parse(header).expect("a header");
        let (main, sources) = (PathBuf::new(), String::new());
        Program { name: name.into(), header, main, folders: Vec::new(), sources }
    }

    /// The same program with another flag for ghc.
    pub fn with_flag(&self, flag: &str) -> Program {
        let mut program = self.clone();
        program.header.ghc.push(flag.to_owned());
        program
    }

    /// Is it linked with `-threaded`?
    pub fn is_threaded(&self) -> bool {
        self.header.ghc.iter().any(|flag| flag == "-threaded")
    }

    /// The same program, linked with the package of `library/` as well.
    pub fn with_package(&self) -> Program {
        if self.uses_package() {
            return self.clone();
        }
        let mut program = self.with_flag("-package").with_flag(package::NAME);
        program.header.needs.push(package::NAME.to_owned());
        program
    }

    /// Is it about events, or does it use the network?
    pub fn waits_for_descriptors(&self) -> bool {
        let network = ["network", "warp"];
        self.is_in(&["events"]) || self.header.needs.iter().any(|p| network.contains(&p.as_str()))
    }

    /// Is it about threads?
    pub fn is_about_threads(&self) -> bool {
        self.is_in(&["async", "concurrency", "events", "exceptions", "mvar", "signals", "smp", "stm", "weak"])
    }

    /// Is it about values, memory, threads or exceptions, so that several processing elements (PEs) must not change
    /// what it does? The others are about the process: its descriptors, children, signals and reports.
    pub fn may_be_spread(&self) -> bool {
        let folders = [
            "arith",
            "arrays",
            "async",
            "codegen",
            "compact",
            "concurrency",
            "eval",
            "exceptions",
            "gc",
            "library",
            "memory",
            "mvar",
            "schedulers",
            "smp",
            "stable",
            "stacks",
            "stm",
            "weak",
        ];
        self.is_in(&folders) && !self.header.ghc.iter().any(|flag| flag == "-dynamic")
    }

    /// Is it directly in a folder of one of these names?
    fn is_in(&self, folders: &[&str]) -> bool {
        let folder = self.main.parent().and_then(Path::file_name);
        folder.is_some_and(|f| folders.iter().any(|name| f == *name))
    }

    /// Does it use the package of `library/`?
    fn uses_package(&self) -> bool {
        self.header.needs.iter().any(|package| package == package::NAME)
    }

    fn load(suite: &Path, path: String) -> Result<Program> {
        let main = suite.join(format!("{path}.hs"));
        let text = fs::read_to_string(&main).map_err(|e| Fail::io("read", &main, e))?;
        let header = Header::parse(&text).map_err(|why| Fail::new(format!("{}: {why}", main.display())))?;
        let folder = main.parent().unwrap_or(suite).to_path_buf();
        let mut contents = Vec::new();
        for file in header.c.iter().map(|c| folder.join(c)) {
            contents.push(fs::read(&file).map_err(|e| Fail::io("read", &file, e))?);
        }
        let folders = vec![folder, suite.join("common")];
        let mut sources = vec![text];
        let mut modules: Vec<PathBuf> = Vec::new();
        while let Some(source) = sources.pop() {
            for name in imports(&source) {
                let file = format!("{}.hs", name.replace('.', "/"));
                let module = folders.iter().map(|f| f.join(&file)).find(|m| m.is_file() && !modules.contains(m));
                if let Some(module) = module {
                    sources.push(fs::read_to_string(&module).map_err(|e| Fail::io("read", &module, e))?);
                    modules.push(module);
                }
            }
            contents.push(source.into_bytes());
        }
        Ok(Program { name: name_of(&path).to_owned(), header, main, folders, sources: hash(contents) })
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
        let flags = program.header.ghc.join(" ");
        let package = if program.uses_package() { package::identity(self.project) } else { String::new() };
        hash([runtime, &program.sources, &flags, rtsopts, &self.ghc.path.to_string_lossy(), &package])
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
        if let Some(database) = package::database(self.project).filter(|_| program.uses_package()) {
            command.arg("-package-db").arg(database);
        }
        command.arg("--make").arg("-v0").args(flags).arg(rtsopts);
        command.args(program.folders.iter().map(|f| format!("-i{}", f.display())));
        command.arg("-outputdir").arg(&objects).arg("-o").arg(&executable).arg(&program.main);
        // By their names alone: what comes of a path goes beside it, where other programs' builds may write the same
        // file at the same time.
        command.args(&program.header.c).current_dir(&program.folders[0]);
        let out = command.output().map_err(|e| format!("cannot run {}: {}", self.ghc.path.display(), reason(&e)))?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned());
        }
        fs::write(folder.join("key"), key).map_err(|e| Fail::io("write", &folder, e).to_string())?;
        Ok(executable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a project");
        let suite = root.join("build/tests/unit-of-programs").join(name);
        let _ = fs::remove_dir_all(&suite);
        for (file, text) in files {
            let path = suite.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).unwrap();
            fs::write(path, text).unwrap();
        }
        suite
    }

    #[test]
    fn programs_are_found_in_folders_by_parts_of_their_paths() {
        let hs = "main = pure ()\n";
        let suite = suite("folders", &[("ffi/b.hs", hs), ("ffi/Helper.hs", hs), ("gc/a_ffi.hs", hs), ("gc/c.hs", hs)]);
        let found = |filter: &[&str]| {
            let filters: Vec<String> = filter.iter().map(|f| (*f).to_owned()).collect();
            let all = find(&suite, &filters).unwrap();
            all.into_iter().map(|p| p.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found(&[]), "a_ffi b c");
        assert_eq!(found(&["ffi"]), "a_ffi b");
        assert_eq!(found(&["ffi/", "c"]), "a_ffi b c");
        fs::write(suite.join("top.hs"), hs).unwrap();
        let directly: Vec<String> = find_directly_in(&suite, &[]).unwrap().into_iter().map(|p| p.name).collect();
        assert_eq!(directly, ["top"]);
    }

    #[test]
    fn programs_about_their_process_are_not_spread() {
        let dynamic = "-- ghc: -threaded -dynamic\nmain = pure ()\n";
        let suite = suite("spread", &[("eval/a.hs", ""), ("process/b.hs", ""), ("library/c.hs", dynamic)]);
        let mut all = find(&suite, &[]).unwrap();
        all.retain(Program::may_be_spread);
        assert_eq!(all.into_iter().map(|p| p.name).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn names_are_unique() {
        let suite = suite("unique", &[("ffi/b.hs", ""), ("gc/b.hs", "")]);
        assert!(paths(&suite).expect_err("two of one name").to_string().contains("have the same name"));
    }

    #[test]
    fn a_program_is_made_again_if_a_module_that_it_imports_changes() {
        let main = "import qualified Near\nmain = pure ()\n";
        let files = [("a/p.hs", main), ("a/Near.hs", "import Far (x)\n"), ("common/Far.hs", ""), ("b/Near.hs", "")];
        let suite = suite("modules", &files);
        let sources = || find(&suite, &[]).unwrap().remove(0).sources;
        let before = sources();
        fs::write(suite.join("b/Near.hs"), "x = 1\n").unwrap();
        assert_eq!(sources(), before);
        fs::write(suite.join("common/Far.hs"), "x = 1\n").unwrap();
        assert_ne!(sources(), before);
    }
}
