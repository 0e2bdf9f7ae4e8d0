//! A mutant: a file of tests/mutants, which is a unified diff with a head.
//!
//! ```text
//! A put to an MVar wakes no reader.            what the bug is, in a sentence
//! Killed by: unit readers_are_all_woken        a test that should find it
//! Survives: …                                  instead, why none does
//!
//! --- a/rts/src/sync/mvar.rs
//! ```
//!
//! A killer is `unit NAME`, `model NAME` (the functions of tests) or `conformance PROGRAM KIND`.
use crate::error::{reason, Fail, Result};
use crate::unit_tests::Kind;
use crate::{conformance, programs, unit_tests};
use std::{
    ffi::OsStr,
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

#[derive(Debug)]
pub struct Patch {
    pub name: String,
    pub path: PathBuf,
    pub bug: String,
    pub killers: Vec<Killer>,
    pub survives: Option<String>,
    /// Does it change Rust?
    pub is_rust: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Killer {
    Test(Kind, String),
    Program { name: String, kind: &'static str },
}

impl fmt::Display for Killer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Killer::Test(kind, name) => write!(f, "{} {name}", kind.name()),
            Killer::Program { name, kind } => write!(f, "conformance {name} {kind}"),
        }
    }
}

/// All mutants of the project, in the order of their names. One that does not apply, or whose head is wrong, is an
/// error.
pub fn all(root: &Path) -> Result<Vec<Patch>> {
    let folder = root.join("tests/mutants");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).map_err(|e| Fail::io("read", &folder, e))?.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.extension() == Some(OsStr::new("patch")));
    paths.sort();
    paths.into_iter().map(|path| Patch::read(root, path)).collect()
}

impl Patch {
    fn read(root: &Path, path: PathBuf) -> Result<Patch> {
        let text = fs::read_to_string(&path).map_err(|e| Fail::io("read", &path, e))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let wrong = |why: String| Fail::new(format!("tests/mutants/{name}.patch: {why}"));
        let (bug, killers, survives) = head(root, &text).map_err(wrong)?;
        let wrong = |why: String| Fail::new(format!("tests/mutants/{name}.patch: {why}"));
        git_apply(root, &path, true).map_err(|said| wrong(format!("it does not apply any more: {said}")))?;
        let is_rust = text.lines().filter_map(|l| l.strip_prefix("+++ b/")).any(|file| file.ends_with(".rs"));
        Ok(Patch { name, path, bug, killers, survives, is_rust })
    }

    /// The order in which mutants are tried: what its first killer costs.
    pub fn cost(&self) -> u8 {
        match self.killers.first() {
            Some(Killer::Test(Kind::Unit, _)) => 0,
            Some(Killer::Test(Kind::Model, _)) => 1,
            Some(Killer::Program { .. }) => 2,
            None => 3,
        }
    }
}

/// Applies a patch to the tree in `root`, or only says whether that can be done.
pub fn git_apply(root: &Path, patch: &Path, check: bool) -> std::result::Result<(), String> {
    // Within a repository, git would take paths for those of the repository.
    let mut command = Command::new("git");
    command.args(["apply", "--whitespace=nowarn"]).args(check.then_some("--check")).arg(patch).current_dir(root);
    command.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root)).env_remove("GIT_DIR");
    let out = command.output().map_err(|e| format!("cannot run git: {}", reason(&e)))?;
    match out.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&out.stderr).trim_end().replace('\n', "; ")),
    }
}

/// The bug, its killers, and why it survives.
#[allow(clippy::type_complexity)]
fn head(root: &Path, text: &str) -> std::result::Result<(String, Vec<Killer>, Option<String>), String> {
    let (mut bug, mut killers, mut survives) = (Vec::new(), Vec::new(), None);
    for line in text.lines().take_while(|l| !l.starts_with("diff ") && !l.starts_with("--- ")) {
        if let Some(killer) = line.strip_prefix("Killed by: ") {
            killers.push(Killer::parse(root, killer)?);
        } else if let Some(reason) = line.strip_prefix("Survives: ") {
            survives = Some(reason.trim().to_owned());
        } else if !line.trim().is_empty() {
            bug.push(line.trim());
        }
    }
    match (bug.is_empty(), killers.is_empty(), &survives) {
        (true, ..) => Err("no sentence says what the bug is".to_owned()),
        (_, true, None) => Err("neither `Killed by: ` nor `Survives: `".to_owned()),
        _ => Ok((bug.join(" "), killers, survives)),
    }
}

