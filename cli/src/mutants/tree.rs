//! The copy of the project that mutants live in: build/mutants/tree, with a build folder and a target folder of its
//! own, which stay from one run to the next. Only files whose contents differ are written, so that cargo compiles again
//! what a mutant has changed, and nothing else.
use super::patch::{git_apply, Patch};
use crate::error::{reason, Fail, Result};
use crate::project::Project;
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What a copy needs.
const PARTS: [&str; 9] =
    ["Cargo.toml", "Cargo.lock", "hecaton", "cli", "rts", "cmm", "scripts", "tests/conformance", "bin"];

pub struct Tree {
    original: PathBuf,
    pub project: Project,
}

impl Tree {
    pub fn new(project: &Project) -> Result<Tree> {
        let root = project.build_dir().join("mutants/tree");
        fs::create_dir_all(&root).map_err(|e| Fail::io("create", &root, e))?;
        Ok(Tree { original: project.root.clone(), project: Project { root } })
    }

    pub fn apply(&self, patch: &Patch) -> Result<()> {
        git_apply(&self.project.root, &patch.path, false)
            .map_err(|said| Fail::new(format!("tests/mutants/{}.patch does not apply: {said}", patch.name)))
    }

    /// Makes the copy like the original.
    pub fn restore(&self) -> Result<()> {
        let files = self.files()?;
        for file in &files {
            let (from, to) = (self.original.join(file), self.project.root.join(file));
            // (One that is in the index and not in the folder has been removed.)
            let Ok(wanted) = fs::read(&from) else { continue };
            if fs::read(&to).is_ok_and(|found| found == wanted) {
                continue;
            }
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).map_err(|e| Fail::io("create", folder, e))?;
            }
            // With its permissions.
            fs::copy(&from, &to).map_err(|e| Fail::io("copy", &from, e))?;
            let now = std::time::SystemTime::now();
            fs::File::options()
                .append(true)
                .open(&to)
                .and_then(|f| f.set_modified(now))
                .map_err(|e| Fail::io("touch", &to, e))?;
        }
        for part in PARTS {
            self.remove_others(Path::new(part), &files)?;
        }
        Ok(())
    }

    /// The project's own files, whether they have been committed or not, relative to its root.
    fn files(&self) -> Result<HashSet<PathBuf>> {
        let out = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"])
            .args(PARTS)
            .current_dir(&self.original)
            .output()
            .map_err(|e| Fail::new(format!("cannot run git: {}", reason(&e))))?;
        if !out.status.success() {
            return Err(Fail::new(format!(
                "git does not list the project's files: {}",
                String::from_utf8_lossy(&out.stderr).trim_end()
            )));
        }
        let text = String::from_utf8_lossy(&out.stdout);
        Ok(text.split('\0').filter(|f| !f.is_empty() && self.original.join(f).is_file()).map(PathBuf::from).collect())
    }

    /// Removes files below `part` of the copy that the original does not have.
    fn remove_others(&self, part: &Path, files: &HashSet<PathBuf>) -> Result<()> {
        let path = self.project.root.join(part);
        if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(|e| Fail::io("read", &path, e))?.flatten() {
                self.remove_others(&part.join(entry.file_name()), files)?;
            }
        } else if path.exists() && !files.contains(part) {
            fs::remove_file(&path).map_err(|e| Fail::io("remove", &path, e))?;
        }
        Ok(())
    }
}
