//! Single waits: time limits, pipes, and how late a delay ends.
use super::background::Background;
use super::{Workbench, HECATON};
use crate::bench::findings::{Findings, Quantity};
use crate::bench::goals::Bound;
use crate::error::Result;
use crate::report::Better;
use std::{thread::sleep, time::Duration};

const TIMEOUTS: usize = 200_000;
const PIPES: usize = 1_000;
/// How often the byte goes through the whole chain, for each thousand pipes.
const ROUNDS: usize = 20;
const DELAYS: usize = 1_000;
/// The threads of the idle program.
const WAITING: usize = 300;
/// The runtime collects garbage when a program becomes idle.
const SETTLE: Duration = Duration::from_millis(1_500);
const WATCHED: Duration = Duration::from_secs(5);

pub fn timeout(bench: &Workbench) -> Result<Findings> {
    const COST: [Quantity; 1] = [Quantity { key: "cost", name: "nanoseconds each", digits: 0, better: Better::Lower }];
    let count = if bench.full { 5 * TIMEOUTS } else { TIMEOUTS };
    let row = bench
        .row("timeout", count, bench.runs, |contender| bench.printed("timeouts", contender, &[count], COST.len()))?;
    let mut found = bench.findings("timeout", "An uncontended timeout", "how many in a row", &COST, vec![row]);
    for ratio in 0..HECATON.len() {
        found.aim_at_ratio(&count.to_string(), 0, ratio, Bound::AtMost(0.4));
    }
    Ok(found)
}

pub fn pipes(bench: &Workbench) -> Result<Vec<Findings>> {
    const STEP: [Quantity; 1] =
        [Quantity { key: "step", name: "microseconds from a pipe to the next", digits: 2, better: Better::Lower }];
    let sizes = bench.sizes(&[PIPES], &[10, 30, 100, 300, PIPES, 3 * PIPES]);
    let row = |&pipes: &usize| {
        let rounds = (ROUNDS * PIPES / pipes).max(1);
        bench.row("pipes", pipes, bench.runs, |contender| {
            bench.printed("pipes", contender, &[pipes, rounds], STEP.len())
        })
    };
    let rows = sizes.iter().map(row).collect::<Result<_>>()?;
    let mut found = bench.findings("pipes", "A byte along a chain of pipes", "pipes", &STEP, rows);
    for ratio in 0..HECATON.len() {
        found.aim_at_ratio(&PIPES.to_string(), 0, ratio, Bound::AtMost(0.5));
    }
    Ok(vec![found])
}

pub fn oversleep(bench: &Workbench) -> Result<Vec<Findings>> {
    const LATE: [Quantity; 2] = [
        Quantity { key: "median", name: "microseconds too late, median", digits: 0, better: Better::Lower },
        Quantity { key: "slowest", name: "microseconds too late, 99th percentile", digits: 0, better: Better::Lower },
    ];
    let count = if bench.full { 5 * DELAYS } else { DELAYS };
    let row = bench
        .row("oversleep", count, bench.runs, |contender| bench.printed("oversleep", contender, &[count], LATE.len()))?;
    let title = "A delay of 1 ms in an idle program";
    let mut found = bench.findings("oversleep", title, "how many in a row", &LATE, vec![row]);
    for contender in HECATON {
        found.aim_at_figure(&count.to_string(), 0, contender, Bound::AtMost(50.0));
        found.aim_at_figure(&count.to_string(), 1, contender, Bound::AtMost(300.0));
    }
    Ok(vec![found])
}

/// An idle program: 300 threads that wait. 0 is expected.
pub fn asleep(bench: &Workbench) -> Result<Vec<Findings>> {
    const RATE: [Quantity; 1] =
        [Quantity { key: "rate", name: "wake-ups of its OS threads per second", digits: 1, better: Better::Lower }];
    let during = WATCHED * if bench.full { 4 } else { 1 };
    let row = bench.row("asleep", WAITING, 1, |contender| {
        let mut program = Background::start("idle", bench.run_of("idle", contender, &[])?.command()?)?;
        sleep(SETTLE);
        let before = program.sleeps()?;
        sleep(during);
        let wake_ups = program.sleeps()? - before;
        program.check()?;
        Ok(Some(vec![wake_ups as f64 / during.as_secs_f64()]))
    })?;
    let mut found = bench.findings("asleep", "An idle program", "waiting threads", &RATE, vec![row]);
    for contender in HECATON {
        found.aim_at_figure(&WAITING.to_string(), 0, contender, Bound::AtMost(0.0));
    }
    Ok(vec![found])
}
