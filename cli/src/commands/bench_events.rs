//! `hecaton bench events`: delays, servers and time limits on both runtimes, as tables, JSON and pictures.
use super::{bench::report_parts, test::install};
use crate::bench::events::{raise_limit, Part, Workbench, MAX_DESCRIPTORS};
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
    let asked = |part: &&Part| options.parts.is_empty() || options.parts.contains(part);
    let parts = Part::value_variants().iter().filter(asked);
    report_parts(parts.map(|&part| bench.measure(part)), &dir, bench.runs)
}
