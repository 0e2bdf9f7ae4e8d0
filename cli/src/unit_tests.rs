//! The crates' own tests: unit tests, which take seconds, models of the lock-free protocols, which loom takes minutes
//! for, and the simulation of the protocols between processes, which counts as a model.
//!
//! Tests of one crate share a process. A broken invariant of the runtime ends that, and so may a panic in a model: then
//! each test of that crate is run again in a process of its own, so that one failure does not hide the others.
use crate::error::{reason, Fail, Result};
use crate::process;
use crate::process::End;
use crate::project::{cargo, Project};
use crate::test_report::{Report, Tally};
use crate::thread_pool::in_parallel;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// The time limit, for tests that hang.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Unit,
    Model,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unit => "unit",
            Kind::Model => "model",
        }
    }

    /// Where the sources of such tests are.
    fn sources(self) -> &'static [&'static str] {
        match self {
            Kind::Unit => &["rts/src", "cli/src"],
            Kind::Model => &["rts/tests"],
        }
    }

    /// What cargo calls those of all crates.
    pub fn targets(self) -> &'static [&'static str] {
        match self {
            Kind::Unit => &["--workspace", "--lib", "--bins"],
            Kind::Model => {
                &["--package", "hecaton-rts", "--test", "models", "--test", "evaluation", "--test", "simulation"]
            }
        }
    }
}

/// Which tests of a kind: all, those whose paths contain a text, or those whose functions have a name.
#[derive(Debug, PartialEq)]
pub enum Choice {
    All,
    Containing(String),
    Called(String),
}

/// What the names on the command line choose: `unit` and `model` all of a kind, `unit:TEXT` and `model:TEXT` some, and
/// the name of a test itself.
pub fn chosen(project: &Project, kind: Kind, names: &[String]) -> Result<Vec<Choice>> {
    let mut choices = Vec::new();
    for name in names {
        let rest = name.strip_prefix(kind.name());
        match rest {
            Some("" | "s") => return Ok(vec![Choice::All]),
            Some(text) if text.starts_with(':') => choices.push(Choice::Containing(text[1..].to_owned())),
            _ if is_test(&project.root, kind, name)? => choices.push(Choice::Called(name.clone())),
            _ => {}
        }
    }
    Ok(choices)
}

/// Is there a test with a function of this name? (The sources say it: to ask the tests, they would have to be
/// compiled.)
pub fn is_test(root: &Path, kind: Kind, name: &str) -> Result<bool> {
    let function = format!("fn {name}()");
    let mut folders: Vec<PathBuf> = kind.sources().iter().map(|s| root.join(s)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|e| Fail::io("read", &folder, e))?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).map_err(|e| Fail::io("read", &path, e))?;
                if text.split("#[test]").skip(1).any(|test| test.lines().nth(1).is_some_and(|l| l.contains(&function)))
                {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// A compiled crate of tests.
pub struct Tests {
    executable: PathBuf,
    /// The crate's folder.
    folder: PathBuf,
}

/// Compiles the tests of some targets; the error is what cargo said.
pub fn compile(project: &Project, targets: &[&str], profile: &str) -> Result<std::result::Result<Vec<Tests>, String>> {
    let mut command = Command::new(cargo()?);
    command
        .args(["test", "--quiet", "--no-run", "--message-format=json-render-diagnostics", "--profile", profile])
        .args(targets);
    let out = command
        .arg("--target-dir")
        .arg(project.root.join("target"))
        .current_dir(&project.root)
        .output()
        .map_err(|e| Fail::new(format!("cannot run cargo: {}", reason(&e))))?;
    if !out.status.success() {
        return Ok(Err(String::from_utf8_lossy(&out.stderr).into_owned()));
    }
    Ok(Ok(String::from_utf8_lossy(&out.stdout).lines().filter_map(tests_in).collect()))
}

/// Reads one of cargo's messages.
fn tests_in(message: &str) -> Option<Tests> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let executable = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    message["profile"]["test"].as_bool()?.then_some(Tests { executable, folder })
}

/// How a process of tests ended.
pub struct Ran {
    pub tally: Tally,
    /// False if it ended before its time.
    pub to_the_end: bool,
    pub said: String,
}

impl Ran {
    pub fn failed(&self) -> bool {
        !self.to_the_end || self.tally.failed > 0
    }
}

impl Tests {
    /// Runs these with more arguments; outputs go through files in `work`.
    pub fn run(&self, arguments: &[String], limit: Duration, work: &Path) -> Result<Ran> {
        fs::create_dir_all(work).map_err(|e| Fail::io("create", work, e))?;
        let mut command = Command::new(&self.executable);
        command.args(arguments).current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        let outcome = process::run(command, b"", limit, work)?;
        let said = String::from_utf8_lossy(&[outcome.stdout, outcome.stderr].concat()).into_owned();
        let counts = said.lines().find_map(counts);
        let to_the_end = counts.is_some() && matches!(outcome.end, End::Exit(_));
        let said = if to_the_end { said } else { format!("{said}\n{}", outcome.end.describe()) };
        Ok(Ran { tally: counts.unwrap_or_default(), to_the_end, said })
    }

    /// The paths of all tests.
    pub fn list(&self) -> Result<Vec<String>> {
        let out = Command::new(&self.executable)
            .args(["--list", "--format", "terse"])
            .current_dir(&self.folder)
            .output()
            .map_err(|e| Fail::new(format!("cannot run {}: {}", self.executable.display(), reason(&e))))?;
        Ok(String::from_utf8_lossy(&out.stdout)
            .lines()
            .filter_map(|l| l.strip_suffix(": test"))
            .map(str::to_owned)
            .collect())
    }
}

