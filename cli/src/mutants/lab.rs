//! Tries mutants: compiles what a test needs, runs the test, and reports how it ended.
use super::{
    patch::{Killer, Patch},
    tree::Tree,
};
use crate::conformance::{self, PLAIN};
use crate::error::{Fail, Result};
use crate::programs::{self, Maker, Program};
use crate::project::Project;
use crate::thread_pool::in_parallel;
use crate::unit_tests::{Kind, Tests};
use crate::{build, unit_tests};
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Cargo's profiles for code that is compiled as often as it is run.
const TESTS: &str = "mutants";
const LIBRARY: &str = "mutant-library";
/// Mutants are in the runtime, so the tests of the command need not be compiled.
const UNIT: [&str; 3] = ["--package", "hecaton-rts", "--lib"];
/// A test counts as hanging if it takes this many times longer with a mutant than without, and the time below at least.
const LIMIT_FACTOR: u32 = 10;
const SHORTEST_LIMIT: Duration = Duration::from_secs(30);
/// For all unit tests.
const LIMIT_OF_ALL: Duration = Duration::from_secs(1200);

pub struct Lab<'a> {
    project: &'a Project,
    /// How long each killer takes without a mutant.
    times: HashMap<String, Duration>,
}

pub enum Verdict {
    Killed { by: String, how: String, built: Duration, ran: Duration },
    Survived,
    DoesNotCompile(String),
}

/// What a test says of the tree as it is.
enum Answer {
    Passes,
    Fails(String),
    DoesNotCompile(String),
}

/// An answer, and how long it took to compile and to run.
struct Trial {
    answer: Answer,
    built: Duration,
    ran: Duration,
}

impl Trial {
    fn verdict(self, by: &str) -> Verdict {
        match self.answer {
            Answer::Passes => Verdict::Survived,
            Answer::Fails(how) => Verdict::Killed { by: by.to_owned(), how, built: self.built, ran: self.ran },
            Answer::DoesNotCompile(said) => Verdict::DoesNotCompile(said),
        }
    }
}

/// What has been compiled of the tree as it is; the errors are what the compilers said.
struct Made<'a> {
    project: &'a Project,
    unit: Option<std::result::Result<Vec<Tests>, String>>,
    model: Option<std::result::Result<Vec<Tests>, String>>,
    libraries: HashMap<(&'static str, bool), std::result::Result<PathBuf, String>>,
}

impl<'a> Lab<'a> {
    pub fn new(tree: &'a Tree) -> Lab<'a> {
        Lab { project: &tree.project, times: HashMap::new() }
    }

    /// Without a mutant, every killer passes.
    pub fn verify_killers<'k>(&mut self, killers: impl Iterator<Item = &'k Killer>) -> Result<()> {
        let mut made = Made::new(self.project);
        for killer in killers {
            if self.times.contains_key(&killer.to_string()) {
                continue;
            }
            let trial = self.try_killer(&mut made, killer)?;
            match trial.answer {
                Answer::Passes => self.times.insert(killer.to_string(), trial.ran),
                Answer::Fails(how) => return Err(Fail::new(format!("{killer} fails without a mutant: {how}"))),
                Answer::DoesNotCompile(said) => return Err(Fail::new(format!("{killer} cannot be compiled: {said}"))),
            };
        }
        Ok(())
    }

    /// Does a test kill the mutant that is in the tree?
    pub fn judge_by_killer(&self, killer: &Killer) -> Result<Verdict> {
        let trial = self.try_killer(&mut Made::new(self.project), killer)?;
        Ok(trial.verdict(&killer.to_string()))
    }

    /// Does any test kill the mutant that is in the tree?
    pub fn judge_by_all(&self, patch: &Patch) -> Result<Verdict> {
        let mut made = Made::new(self.project);
        // What only Cmm does is nothing to the unit tests.
        if patch.is_rust {
            match made.try_tests(Kind::Unit, None, LIMIT_OF_ALL)?.verdict("all unit tests") {
                Verdict::Survived => {}
                verdict => return Ok(verdict),
            }
        }
        Ok(made.try_programs()?.verdict("all conformance programs"))
    }

    fn try_killer(&self, made: &mut Made, killer: &Killer) -> Result<Trial> {
        let limit = self.times.get(&killer.to_string()).map(|&time| SHORTEST_LIMIT.max(LIMIT_FACTOR * time));
        match killer {
            Killer::Test(kind, name) => made.try_tests(*kind, Some(name), limit.unwrap_or(LIMIT_OF_ALL)),
            Killer::Program { name, kind } => made.try_program(name, kind, limit),
        }
    }
}

