//! Conformance: a program linked with both runtimes must have the same outcome.
//!
//! The program runs once on the stock runtime, and its outcome is kept. It runs several times on Hecaton, each time
//! in another *kind*: plain, with a tiny nursery, with the heap checker, with everything promoted at once, and, on
//! request, with a collection and a heap check at every allocation block. Every kind must have the stock runtime's
//! plain outcome. For runs on several HECs and over several PEs, programs are linked with `-threaded` on both runtimes.
mod kind;
mod outcome;

pub use kind::*;

use crate::build;
use crate::conformance::outcome::{ask, difference, stock_answer};
use crate::error::Result;
use crate::programs::{Maker, Program, Runtime};
use crate::test_report::{Report, Tally};
use crate::thread_pool::in_parallel;
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

/// Returns what is wrong with Hecaton's outcome in one kind of run, if anything is. A limit replaces the program's own.
pub fn compare(maker: &Maker, program: &Program, kind: &Kind, limit: Option<Duration>) -> Result<Option<String>> {
    for runtime in [Runtime::Stock, Runtime::Hecaton] {
        if let Err(said) = maker.make(program, runtime) {
            return Ok(Some(format!("cannot be built ({}):\n{said}", runtime.name())));
        }
    }
    let expected = stock_answer(maker, program)?;
    let answer = ask(maker, program, Runtime::Hecaton, kind, limit)?;
    difference(maker, program, kind, &expected, &answer)
}

/// The kinds that programs are run in.
pub struct Plan {
    /// For every program that they suit.
    pub always: Vec<&'static Kind>,
    /// Every program is run in one of these that suits it; the commit decides in which.
    pub one_of: Vec<&'static Kind>,
    /// What the draw depends on, beside the program's name.
    pub seed: String,
}

impl Plan {
    pub fn all(kinds: Vec<&'static Kind>) -> Plan {
        Plan { always: kinds, one_of: Vec::new(), seed: String::new() }
    }

    fn kinds(&self, program: &Program) -> Vec<&'static Kind> {
        let suited: Vec<_> = self.one_of.iter().filter(|kind| unsuited(program, kind).is_none()).collect();
        let number = u64::from_str_radix(&build::hash([&self.seed, &program.name]), 16).expect("a hash is a number");
        let drawn = (!suited.is_empty()).then(|| *suited[number as usize % suited.len()]);
        self.always.iter().copied().chain(drawn).collect()
    }
}

/// What all programs of a test have in common.
pub struct Session<'a> {
    /// The Haskell packages that are installed.
    pub packages: HashSet<String>,
    /// With what the names of kinds must begin; any, if there is nothing.
    pub only: &'a [String],
    /// Replaces the time limits of programs.
    pub limit: Option<Duration>,
    pub report: &'a Report,
}

/// Tests every program in the kinds that the plan has for it.
pub fn run(suite: &str, maker: &Maker, programs: &[Program], plan: &Plan, session: &Session) -> Result<Tally> {
    let tallies = in_parallel(programs, |program| {
        let mut kinds = plan.kinds(program);
        kinds.retain(|kind| session.only.is_empty() || session.only.iter().any(|o| kind.name.starts_with(o.as_str())));
        if kinds.is_empty() {
            return Ok(Tally::default());
        }
        test(&format!("{suite}/{}", program.name), maker, program, &kinds, session)
    })?;
    Ok(tallies.into_iter().sum())
}

fn test(name: &str, maker: &Maker, program: &Program, kinds: &[&Kind], session: &Session) -> Result<Tally> {
    let report = session.report;
    if let Some(missing) = program.header.needs.iter().find(|n| !session.packages.contains(*n)) {
        return Ok(report.skip(name, &format!("the Haskell package {missing} is not installed")));
    }
    let begun = Instant::now();
    for runtime in [Runtime::Stock, Runtime::Hecaton] {
        if let Err(said) = maker.make(program, runtime) {
            return Ok(report.fail(name, &format!("cannot be built ({})", runtime.name()), said.trim_end()));
        }
    }
    let expected = stock_answer(maker, program)?;
    if expected.unfinished() {
        return Ok(report.fail(name, "the stock runtime did not finish", "there is nothing to compare with"));
    }
    report.took("preparation", name, begun.elapsed());
    let mut tally = Tally::default();
    let mut passed = Vec::new();
    for kind in kinds {
        if let Some(reason) = unsuited(program, kind) {
            tally += Tally::skipped();
            passed.push(format!("{} skipped: {reason}", kind.name));
            continue;
        }
        let begun = Instant::now();
        let answer = ask(maker, program, Runtime::Hecaton, kind, session.limit)?;
        report.took(kind.name, name, begun.elapsed());
        match difference(maker, program, kind, &expected, &answer)? {
            None => {
                tally += Tally::passed();
                passed.push(kind.name.to_owned());
            }
            Some(what) => tally += report.fail(name, kind.name, &what),
        }
    }
    if tally.failed == 0 {
        report.pass(name, &passed.join(", "));
    }
    Ok(tally)
}

