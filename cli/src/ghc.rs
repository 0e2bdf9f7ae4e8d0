//! Finds the installed GHC, and checks that its version is the one that this runtime is for.
use crate::error::{reason, Fail, Result};
use crate::project::{is_executable, on_path, Project};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

pub const VERSION: &str = "9.0.2";
/// Where Debian puts its ghc, which may be hidden by another one that comes first on PATH.
const DEBIAN: &str = "/usr/bin/ghc";

pub struct Ghc {
    pub path: PathBuf,
    /// Whether this is what a plain `ghc` on PATH means.
    pub is_default: bool,
}

impl Ghc {
    /// HECATON_GHC if set, otherwise the first `ghc` on PATH that is not this project's own `bin/ghc`.
    pub fn find(project: &Project) -> Result<Ghc> {
        if let Some(named) = env::var_os("HECATON_GHC").filter(|v| !v.is_empty()) {
            let named = PathBuf::from(named);
            let path = if named.components().count() > 1 {
                Some(named.clone())
            } else {
                on_path(&named.to_string_lossy()).next()
            };
            return match path.filter(|p| is_executable(p)) {
                Some(path) => Ok(Ghc { path, is_default: false }),
                None => Err(Fail::new(format!("HECATON_GHC names {}, which is not an executable", named.display()))),
            };
        }
        let own = project.root.join("bin/ghc");
        let is_own = |p: &Path| p.canonicalize().map(|p| p == own).unwrap_or(false);
        let mut all = on_path("ghc").enumerate().filter(|(_, p)| !is_own(p));
        match all.next() {
            Some((n, path)) => Ok(Ghc { path, is_default: n == 0 }),
            None => Err(Fail::new(format!("GHC {VERSION} is missing; run `./hecaton demo`, or `apt-get install ghc`"))),
        }
    }

    pub fn check_version(&self) -> Result<()> {
        let found = self.ask("--numeric-version")?;
        if found == VERSION {
            return Ok(());
        }
        let of_debian = Ghc { path: DEBIAN.into(), is_default: false };
        let advice = match of_debian.ask("--numeric-version") {
            Ok(version) if version == VERSION => format!("HECATON_GHC={DEBIAN}"),
            _ => "HECATON_GHC to a ghc of that version".to_owned(),
        };
        Err(Fail::new(format!(
            "{} is version {found}, but Hecaton is a runtime for GHC {VERSION}; set {advice}",
            self.path.display()
        )))
    }

    pub fn libdir(&self) -> Result<PathBuf> {
        self.ask("--print-libdir").map(PathBuf::from)
    }

    fn ask(&self, question: &str) -> Result<String> {
        let out = Command::new(&self.path)
            .arg(question)
            .output()
            .map_err(|e| Fail::new(format!("cannot run {}: {}", self.path.display(), reason(&e))))?;
        if !out.status.success() {
            let said = String::from_utf8_lossy(&out.stderr);
            return Err(Fail::new(format!(
                "{} {question} failed: {}",
                self.path.display(),
                said.lines().next().unwrap_or("(no message)")
            )));
        }
        Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
    }
}