impl<'a> Made<'a> {
    fn new(project: &'a Project) -> Made<'a> {
        Made { project, unit: None, model: None, libraries: HashMap::new() }
    }

    /// Runs the tests of a kind, or the one whose function has this name.
    fn try_tests(&mut self, kind: Kind, name: Option<&str>, limit: Duration) -> Result<Trial> {
        let begin = Instant::now();
        let (made, targets) = match kind {
            Kind::Unit => (&mut self.unit, &UNIT[..]),
            Kind::Model => (&mut self.model, kind.targets()),
        };
        if made.is_none() {
            *made = Some(unit_tests::compile(self.project, targets, TESTS)?);
        }
        let built = begin.elapsed();
        let all = match made.as_ref().expect("they have been compiled") {
            Ok(all) => all,
            Err(said) => {
                return Ok(Trial { answer: Answer::DoesNotCompile(said.clone()), built, ran: Duration::ZERO });
            }
        };
        let begin = Instant::now();
        let work = self.project.build_dir().join("mutant");
        for tests in all {
            let mut arguments = Vec::new();
            if let Some(name) = name {
                let paths: Vec<String> =
                    tests.list()?.into_iter().filter(|p| p == name || p.ends_with(&format!("::{name}"))).collect();
                if paths.is_empty() {
                    continue;
                }
                arguments = [vec!["--exact".to_owned()], paths].concat();
            }
            let ran = tests.run(&arguments, limit, &work)?;
            if ran.failed() {
                return Ok(Trial { answer: Answer::Fails(reason(&ran.said)), built, ran: begin.elapsed() });
            }
        }
        Ok(Trial { answer: Answer::Passes, built, ran: begin.elapsed() })
    }

    /// Makes the library of the way that the program needs, and compares its answer with the stock runtime's.
    fn try_program(&mut self, name: &str, kind: &str, limit: Option<Duration>) -> Result<Trial> {
        let kind = conformance::kind(kind).expect("a kind that the head has named");
        let folder = self.project.root.join("tests/conformance");
        let mut found = programs::find(&folder, &[name.to_owned()])?;
        found.retain(|p| p.name == name);
        let program =
            found.first().ok_or_else(|| Fail::new(format!("no program of tests/conformance is called {name}")))?;
        let program = if kind.is_threaded() { program.with_flag("-threaded") } else { program.clone() };
        let program = if kind.is_under_package() { program.with_package() } else { program };
        let begin = Instant::now();
        let library = self.library(&program)?;
        let built = begin.elapsed();
        let lib = match library {
            Ok(lib) => lib,
            Err(said) => return Ok(Trial { answer: Answer::DoesNotCompile(said), built, ran: Duration::ZERO }),
        };
        let begin = Instant::now();
        let made = if kind.is_threaded() { "tests/hecs" } else { "tests/conformance" };
        let maker = Maker::with_library(self.project, self.project.build_dir().join(made), lib)?;
        let said = conformance::compare(&maker, &program, kind, limit)?;
        let answer = said.map_or(Answer::Passes, |said| Answer::Fails(reason(&said)));
        Ok(Trial { answer, built, ran: begin.elapsed() })
    }

    /// All programs, plainly, until one fails.
    fn try_programs(&mut self) -> Result<Trial> {
        let programs = programs::find(&self.project.root.join("tests/conformance"), &[])?;
        let begin = Instant::now();
        for program in &programs {
            if let Err(said) = self.library(program)? {
                let built = begin.elapsed();
                return Ok(Trial { answer: Answer::DoesNotCompile(said), built, ran: Duration::ZERO });
            }
        }
        let built = begin.elapsed();
        let begin = Instant::now();
        let (over, made) = (AtomicBool::new(false), &*self);
        let answers = in_parallel(&programs, |program| {
            if over.load(Ordering::Relaxed) || !program.header.needs.is_empty() {
                return Ok(None);
            }
            let (way, shared) = build::way_of(&program.header.ghc);
            let lib = made.libraries[&(way.suffix, shared)].clone().expect("a library for each");
            let maker = Maker::with_library(made.project, made.project.build_dir().join("tests/conformance"), lib)?;
            let difference = conformance::compare(&maker, program, &PLAIN, None)?;
            over.fetch_or(difference.is_some(), Ordering::Relaxed);
            Ok(difference.map(|said| format!("{}: {}", program.name, reason(&said))))
        })?;
        let answer = answers.into_iter().flatten().next().map_or(Answer::Passes, Answer::Fails);
        Ok(Trial { answer, built, ran: begin.elapsed() })
    }

    /// The library that a program needs.
    fn library(&mut self, program: &Program) -> Result<std::result::Result<PathBuf, String>> {
        let (way, shared) = build::way_of(&program.header.ghc);
        let key = (way.suffix, shared);
        if !self.libraries.contains_key(&key) {
            let name = format!("lib{}{}", way.suffix, if shared { "-shared" } else { "" });
            let lib = self.project.build_dir().join(name);
            let made = build::one_way(self.project, way, shared, LIBRARY, &lib);
            self.libraries.insert(key, made.map(|()| lib).map_err(|e| e.to_string()));
        }
        Ok(self.libraries[&key].clone())
    }
}

/// The line of a test's output that says most.
fn reason(said: &str) -> String {
    let telling = ["panicked at", "hecaton:", "internal error", "killed by", "over the time limit", "ended with"];
    let lines = || said.lines().map(str::trim).filter(|l| !l.is_empty());
    let line = lines()
        .find(|l| telling.iter().any(|t| l.contains(t)))
        .or_else(|| lines().find(|l| l.starts_with('+') && !l.starts_with("+++")));
    let text: String = line.or_else(|| lines().next()).unwrap_or("it fails").chars().take(120).collect();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_line_is_shown() {
        assert_eq!(
            reason("running 1 test\n\nthread 'a' panicked at b.rs:1:2:\nno\n"),
            "thread 'a' panicked at b.rs:1:2:"
        );
        assert_eq!(reason("--- a\n+++ b\n-1\n+2\n"), "+2");
        assert_eq!(reason(""), "it fails");
    }
}
