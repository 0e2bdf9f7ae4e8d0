//! `hecaton bench spread`: how long a message between two processing elements and its answer take, and how fast values
//! are packed (`bench_packing.rs`).
use super::bench_packing;
use crate::error::{Fail, Result};
use crate::process::{self, End};
use crate::programs::{self, Maker, Runtime};
use crate::project::Project;
use crate::report::progress;
use std::{env, fs, process::Command, time::Duration};

/// Round trips that are timed together.
const ROUND_TRIPS: &str = "3000";
const LIMIT: Duration = Duration::from_secs(120);

#[derive(clap::Args)]
pub struct Options {
    /// How many times each figure is measured; the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
}

/// Microseconds for one size of a message.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    bytes: usize,
    transport: f64,
    hecs: f64,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    let dir = project.build_dir().join("bench/spread");
    fs::create_dir_all(&dir).map_err(|e| Fail::io("create", &dir, e))?;
    let maker = Maker::new(project, dir.join("programs"))?;
    let program = programs::find(&project.root.join("bench/spread"), &["round_trip".to_owned()])?.remove(0);
    let executable = maker.make(&program, Runtime::Hecaton).map_err(Fail::new)?;
    println!(
        "round trips in microseconds, medians of {} runs; -N1 and -N2: HECs of each processing element",
        options.runs
    );
    println!("{:>9} {:>14} {:>14} {:>14} {:>7}", "bytes", "transport", "HECs, -N1", "HECs, -N2", "ratio");
    let mut measured = vec![];
    for hecs in ["-N1", "-N2"] {
        let mut runs = vec![];
        for no in 1..=options.runs {
            progress(&format!("{hecs}, run {no}"));
            let mut command = Command::new(env::current_exe().map_err(|e| Fail::io("find", &dir, e))?);
            command.args(["spread", "-n", "2"]).arg(&executable).args([ROUND_TRIPS, "+RTS", hecs]);
            let outcome = process::run(command, b"", LIMIT, &dir)?;
            let rows = rows(&String::from_utf8_lossy(&outcome.stdout)).filter(|_| outcome.end == End::Exit(0));
            let errors = || String::from_utf8_lossy(&outcome.stderr).into_owned();
            runs.push(rows.ok_or_else(|| Fail::new(format!("round_trip {hecs} has failed: {}", errors())))?);
        }
        measured.push(medians(&runs));
    }
    progress("");
    for (one, two) in measured[0].iter().zip(&measured[1]) {
        let ratio = one.hecs / one.transport;
        println!("{:>9} {:>14.1} {:>14.1} {:>14.1} {ratio:>7.2}", one.bytes, one.transport, one.hecs, two.hecs);
    }
    bench_packing::run(project, &maker, &dir, options.runs)
}

/// What the program prints.
fn rows(text: &str) -> Option<Vec<Row>> {
    let row = |line: &str| {
        let mut words = line.split(' ');
        let bytes = words.next()?.parse().ok()?;
        let mut figure = || words.next()?.parse().ok();
        Some(Row { bytes, transport: figure()?, hecs: figure()? })
    };
    text.lines().map(row).collect()
}

fn medians(runs: &[Vec<Row>]) -> Vec<Row> {
    let median = |no: usize, figure: fn(&Row) -> f64| {
        let mut all: Vec<f64> = runs.iter().map(|rows| figure(&rows[no])).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let row = |(no, row): (usize, &Row)| Row {
        bytes: row.bytes,
        transport: median(no, |row| row.transport),
        hecs: median(no, |row| row.hecs),
    };
    runs[0].iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_each_size_counts() {
        let runs: Vec<_> =
            ["8 1.5 3\n9 2 4", "8 7 9\n9 5 5", "8 2 2\n9 0.5 3e0"].map(|text| rows(text).unwrap()).into();
        let row = |bytes, transport, hecs| Row { bytes, transport, hecs };
        assert_eq!(medians(&runs), [row(8, 2.0, 3.0), row(9, 2.0, 4.0)]);
        assert_eq!(rows("8 1.5"), None);
        assert_eq!(rows("x 1 2"), None);
    }
}
