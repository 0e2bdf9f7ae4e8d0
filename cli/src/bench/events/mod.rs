//! `hecaton bench events`: measures delays, descriptors and time limits as the paper on the event manager does
//! (\[OT10, §8, §9\]), on the stock runtime and on Hecaton, and servers also beside one in C.
//!
//! Each part is measured in a file of its own and gives [`Findings`]. The programs are in `bench/events`.
mod background;
mod calls;
mod descriptors;
mod servers;
mod timers;
mod tracing;
mod waits;
mod wrk;

pub use descriptors::raise_limit;

use super::findings::{medians, Findings, Quantity, Ratio, Row};
use super::{named, runtime_run, RuntimeRun};
use crate::error::{Fail, Result};
use crate::programs::{Maker, Program, Runtime};
use std::{fs, path::PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub enum Part {
    /// Up to a million threads in `threadDelay`
    Delays,
    /// A server that answers at once, under wrk with 16 to 16384 clients
    Pong,
    /// A server that reads a file for each answer
    File,
    /// The server with 64 busy clients beside idle connections
    Idle,
    /// System calls for each request
    Calls,
    /// The cost of `System.Timeout.timeout`, alone and around each request
    Timeout,
    /// A byte through a chain of pipes
    Pipes,
    /// How late a delay of a millisecond ends
    Oversleep,
    /// Whether timers that are registered and cancelled leave memory behind
    Garbage,
    /// Thousands of threads that all set time limits at once
    Pileup,
    /// How often an idle program wakes up
    Asleep,
}

/// What the parts need.
pub struct Workbench<'a> {
    pub maker: Maker<'a>,
    pub programs: Vec<Program>,
    /// The folder of the programs' sources.
    pub sources: PathBuf,
    /// For everything that is written.
    pub dir: PathBuf,
    pub runs: usize,
    /// More sizes.
    pub full: bool,
    /// How many descriptors a process may have.
    pub descriptors: usize,
    pub progress: &'a dyn Fn(&str),
}

/// A runtime with a number of HECs.
#[derive(Clone, Copy, PartialEq)]
pub struct Contender {
    runtime: Runtime,
    hecs: u32,
}

const CONTENDERS: [Contender; 4] = [
    Contender { runtime: Runtime::Stock, hecs: 1 },
    Contender { runtime: Runtime::Hecaton, hecs: 1 },
    Contender { runtime: Runtime::Stock, hecs: 2 },
    Contender { runtime: Runtime::Hecaton, hecs: 2 },
];

/// The numbers of Hecaton with one and with two HECs in `CONTENDERS`.
const HECATON: [usize; 2] = [1, 3];

impl Contender {
    fn name(self) -> String {
        format!("{} -N{}", self.runtime.name(), self.hecs)
    }
}

/// Hecaton's figures by those of the stock runtime on as many HECs. The numbers are those of `CONTENDERS`.
fn against_stock() -> Vec<Ratio> {
    let ratio = |hecs, of, to| Ratio { head: format!("ratio -N{hecs}"), of, to };
    vec![ratio(1, HECATON[0], 0), ratio(2, HECATON[1], 2)]
}

/// More descriptors than this are of no use: 50,000 idle connections are the most that is measured.
pub const MAX_DESCRIPTORS: usize = 52_000;

impl Workbench<'_> {
    pub fn measure(&self, part: Part) -> Result<Vec<Findings>> {
        match part {
            Part::Delays => timers::delays(self),
            Part::Pong => servers::pong(self),
            Part::File => servers::file(self),
            Part::Idle => servers::idle(self),
            Part::Calls => calls::per_request(self),
            Part::Timeout => Ok(vec![waits::timeout(self)?, servers::timeout(self)?]),
            Part::Pipes => waits::pipes(self),
            Part::Oversleep => waits::oversleep(self),
            Part::Garbage => timers::garbage(self),
            Part::Pileup => timers::pileup(self),
            Part::Asleep => waits::asleep(self),
        }
    }

    /// One of the two lists of sizes.
    fn sizes<'b>(&self, quick: &'b [usize], full: &'b [usize]) -> &'b [usize] {
        if self.full {
            full
        } else {
            quick
        }
    }

    /// A program for a contender.
    fn run_of(&self, program: &str, contender: Contender, args: &[&str]) -> Result<RuntimeRun> {
        let program = named(&self.programs, program)?;
        let run = runtime_run(&self.maker, program, contender.runtime, &[&format!("-N{}", contender.hecs)])?;
        Ok(RuntimeRun { args: args.iter().map(Into::into).collect(), ..run })
    }

    /// The row of one size: medians of the contenders of `CONTENDERS`.
    fn row(
        &self,
        part: &str,
        size: usize,
        runs: usize,
        measure: impl Fn(Contender) -> Result<Option<Vec<f64>>>,
    ) -> Result<Row> {
        let figures = medians(CONTENDERS.len(), runs, |n| {
            (self.progress)(&format!("{part} {size}: {}", CONTENDERS[n].name()));
            measure(CONTENDERS[n])
        })?;
        Ok(Row::at(size, figures))
    }

    /// Findings about the contenders of `CONTENDERS`.
    fn findings(
        &self,
        part: &str,
        title: &str,
        along: &'static str,
        quantities: &'static [Quantity],
        rows: Vec<Row>,
    ) -> Findings {
        let contenders = CONTENDERS.iter().map(|c| c.name()).collect();
        Findings::new(part, title, along, contenders, against_stock(), quantities, rows)
    }

    /// The figures that a program prints.
    fn printed(&self, program: &str, contender: Contender, args: &[usize], figures: usize) -> Result<Option<Vec<f64>>> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.run_of(program, contender, &args)?.figures(program, figures).map(Some)
    }

    /// A folder below `dir`.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.dir.join(name);
        fs::create_dir_all(&folder).map_err(|e| Fail::io("create", &folder, e))?;
        Ok(folder)
    }
}

/// The sizes up to `most`. If there are larger ones, `most` itself stands for them, and a note says so.
fn capped(sizes: &[usize], most: usize, limit: &str) -> (Vec<usize>, Vec<String>) {
    let mut fitting: Vec<usize> = sizes.iter().copied().filter(|&size| size <= most).collect();
    let mut notes = Vec::new();
    if fitting.len() < sizes.len() {
        fitting.push(most);
        notes.push(format!("{most} instead of {}: {limit}", sizes[sizes.len() - 1]));
    }
    fitting.dedup();
    (fitting, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_are_compared_on_as_many_hecs() {
        let pairs: Vec<String> = against_stock()
            .iter()
            .map(|r| format!("{}: {} by {}", r.head, CONTENDERS[r.of].name(), CONTENDERS[r.to].name()))
            .collect();
        assert_eq!(pairs, ["ratio -N1: hecaton -N1 by stock -N1", "ratio -N2: hecaton -N2 by stock -N2"]);
    }

    #[test]
    fn sizes_end_where_the_machine_does() {
        assert_eq!(capped(&[1, 10, 100], 1000, "x"), (vec![1, 10, 100], vec![]));
        assert_eq!(capped(&[1, 10, 100], 50, "x"), (vec![1, 10, 50], vec!["50 instead of 100: x".to_owned()]));
        assert_eq!(capped(&[1, 10, 100, 200], 10, "x").0, [1, 10]);
    }
}
