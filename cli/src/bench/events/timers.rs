//! Timers by the million.
use super::findings::{Findings, Quantity};
use super::Workbench;
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
    Ok(vec![
        of_length(bench, "delays", "Threads in a delay of 1 ms", SHORT, short)?,
        of_length(bench, "delays-long", "Threads in a delay of 1 s", LONG, long)?,
    ])
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
    let mut findings = bench.findings(part, title.to_owned(), "threads", &DELAYS, rows);
    if sizes.iter().any(|&threads| threads >= ONCE) {
        findings.notes.push(format!("one run only with {ONCE} threads or more"));
    }
    Ok(findings)
}
