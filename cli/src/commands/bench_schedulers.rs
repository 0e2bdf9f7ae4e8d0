//! `hecaton bench schedulers`: programs under several schedulers, as tables, JSON and pictures.
use super::bench::report_parts;
use crate::bench::schedulers::{Part, Workbench};
use crate::error::{Fail, Result};
use crate::project::Project;
use clap::ValueEnum;
use std::fs;

#[derive(clap::Args)]
pub struct Options {
    /// How many times each figure is measured; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Larger sizes: about an hour
    #[arg(long)]
    full: bool,
    /// Only these programs
    #[arg(value_enum)]
    parts: Vec<Part>,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    let dir = project.build_dir().join("bench/schedulers");
    fs::create_dir_all(&dir).map_err(|e| Fail::io("create", &dir, e))?;
    let bench = Workbench::new(project, &dir, options.runs.into(), options.full)?;
    let asked = |part: &&Part| options.parts.is_empty() || options.parts.contains(part);
    let parts: Vec<Part> = Part::value_variants().iter().filter(asked).copied().collect();
    report_parts(bench.measure(&parts), &dir, bench.runs)
}
