//! Conformance: a program linked with both runtimes must have the same outcome.
//!
//! The program runs once on the stock runtime, and its outcome is kept. It runs several times on Hecaton, each time
//! in another *kind*: plain, with a tiny nursery, with the heap checker, with everything promoted at once, and, on
//! request, with a collection and a heap check at every allocation block. Every kind must have the stock runtime's
//! plain outcome. For runs on several HECs, programs are linked with `-threaded` on both runtimes.
mod outcome;

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

pub struct Kind {
    pub name: &'static str,
    /// What is added to the environment.
    env: &'static [(&'static str, &'static str)],
    /// How many times longer than plainly a run may take.
    slowdown: u32,
}

/// For each scheduler of the package a kind of run on one, two and four HECs.
macro_rules! of_package {
    ($($name:literal),*) => {
        [$(
            scheduler(concat!($name, "-N1"), &[("HECATON_SCHEDULER", $name), ("GHCRTS", "-N1")]),
            scheduler(concat!($name, "-N2"), &[("HECATON_SCHEDULER", $name), ("GHCRTS", "-N2")]),
            scheduler(concat!($name, "-N4"), &[("HECATON_SCHEDULER", $name), ("GHCRTS", "-N4")])
        ),*]
    };
}

pub const PLAIN: Kind = Kind { name: "plain", env: &[], slowdown: 1 };
pub const SMALL: Kind = Kind { name: "small", env: &[("GHCRTS", "-A16k")], slowdown: 3 };
pub const CHECK: Kind = Kind {
    name: "check",
    env: &[("HECATON_CHECK", "heap,oversubscribe,vary-nursery,steal-thunks,eager-modify")],
    slowdown: 6,
};
/// Several GC threads for every collection. Otherwise the runtime would call helpers for large ones only.
pub const CREW: Kind = Kind { name: "crew", env: &[("HECATON_CHECK", "heap,oversubscribe,gc-threads=4")], slowdown: 8 };
/// Nothing ages, and a collection follows every block, so that old objects soon refer to young ones.
pub const OLD: Kind =
    Kind { name: "old", env: &[("HECATON_CHECK", "old,oversubscribe,steal-thunks,eager-modify")], slowdown: 30 };
pub const STRESS: Kind = Kind {
    name: "stress",
    env: &[("HECATON_CHECK", "heap,oversubscribe,every-block,steal-thunks,eager-modify")],
    slowdown: 30,
};
pub const CREW_STRESS: Kind = Kind {
    name: "crew-stress",
    env: &[("HECATON_CHECK", "heap,oversubscribe,every-block,gc-threads=4")],
    slowdown: 60,
};

/// Runs on several HECs, for programs linked with `-threaded`. Four may all be busy, however few cores there are, and
/// get their nurseries in small chunks.
pub const HECS: [Kind; 4] = [
    hecs("1", &[("GHCRTS", "-N1")]),
    hecs("2", &[("GHCRTS", "-N2")]),
    hecs("4", &[("GHCRTS", "-N4 -n16k"), ("HECATON_CHECK", "oversubscribe,steal-thunks,eager-modify")]),
    hecs("8", &[("GHCRTS", "-N8 -A64k -n16k")]),
];

/// Runs with another event manager than the one that is used by default, for programs that wait for descriptors.
pub const MANAGERS: [Kind; 2] =
    [manager("base", &[("GHCRTS", "--io-manager=base")]), manager("poll", &[("GHCRTS", "--io-manager=poll")])];

/// Runs with another order of the run queues, for programs about threads. The random one has a virtual clock as well.
pub const SCHEDULERS: [Kind; 3] = [
    scheduler("fifo", &[("HECATON_SCHEDULER", "fifo")]),
    scheduler("lifo", &[("HECATON_SCHEDULER", "lifo")]),
    scheduler("random", &[("HECATON_SCHEDULER", "random:1")]),
];

/// Runs under the schedulers of the package, each on one, two and four HECs, for programs about threads. These are
/// linked with the package and with `-threaded`.
pub const PACKAGE: [Kind; 27] =
    of_package!["Deadline", "FairShare", "Fifo", "Gang", "Lifo", "Priority", "Random:1", "RoundRobin", "WorkStealing"];

/// The kind of run of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    const KINDS: [&Kind; 7] = [&PLAIN, &SMALL, &CHECK, &OLD, &CREW, &STRESS, &CREW_STRESS];
    KINDS.into_iter().chain(&HECS).chain(&MANAGERS).chain(&SCHEDULERS).chain(&PACKAGE).find(|k| k.name == name)
}

impl Kind {
    fn sets(&self, variable: &str) -> bool {
        self.env.iter().any(|(name, _)| *name == variable)
    }

    /// Is it for programs linked with `-threaded`?
    pub fn is_threaded(&self) -> bool {
        HECS.iter().any(|k| k.name == self.name) || self.is_under_package()
    }

    /// Does a header mean it by this? `Lifo-N1` is a single kind. `Lifo` stands for those of a scheduler of the
    /// package, and `-N1` for those on this number of HECs.
    fn is_called(&self, name: &str) -> bool {
        let part = self.is_under_package().then(|| self.name.strip_prefix(name).or(self.name.strip_suffix(name)));
        self.name == name || part.flatten().is_some_and(|rest| rest.starts_with("-N") || name.starts_with("-N"))
    }

    /// Do the programs run under a scheduler of the package?
    pub fn is_under_package(&self) -> bool {
        PACKAGE.iter().any(|k| k.name == self.name)
    }
}

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

const fn hecs(name: &'static str, env: &'static [(&'static str, &'static str)]) -> Kind {
    Kind { name, env, slowdown: 4 }
}

const fn manager(name: &'static str, env: &'static [(&'static str, &'static str)]) -> Kind {
    Kind { name, env, slowdown: 2 }
}

const fn scheduler(name: &'static str, env: &'static [(&'static str, &'static str)]) -> Kind {
    Kind { name, env, slowdown: 10 }
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
        let single = [&PLAIN, &SMALL, &CHECK, &OLD, &CREW, &STRESS, &CREW_STRESS];
        let all = single.into_iter().chain(&HECS).chain(&MANAGERS).chain(&SCHEDULERS).chain(&PACKAGE);
        all.filter(|kind| kind.is_called(name)).count()
    }

    #[test]
    fn a_header_names_kinds_one_by_one_or_by_scheduler_or_by_number_of_hecs() {
        assert_eq!(["lifo", "Lifo-N1", "Lifo", "-N2", "Li", "N2"].map(kinds_called), [1, 1, 3, 9, 0, 0]);
        let program = Program::with_header("p", "-- skip-kinds: Lifo -N4; it waits by yielding\n");
        let skipped = PACKAGE.iter().filter(|kind| unsuited(&program, kind).is_some());
        assert_eq!(skipped.count(), 3 + 9 - 1);
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
