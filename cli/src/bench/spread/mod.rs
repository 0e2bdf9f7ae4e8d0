//! `hecaton bench spread`: what messages, calls and reads between two processing elements (PEs) cost, how fast values
//! are packed, and what programs gain from a second PE, as \[FN96, §4\] measures it. The programs are in
//! `bench/spread`, and some in `bench`.
mod latency;
mod packing;
mod programs;

use super::findings::Findings;
use super::{named, runtime_run, RuntimeRun};
use crate::error::{Fail, Result};
use crate::programs::{find, find_directly_in, Maker, Program, Runtime};
use crate::project::Project;
use programs::Contender;
use std::{
    env,
    path::{Path, PathBuf},
};

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub enum Part {
    /// Messages and their answers, by size
    RoundTrips,
    /// Calls, and reads of values, here and elsewhere
    Calls,
    /// How fast values are packed and installed
    Packing,
    /// Builds, copies and counts trees
    Trees,
    /// Solutions of the queens problem
    Queens,
    /// A product of matrices, whose parts are placed
    Matrix,
    /// Enumerates alkanes
    Paraffins,
    /// Fibonacci numbers, a tree of sparks
    ParFib,
    /// Sums Euler's totient
    SumEuler,
    /// A picture of the Mandelbrot set
    Mandel,
    /// A ray tracer
    Ray,
}

pub struct Workbench<'a> {
    maker: Maker<'a>,
    programs: Vec<Program>,
    /// The folder of the programs' sources.
    sources: PathBuf,
    /// For everything that is written.
    dir: &'a Path,
    pub runs: usize,
    /// Larger sizes.
    full: bool,
}

impl<'a> Workbench<'a> {
    pub fn new(project: &'a Project, dir: &'a Path, runs: usize, full: bool) -> Result<Workbench<'a>> {
        let sources = project.root.join("bench/spread");
        let mut all = find(&sources, &[])?;
        all.extend(find_directly_in(&project.root.join("bench"), &["par_".to_owned()])?);
        Ok(Workbench { maker: Maker::new(project, dir.join("programs"))?, programs: all, sources, dir, runs, full })
    }

    /// Measures these parts. The findings of the programs come last, and after them what failed.
    pub fn measure<'b>(&'b self, parts: &'b [Part]) -> impl Iterator<Item = Result<Vec<Findings>>> + 'b {
        let costs = parts.iter().filter_map(|part| match part {
            Part::RoundTrips => Some(latency::round_trips(self)),
            Part::Calls => Some(latency::calls(self)),
            Part::Packing => Some(packing::rates(self)),
            _ => None,
        });
        costs.chain(std::iter::once_with(|| programs::measure(self, parts)).flatten())
    }

    /// The program on this runtime, in this number of processes and with these flags, in each with that many HECs.
    fn run_of(&self, program: &str, contender: &Contender, args: &[&str]) -> Result<RuntimeRun> {
        let hecs = format!("-N{}", contender.hecs);
        let run = runtime_run(&self.maker, named(&self.programs, program)?, contender.runtime, &[&hecs])?;
        let args = args.iter().map(Into::into);
        // What has one HEC has one core. Otherwise its collections would use the other one.
        let cores = Some(contender.hecs * contender.elements);
        if contender.runtime == Runtime::Stock {
            return Ok(RuntimeRun { args: args.collect(), cores, ..run });
        }
        let command = ["spread", "-n", &contender.elements.to_string()].map(Into::into);
        let executable = env::current_exe().map_err(|e| Fail::io("find", self.dir, e))?;
        Ok(RuntimeRun {
            label: format!("over {} processing elements", contender.elements),
            args: command.into_iter().chain([run.executable.into_os_string()]).chain(args).collect(),
            executable,
            work: run.work.with_extension(format!("{}-elements", contender.elements)),
            cores,
            ..run
        })
    }
}

/// The same run, with each of its two PEs as if on another host.
fn between_hosts(mut run: RuntimeRun) -> RuntimeRun {
    run.work = run.work.with_extension("hosts");
    run.label += " of several hosts";
    run.args.splice(1..3, ["--hosts", "localhost,localhost"].map(Into::into));
    run.env.push(("HECATON_RSH".to_owned(), r#"sh -c 'eval "$2"' rsh"#.to_owned()));
    run
}

/// What a program prints: a line for each row: its label and `figures` numbers, with tabs between them.
fn rows(program: &str, said: &[u8], figures: usize) -> Result<Vec<(String, Vec<f64>)>> {
    let said = String::from_utf8_lossy(said);
    let row = |line: &str| {
        let mut words = line.split('\t').map(str::to_owned);
        let label = words.next()?;
        let read = words.map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>()?;
        (read.len() == figures).then_some((label, read))
    };
    let rows: Option<Vec<_>> = said.lines().map(row).collect();
    let rows = rows.filter(|rows| !rows.is_empty());
    rows.ok_or_else(|| Fail::new(format!("{program} printed other than figures: {}", said.trim_end())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        let read = |said: &str, figures| rows("x", said.as_bytes(), figures).ok();
        assert_eq!(read("a list\t80\t4.5e-2\n", 2), Some(vec![("a list".to_owned(), vec![80.0, 0.045])]));
        assert_eq!([read("a list\t80\n", 2), read("a\tb\n", 1), read("", 1)], [None, None, None]);
    }
}
