//! `hecaton bench events`: delays, servers and time limits on both runtimes, as tables, JSON and pictures.
use super::{bench::report_parts, bench_parts, test::install};
use crate::bench::events::{raise_limit, Part, Workbench, MAX_DESCRIPTORS};
use crate::error::{Fail, Result};
use crate::programs::{self, Maker};
use crate::project::Project;
use crate::report::progress;
use std::fs;

pub type Options = bench_parts::Options<Part>;

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
    report_parts(options.parts().into_iter().map(|part| bench.measure(part)), &dir, bench.runs)
}
