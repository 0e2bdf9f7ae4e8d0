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
use crate::unit_tests::Kind;
use crate::{build, unit_tests};
use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Cargo's profile for code that is compiled as often as it is run.
const PROFILE: &str = "mutants";
/// Mutants are in the runtime, so the tests of the command need not be compiled.
const UNIT: [&str; 3] = ["--package", "hecaton-rts", "--lib"];
/// For a test that a mutant has hanging.
const TIME_LIMIT: Duration = Duration::from_secs(300);

pub struct Lab<'a> {
    project: &'a Project,
}

pub enum Verdict {
    Killed {
        by: String,
        how: String,
        built: Duration,
        ran: Duration,
        /// The killers of its head that did not find it.
        not_by: Vec<Killer>,
    },
    Survived {
        not_by: Vec<Killer>,
    },
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

impl<'a> Lab<'a> {
    pub fn new(tree: &'a Tree) -> Lab<'a> {
        Lab { project: &tree.project }
    }

    /// Without a mutant, every killer passes.
    pub fn verify_killers(&self, patches: &[Patch]) -> Result<()> {
        let mut killers: Vec<&Killer> = Vec::new();
        for killer in patches.iter().flat_map(|p| &p.killers) {
            if !killers.contains(&killer) {
                killers.push(killer);
            }
        }
        for killer in killers {
            match self.try_killer(killer)?.answer {
                Answer::Passes => {}
                Answer::Fails(how) => return Err(Fail::new(format!("{killer} fails without a mutant: {how}"))),
                Answer::DoesNotCompile(said) => return Err(Fail::new(format!("{killer} cannot be compiled: {said}"))),
            }
        }
        Ok(())
    }

    /// Finds the first test that kills the mutant in the tree.
    pub fn judge(&self, patch: &Patch) -> Result<Verdict> {
        let (mut built, mut not_by) = (Duration::ZERO, Vec::new());
        for killer in &patch.killers {
            let trial = self.try_killer(killer)?;
            built += trial.built;
            match trial.answer {
                Answer::Passes => not_by.push(killer.clone()),
                Answer::Fails(how) => {
                    return Ok(Verdict::Killed { by: killer.to_string(), how, built, ran: trial.ran, not_by })
                }
                Answer::DoesNotCompile(said) => return Ok(Verdict::DoesNotCompile(said)),
            }
        }
        // What only Cmm does is nothing to the unit tests.
        let unit = patch.is_rust.then_some(());
        for all in unit.map(|()| "all unit tests").into_iter().chain(["all conformance programs"]) {
            let trial = if all == "all unit tests" { self.try_tests(Kind::Unit, None)? } else { self.try_programs()? };
            built += trial.built;
            match trial.answer {
                Answer::Passes => {}
                Answer::Fails(how) => {
                    return Ok(Verdict::Killed { by: all.to_owned(), how, built, ran: trial.ran, not_by })
                }
                Answer::DoesNotCompile(said) => return Ok(Verdict::DoesNotCompile(said)),
            }
        }
        Ok(Verdict::Survived { not_by })
    }

    fn try_killer(&self, killer: &Killer) -> Result<Trial> {
        match killer {
            Killer::Test(kind, name) => self.try_tests(*kind, Some(name)),
            Killer::Program { name, kind } => self.try_program(name, kind),
        }
    }

    /// Runs the tests of a kind, or the one whose function has this name.
    fn try_tests(&self, kind: Kind, name: Option<&str>) -> Result<Trial> {
        let begin = Instant::now();
        let targets = if kind == Kind::Unit { &UNIT[..] } else { kind.targets() };
        let all = match unit_tests::compile(self.project, targets, PROFILE)? {
            Ok(all) => all,
            Err(said) => {
                return Ok(Trial { answer: Answer::DoesNotCompile(said), built: begin.elapsed(), ran: Duration::ZERO })
            }
        };
        let built = begin.elapsed();
        let begin = Instant::now();
        let work = self.project.build_dir().join("mutant");
        for tests in &all {
            let mut arguments = Vec::new();
            if let Some(name) = name {
                let paths: Vec<String> =
                    tests.list()?.into_iter().filter(|p| p == name || p.ends_with(&format!("::{name}"))).collect();
                if paths.is_empty() {
                    continue;
                }
                arguments = [vec!["--exact".to_owned()], paths].concat();
            }
            let ran = tests.run(&arguments, TIME_LIMIT, &work)?;
            if ran.failed() {
                return Ok(Trial { answer: Answer::Fails(reason(&ran.said)), built, ran: begin.elapsed() });
            }
        }
        Ok(Trial { answer: Answer::Passes, built, ran: begin.elapsed() })
    }

    /// Makes the library of the way that the program needs, and compares its answer with the stock runtime's.
    fn try_program(&self, name: &str, kind: &str) -> Result<Trial> {
        let kind = conformance::kind(kind).expect("a kind that the head has named");
        let folder = self.project.root.join("tests/conformance");
        let mut found = programs::find(&folder, &[name.to_owned()])?;
        found.retain(|p| p.name == name);
        let program =
            found.first().ok_or_else(|| Fail::new(format!("no program of tests/conformance is called {name}")))?;
        let program = if kind.is_threaded() { program.with_flag("-threaded") } else { program.clone() };
        let begin = Instant::now();
        let Some(lib) = self.library(&program)? else {
            return Ok(Trial {
                answer: Answer::DoesNotCompile(String::new()),
                built: begin.elapsed(),
                ran: Duration::ZERO,
            });
        };
        let built = begin.elapsed();
        let begin = Instant::now();
        let made = if kind.is_threaded() { "tests/hecs" } else { "tests/conformance" };
        let maker = Maker::with_library(self.project, self.project.build_dir().join(made), lib)?;
        let answer =
            conformance::compare(&maker, &program, kind)?.map_or(Answer::Passes, |said| Answer::Fails(reason(&said)));
        Ok(Trial { answer, built, ran: begin.elapsed() })
    }

    /// All programs, plainly, until one fails.
    fn try_programs(&self) -> Result<Trial> {
        let programs = programs::find(&self.project.root.join("tests/conformance"), &[])?;
        let begin = Instant::now();
        let mut libraries: Vec<(&str, bool, PathBuf)> = Vec::new();
        for program in &programs {
            let (way, shared) = build::way_of(&program.header.ghc);
            if !libraries.iter().any(|l| (l.0, l.1) == (way.suffix, shared)) {
                let Some(lib) = self.library(program)? else {
                    return Ok(Trial {
                        answer: Answer::DoesNotCompile(String::new()),
                        built: begin.elapsed(),
                        ran: Duration::ZERO,
                    });
                };
                libraries.push((way.suffix, shared, lib));
            }
        }
        let built = begin.elapsed();
        let begin = Instant::now();
        let over = AtomicBool::new(false);
        let answers = in_parallel(&programs, |program| {
            let (way, shared) = build::way_of(&program.header.ghc);
            let lib = libraries.iter().find(|l| (l.0, l.1) == (way.suffix, shared)).expect("a library for each");
            if over.load(Ordering::Relaxed) || !program.header.needs.is_empty() {
                return Ok(None);
            }
            let maker =
                Maker::with_library(self.project, self.project.build_dir().join("tests/conformance"), lib.2.clone())?;
            let difference = conformance::compare(&maker, program, &PLAIN)?;
            over.fetch_or(difference.is_some(), Ordering::Relaxed);
            Ok(difference.map(|said| format!("{}: {}", program.name, reason(&said))))
        })?;
        let answer = answers.into_iter().flatten().next().map_or(Answer::Passes, Answer::Fails);
        Ok(Trial { answer, built, ran: begin.elapsed() })
    }

    /// The library that a program needs; nothing if it cannot be made (the compilers have said why).
    fn library(&self, program: &Program) -> Result<Option<PathBuf>> {
        let (way, shared) = build::way_of(&program.header.ghc);
        let lib = self.project.build_dir().join(format!("lib{}{}", way.suffix, if shared { "-shared" } else { "" }));
        Ok(build::one_way(self.project, way, shared, PROFILE, &lib).ok().map(|()| lib))
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