/// Runs the chosen tests of a kind.
pub fn run(project: &Project, kind: Kind, choices: &[Choice], report: &Report) -> Result<Tally> {
    let title = format!("{} tests", kind.name());
    let all = match compile(project, kind.targets(), "release")? {
        Ok(all) => all,
        Err(said) => return Ok(report.fail(&title, "cannot be compiled", &said)),
    };
    let work = project.build_dir().join("tests").join(kind.name());
    let mut tally = Tally::default();
    let mut passed = 0;
    for (n, tests) in all.iter().enumerate() {
        let mut selected = Vec::new();
        if !choices.contains(&Choice::All) {
            selected = tests.list()?.into_iter().filter(|path| choices.iter().any(|c| c.takes(path))).collect();
            if selected.is_empty() {
                continue;
            }
        }
        let arguments: Vec<String> =
            if selected.is_empty() { vec![] } else { [vec!["--exact".to_owned()], selected.clone()].concat() };
        let ran = tests.run(&arguments, TIME_LIMIT, &work.join(n.to_string()))?;
        if ran.to_the_end {
            passed += ran.tally.passed;
            tally += ran.tally;
            if ran.tally.failed > 0 {
                report.fail(&title, "failed", &ran.said);
            }
            continue;
        }
        let paths = if selected.is_empty() { tests.list()? } else { selected };
        let numbered: Vec<_> = paths.into_iter().enumerate().collect();
        let each = in_parallel(&numbered, |(m, path)| {
            let ran = tests.run(&["--exact".to_owned(), path.clone()], TIME_LIMIT, &work.join(format!("{n}.{m}")))?;
            Ok(if ran.failed() {
                report.fail(&format!("{}:{path}", kind.name()), "failed by itself", &ran.said)
            } else {
                ran.tally
            })
        })?;
        let sum: Tally = each.into_iter().sum();
        passed += sum.passed;
        tally += sum;
        if sum.failed == 0 {
            tally += report.fail(&title, "failed together, but not each by itself", &ran.said);
        }
    }
    if tally.failed == 0 && tally != Tally::default() {
        report.pass(&title, &format!("{passed} passed"));
    }
    Ok(tally)
}

impl Choice {
    fn takes(&self, path: &str) -> bool {
        match self {
            Choice::All => true,
            Choice::Containing(text) => path.contains(text.as_str()),
            Choice::Called(name) => path == name || path.ends_with(&format!("::{name}")),
        }
    }
}

/// Reads `test result: ok. 12 passed; 0 failed; 1 ignored; …`.
fn counts(line: &str) -> Option<Tally> {
    let counts = line.strip_prefix("test result: ")?;
    let count = |word: &str| {
        let before = counts.split(word).next().filter(|b| b.len() < counts.len())?;
        before.trim_end().rsplit(' ').next()?.parse().ok()
    };
    Some(Tally { passed: count("passed")?, failed: count("failed")?, skipped: count("ignored")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Project {
        Project { root: Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a project").to_path_buf() }
    }

    #[test]
    fn cargo_is_understood() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(counts(line), Some(Tally { passed: 12, failed: 3, skipped: 1 }));
        assert_eq!(counts("running 3 tests"), None);
        let tests =
            tests_in(r#"{"executable": "/t/a-1", "manifest_path": "/p/rts/Cargo.toml", "profile": {"test": true}}"#)
                .unwrap();
        assert_eq!((tests.executable, tests.folder), ("/t/a-1".into(), "/p/rts".into()));
        assert!(tests_in(r#"{"executable": null, "manifest_path": "/p/rts/Cargo.toml", "profile": {"test": true}}"#)
            .is_none());
    }

    #[test]
    fn names_choose_all_some_or_one() {
        let chosen = |kind, name: &str| chosen(&here(), kind, &[name.to_owned()]).unwrap();
        assert_eq!(chosen(Kind::Unit, "unit"), [Choice::All]);
        assert_eq!(chosen(Kind::Model, "unit"), []);
        assert_eq!(chosen(Kind::Model, "models"), [Choice::All]);
        assert_eq!(chosen(Kind::Unit, "unit:mvar"), [Choice::Containing("mvar".to_owned())]);
        assert_eq!(
            chosen(Kind::Unit, "names_choose_all_some_or_one"),
            [Choice::Called("names_choose_all_some_or_one".to_owned())]
        );
        assert_eq!(chosen(Kind::Unit, "names_choose"), []);
        assert_eq!(chosen(Kind::Model, "two_waiters_share_a_queue").len(), 1);
        assert!(Choice::Called("a_b".to_owned()).takes("x::a_b") && !Choice::Called("a_b".to_owned()).takes("x::aa_b"));
    }

    #[test]
    fn a_process_that_ends_early_has_failed() {
        let work = here().build_dir().join("tests/unit-of-unit");
        let tests = |script: &str| {
            let (executable, folder) = (PathBuf::from("/bin/sh"), PathBuf::from("/"));
            Tests { executable, folder }.run(&["-c".to_owned(), script.to_owned()], TIME_LIMIT, &work).unwrap()
        };
        assert!(tests("kill -ABRT $$").failed());
        assert!(tests("exit 0").failed());
        assert!(!tests("echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured'").failed());
        assert!(tests("echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured'; exit 101").failed());
    }
}