impl Killer {
    fn parse(root: &Path, text: &str) -> std::result::Result<Killer, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let test = |kind, name: &str| match unit_tests::is_test(root, kind, name) {
            Ok(true) => Ok(Killer::Test(kind, name.to_owned())),
            Ok(false) => Err(format!("`{text}`: there is no such test")),
            Err(e) => Err(e.to_string()),
        };
        match words[..] {
            ["unit", name] => test(Kind::Unit, name),
            ["model", name] => test(Kind::Model, name),
            ["conformance", name, kind] => {
                let kind =
                    conformance::kind(kind).ok_or_else(|| format!("`{text}`: there is no such kind of run"))?.name;
                let paths = programs::paths(&root.join("tests/conformance")).map_err(|e| e.to_string())?;
                if !paths.iter().any(|path| programs::name_of(path) == name) {
                    return Err(format!("`{text}`: there is no such program"));
                }
                Ok(Killer::Program { name: name.to_owned(), kind })
            }
            _ => Err(format!("`{text}`: expected `unit NAME`, `model NAME` or `conformance PROGRAM KIND`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a project")
    }

    #[test]
    fn all_mutants_apply_and_name_who_kills_them() {
        let all = all(root()).unwrap();
        assert!(all.len() >= 40, "{} mutants", all.len());
        let survivors = all.iter().filter(|p| p.survives.is_some()).count();
        assert!(survivors * 10 <= all.len(), "{survivors} of {} survive", all.len());
    }

    #[test]
    fn heads_are_understood() {
        let head = |text: &str| head(root(), text);
        let (bug, killers, survives) =
            head("It breaks\nthings.\nKilled by: conformance hello plain\n\n--- a/x\n+++ b/x\nSurvives: no\n").unwrap();
        let hello = Killer::Program { name: "hello".to_owned(), kind: "plain" };
        assert_eq!((bug.as_str(), killers, survives), ("It breaks things.", vec![hello], None));
        let (_, killers, survives) = head("It breaks.\nSurvives: nobody looks\ndiff --git a/x b/x\n").unwrap();
        assert_eq!((killers, survives.as_deref()), (vec![], Some("nobody looks")));
        for (text, why) in [
            ("Killed by: conformance hello plain\n", "no sentence"),
            ("It breaks.\n", "neither"),
            ("It breaks.\nKilled by: unit nobody_is_called_this\n", "no such test"),
            ("It breaks.\nKilled by: conformance hello often\n", "no such kind"),
            ("It breaks.\nKilled by: conformance good_bye plain\n", "no such program"),
            ("It breaks.\nKilled by: luck\n", "expected"),
        ] {
            assert!(head(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn a_patch_that_does_not_apply_is_named() {
        let folder = root().join("build/tests/unit-of-mutants/tests/mutants");
        fs::create_dir_all(&folder).unwrap();
        let folder_root = folder.parent().and_then(Path::parent).unwrap();
        for kind in unit_sources() {
            fs::create_dir_all(folder_root.join(kind)).unwrap();
        }
        let text = "It breaks.\nSurvives: it is an example\n--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n";
        fs::write(folder.join("example.patch"), text).unwrap();
        fs::write(folder_root.join("file"), "one\n").unwrap();
        assert_eq!(all_of(folder_root).unwrap(), 1);
        fs::write(folder_root.join("file"), "three\n").unwrap();
        assert!(all_of(folder_root).unwrap_err().to_string().contains("example.patch: it does not apply any more"));
    }

    fn all_of(root: &Path) -> Result<usize> {
        all(root).map(|all| all.len())
    }

    fn unit_sources() -> [&'static str; 3] {
        ["rts/src", "rts/tests", "cli/src"]
    }
}
