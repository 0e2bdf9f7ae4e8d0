//! `hecaton bench events`: delays, servers and time limits on both runtimes, as tables, JSON and pictures.
use super::test::install;
use crate::bench::events::{raise_limit, Part, Workbench, MAX_DESCRIPTORS};
use crate::bench::Targets;
use crate::error::{Fail, Result};
use crate::programs::{self, Maker};
use crate::project::Project;
use crate::report::progress;
use clap::ValueEnum;
use std::fs;

#[derive(clap::Args)]
pub struct Options {
    /// How many times each figure is measured; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// More sizes, and longer runs: about an hour
    #[arg(long)]
    full: bool,
    /// Only these parts
    #[arg(value_enum)]
    parts: Vec<Part>,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    install("events", project)?;
    let sources = project.root.join("bench/events");
    let dir = project.build_dir().join("bench/events");
    fs::create_dir_all(&dir).map_err(|e| Fail::io("create", &dir, e))?;
    let bench = Workbench {
        maker: Maker::new(project, dir.join("programs"))?,
        programs: programs::find(&sources, &[])?,
        sources,
        dir: dir.clone(),
        runs: options.runs.into(),
        full: options.full,
        descriptors: raise_limit(MAX_DESCRIPTORS)?,
        progress: &progress,
    };
    let mut targets = Targets::default();
    let mut failed = Vec::new();
    let asked = |part: &&Part| options.parts.is_empty() || options.parts.contains(part);
    for &part in Part::value_variants().iter().filter(asked) {
        let measured = bench.measure(part);
        progress("");
        match measured {
            Ok(measured) => {
                for findings in measured {
                    println!("{}", findings.text());
                    findings.write(&dir, bench.runs)?;
                    findings.add_aims(&mut targets);
                }
            }
            Err(fail) => failed.push(fail),
        }
    }
    if !targets.is_empty() {
        println!("{}", targets.text());
    }
    println!("medians of {} runs; figures and pictures are in {}", bench.runs, dir.display());
    failed.iter().for_each(|fail| eprintln!("hecaton: {fail}"));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Fail::silent(1))
    }
}
