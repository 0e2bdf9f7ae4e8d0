//! `hecaton bench spread`: programs over two processing elements, and what messages, calls and reads cost, as tables,
//! JSON and pictures.
use super::{bench::report_parts, bench_parts};
use crate::bench::spread::{Part, Workbench};
use crate::error::{Fail, Result};
use crate::project::Project;
use std::fs;

pub type Options = bench_parts::Options<Part>;

pub fn run(project: &Project, options: &Options) -> Result<()> {
    let dir = project.build_dir().join("bench/spread");
    fs::create_dir_all(&dir).map_err(|e| Fail::io("create", &dir, e))?;
    let bench = Workbench::new(project, &dir, options.runs.into(), options.full)?;
    report_parts(bench.measure(&options.parts()), &dir, bench.runs)
}
