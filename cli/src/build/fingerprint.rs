//! Fingerprints, which tell whether outputs are up to date with their sources.
//!
//! The fingerprint of the whole build covers path, size and modification time of each source, which is cheap enough for
//! every command. The fingerprint of an object covers the contents of its sources.
use crate::error::{Fail, Result};
use crate::ghc::Ghc;
use crate::project::Project;
use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

/// A 64-bit FNV-1a hash of the parts and of where each ends, in hexadecimal.
pub fn hash<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut h: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |byte: u8| h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    for part in parts {
        let part = part.as_ref();
        part.iter().copied().for_each(&mut eat);
        part.len().to_le_bytes().into_iter().for_each(&mut eat);
    }
    format!("{h:016x}")
}

/// The fingerprint of all sources of the libraries, and of the command that builds them.
pub fn of_sources(project: &Project, ghc: &Ghc) -> Result<String> {
    of(project, ghc, &["Cargo.toml", "Cargo.lock"], &["rts", "cmm", "cli/src/build"])
}

/// The fingerprint of the Haskell package's sources, and of the command that builds it.
pub fn of_package(project: &Project, ghc: &Ghc) -> Result<String> {
    of(project, ghc, &["library/hecaton.cabal"], &["library/src", "library/include", "cli/src/build"])
}

/// The fingerprint of ghc, of these files and of all files in these folders.
fn of(project: &Project, ghc: &Ghc, tops: &[&str], folders: &[&str]) -> Result<String> {
    let mut files = vec![ghc.path.clone()];
    files.extend(tops.iter().map(|top| project.root.join(top)));
    for folder in folders {
        files_under(&project.root.join(folder), &mut files)?;
    }
    files.sort();
    let mut parts = Vec::new();
    for file in files {
        let stat = match fs::metadata(&file) {
            Ok(stat) => stat,
            Err(_) => continue,
        };
        parts.push(file.as_os_str().as_bytes().to_vec());
        parts.push(format!("{} {} {}", stat.size(), stat.mtime(), stat.mtime_nsec()).into_bytes());
    }
    Ok(hash(parts))
}

/// Adds all regular files below `dir` (none if it does not exist).
pub fn files_under(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Fail::io("read", dir, e)),
    };
    for entry in entries {
        let entry = entry.map_err(|e| Fail::io("read", dir, e))?;
        let kind = entry.file_type().map_err(|e| Fail::io("read", &entry.path(), e))?;
        if kind.is_dir() {
            files_under(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_depends_on_where_parts_end() {
        assert_ne!(hash(["ab", "c"]), hash(["a", "bc"]));
        assert_eq!(hash(["ab", "c"]), hash(["ab", "c"]));
    }
}
