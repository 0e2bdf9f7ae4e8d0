//! Finds the project's folders, and programs on PATH.
use crate::error::{reason, Fail, Result};
use std::{
    env,
    path::{Path, PathBuf},
};

/// The checked-out project this command belongs to.
#[derive(Clone)]
pub struct Project {
    pub root: PathBuf,
}

impl Project {
    /// Finds the project from the place of the running binary (`<root>/target/release/hecaton`).
    pub fn locate() -> Result<Project> {
        let exe = env::current_exe()
            .and_then(|p| p.canonicalize())
            .map_err(|e| Fail::new(format!("cannot find my own path: {}", reason(&e))))?;
        exe.ancestors()
            .find(|d| d.join("rts/Cargo.toml").is_file() && d.join("hecaton").is_file())
            .map(|d| Project { root: d.to_path_buf() })
            .ok_or_else(|| Fail::new(format!("no Hecaton project around {}", exe.display())))
    }

    pub fn build_dir(&self) -> PathBuf {
        self.root.join("build")
    }

    /// A folder of libraries to use as it is in place of the built one, named by HECATON_LIB_DIR.
    pub fn lib_dir_override() -> Option<PathBuf> {
        env::var_os("HECATON_LIB_DIR").filter(|d| !d.is_empty()).map(|d| {
            let dir = PathBuf::from(d);
            dir.canonicalize().unwrap_or(dir)
        })
    }
}

/// The executables called `name` on PATH, in its order.
pub fn on_path(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let candidates: Vec<PathBuf> = env::split_paths(&path).map(|d| d.join(name)).filter(|p| is_executable(p)).collect();
    candidates.into_iter()
}

pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().map(|m| m.is_file() && m.permissions().mode() & 0o111 != 0).unwrap_or(false)
}

/// Cargo, on PATH or where rustup puts it.
pub fn cargo() -> Result<PathBuf> {
    let in_home = env::var_os("HOME").map(|h| Path::new(&h).join(".cargo/bin/cargo"));
    on_path("cargo")
        .next()
        .or_else(|| in_home.filter(|p| is_executable(p)))
        .ok_or_else(|| Fail::new("Rust is missing; install it with rustup (https://rustup.rs)"))
}