/// Returns why a program is not run in this kind.
fn unsuited(program: &Program, kind: &Kind) -> Option<String> {
    let header = &program.header;
    if let Some(skipped) = header.skip_kinds.iter().find(|s| s.kinds.iter().any(|name| kind.is_called(name))) {
        return Some(skipped.reason.clone());
    }
    match kind.name {
        "plain" => None,
        "pes2" | "pes4" => header.skip_pes.clone(),
        "pes2-check" | "pes4-check" => header.skip_pes.clone().or_else(|| header.skip_check.clone()),
        _ if kind.sets("GHCRTS") && header.rtsopts.is_some() => Some("takes no GHCRTS".to_owned()),
        _ if kind.sets("GHCRTS") && header.env.iter().any(|(name, _)| name == "GHCRTS") => {
            Some("sets GHCRTS itself".to_owned())
        }
        _ if kind.is_under_package() && header.skip_package.is_some() => header.skip_package.clone(),
        name if kind.is_under_package() => header.skip_hecs.clone().filter(|_| !name.ends_with("-N1")),
        "1" | "2" | "4" => header.skip_hecs.clone(),
        "8" => header.skip_hecs.clone().or_else(|| header.skip_small.clone()),
        "small" => header.skip_small.clone(),
        "base" => None,
        "fifo" | "lifo" | "random" => header.skip_order.clone(),
        "poll" => header.skip_poll.clone(),
        "old" | "stress" | "crew-stress" => header.skip_stress.clone().or_else(|| header.skip_check.clone()),
        _ => header.skip_check.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs;

    fn drawn(seed: &str, p: &Program) -> Vec<&'static str> {
        let plan = Plan { always: vec![&PLAIN], one_of: vec![&CHECK, &OLD, &CREW], seed: seed.into() };
        plan.kinds(p).iter().map(|kind| kind.name).collect()
    }

    fn kinds_called(name: &str) -> usize {
        kind::all().filter(|kind| kind.is_called(name)).count()
    }

    #[test]
    fn a_header_names_kinds_one_by_one_or_by_scheduler_or_by_number_of_hecs() {
        assert_eq!(["lifo", "Lifo-N1", "Lifo", "-N2", "Li", "N2"].map(kinds_called), [1, 1, 3, 9, 0, 0]);
        let program = Program::with_header("p", "-- skip-kinds: Lifo -N4; it waits by yielding\n");
        let skipped = PACKAGE.iter().filter(|kind| unsuited(&program, kind).is_some());
        assert_eq!(skipped.count(), 3 + 9 - 1);
    }

    #[test]
    fn a_header_says_why_a_program_needs_one_process_or_no_checks() {
        let left_out = |header| -> Vec<bool> {
            let program = Program::with_header("p", header);
            PES.iter().map(|kind| unsuited(&program, kind).is_some()).collect()
        };
        assert_eq!(left_out(""), [false; 4]);
        assert_eq!(left_out("-- skip-pes: it forks\n"), [true; 4]);
        assert_eq!(left_out("-- skip-check: slow\n"), PES.map(|kind| kind.name.ends_with("-check")));
        assert_eq!(left_out("-- skip-kinds: pes4; slow\n"), PES.map(|kind| kind.name == "pes4"));
    }

    #[test]
    fn headers_name_kinds_that_exist() {
        let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/conformance");
        for program in programs::find(suite.as_ref(), &[]).expect("programs") {
            for name in program.header.skip_kinds.iter().flat_map(|skipped| &skipped.kinds) {
                assert_ne!(kinds_called(name), 0, "{}: {name}", program.name);
            }
        }
    }

    #[test]
    fn each_program_is_run_in_one_more_kind_that_suits_it() {
        let p = Program::with_header("p", "");
        let mut all = HashSet::new();
        for seed in 0..100 {
            let kinds = drawn(&seed.to_string(), &p);
            assert_eq!((kinds.len(), kinds[0]), (2, "plain"));
            assert_eq!(drawn(&seed.to_string(), &p), kinds);
            all.insert(kinds[1]);
            assert_ne!(drawn(&seed.to_string(), &Program::with_header("p", "-- skip-stress: slow\n"))[1], "old");
            assert_eq!(drawn(&seed.to_string(), &Program::with_header("p", "-- skip-check: slow\n")), ["plain"]);
        }
        assert_eq!(all.len(), 3);
    }
}
