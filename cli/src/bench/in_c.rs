//! Programs in C, with which others are compared.
use crate::build::tool;
use crate::error::Result;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Compiles `source` in C to `executable` unless that has been done since it was written.
pub fn compiled(source: &Path, executable: PathBuf) -> Result<PathBuf> {
    let written = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    if written(&executable) < written(source) {
        let what = format!("compiling {}", source.display());
        tool(&what, Command::new("gcc").args(["-O2", "-o"]).args([executable.as_path(), source]))?;
    }
    Ok(executable)
}
