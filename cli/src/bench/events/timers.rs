//! Timers by the million: delays, timers that are cancelled, and time limits that are set all at once.
use super::{Workbench, CONTENDERS, HECATON};
use crate::bench::findings::{medians, Findings, Quantity, Row};
use crate::bench::goals::Bound;
use crate::error::Result;
use crate::programs::Runtime;
use crate::report::Better;

const DELAYS: [Quantity; 2] = [
    Quantity { key: "elapsed", name: "elapsed seconds", digits: 3, better: Better::Lower },
    Quantity { key: "memory", name: "peak memory in MB", digits: 0, better: Better::Lower },
];

/// The paper's delay, in microseconds.
const SHORT: usize = 1_000;
/// Long enough that many of the threads sleep at the same time.
const LONG: usize = 1_000_000;

/// The stock runtime takes minutes and tens of gigabytes for more threads.
const MAX_FOR_STOCK: usize = 1_000_000;
/// From this number of threads on, runs are too long to be repeated.
const ONCE: usize = 1_000_000;

/// The paper's figures 5 to 8; and the same with threads that all sleep at once.
pub fn delays(bench: &Workbench) -> Result<Vec<Findings>> {
    let full = [1_000, 3_000, 10_000, 30_000, 100_000, 200_000, 500_000, 1_000_000, 3_000_000];
    let short = bench.sizes(&[1_000, 10_000, 100_000, 1_000_000], &full);
    let long = bench.sizes(&[10_000, 100_000], &[1_000, 10_000, 100_000, 1_000_000]);
    let mut of_paper = of_length(bench, "delays", "Threads in a delay of 1 ms", SHORT, short)?;
    for ratio in 0..HECATON.len() {
        of_paper.aim_at_ratio(&MAX_FOR_STOCK.to_string(), 0, ratio, Bound::AtMost(0.1));
        of_paper.aim_at_ratio(&MAX_FOR_STOCK.to_string(), 1, ratio, Bound::AtMost(0.3));
    }
    Ok(vec![of_paper, of_length(bench, "delays-long", "Threads in a delay of 1 s", LONG, long)?])
}

fn of_length(bench: &Workbench, part: &str, title: &str, micros: usize, sizes: &[usize]) -> Result<Findings> {
    let micros = micros.to_string();
    let row = |&threads: &usize| {
        let runs = if threads >= ONCE { 1 } else { bench.runs };
        bench.row(part, threads, runs, |contender| {
            if contender.runtime == Runtime::Stock && threads > MAX_FOR_STOCK {
                return Ok(None);
            }
            let run = bench.run_of("delays", contender, &[&threads.to_string(), &micros])?;
            let sample = run.run("delays")?.sample;
            Ok(Some(vec![sample.elapsed, sample.peak / 1e6]))
        })
    };
    let rows = sizes.iter().map(row).collect::<Result<_>>()?;
    let mut findings = bench.findings(part, title, "threads", &DELAYS, rows);
    if sizes.iter().any(|&threads| threads >= ONCE) {
        findings.notes.push(format!("one run only with {ONCE} threads or more"));
    }
    Ok(findings)
}

/// Timers that are registered and cancelled are garbage at once, and must not float (\[OT10, §8.2\]).
pub fn garbage(bench: &Workbench) -> Result<Vec<Findings>> {
    const TIMERS: [Quantity; 2] = [
        Quantity { key: "cost", name: "nanoseconds for each timer", digits: 0, better: Better::Lower },
        Quantity { key: "memory", name: "resident memory in MB", digits: 1, better: Better::Lower },
    ];
    let (steps, timers) = if bench.full { (20, 500_000) } else { (8, 100_000) };
    let figures = medians(CONTENDERS.len(), bench.runs, |n| {
        (bench.progress)(&format!("garbage: {}", CONTENDERS[n].name()));
        bench.printed("garbage", CONTENDERS[n], &[steps, timers], steps * TIMERS.len())
    })?;
    let rows = steps_of(&figures, TIMERS.len(), timers);
    let title = "Timers that are registered and cancelled";
    let mut found = bench.findings("garbage", title, "timers so far", &TIMERS, rows);
    for contender in HECATON {
        found.aim_at_last(1, contender, Bound::AtMost(1.1));
    }
    Ok(vec![found])
}

/// The rows of programs that print their figures after each step. A step handles `each` things.
fn steps_of(figures: &[Option<Vec<f64>>], quantities: usize, each: usize) -> Vec<Row> {
    let steps = figures.iter().flatten().map(|printed| printed.len() / quantities).max().unwrap_or(0);
    let at = |step: usize| {
        let of_step = |printed: &Vec<f64>| printed[step * quantities..(step + 1) * quantities].to_vec();
        Row::at((step + 1) * each, figures.iter().map(|printed| printed.as_ref().map(of_step)).collect())
    };
    (0..steps).map(at).collect()
}

/// Threads that register timers all at once must not wait for each other in turn (\[OT10, §8.3\]).
pub fn pileup(bench: &Workbench) -> Result<Vec<Findings>> {
    const COST: [Quantity; 1] =
        [Quantity { key: "cost", name: "microseconds for each time limit", digits: 2, better: Better::Lower }];
    const EACH: usize = 10;
    let full = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];
    let sizes = bench.sizes(&[100, 1_000, 10_000], &full);
    let row = |&threads: &usize| {
        bench.row("pileup", threads, bench.runs, |contender| {
            bench.printed("pileup", contender, &[threads, EACH], COST.len())
        })
    };
    let rows = sizes.iter().map(row).collect::<Result<_>>()?;
    Ok(vec![bench.findings("pileup", "Threads that set time limits at once", "threads", &COST, rows)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_a_row() {
        let rows = steps_of(&[Some(vec![1.0, 10.0, 2.0, 20.0]), None], 2, 500);
        let read: Vec<_> = rows.into_iter().map(|row| (row.label, row.figures)).collect();
        let expected = [
            ("500".to_owned(), vec![Some(vec![1.0, 10.0]), None]),
            ("1000".to_owned(), vec![Some(vec![2.0, 20.0]), None]),
        ];
        assert_eq!(read, expected);
    }
}
