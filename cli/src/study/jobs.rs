//! Measures how ghc itself speeds up with -j (\[HMP05, §7\]), on Hecaton and on the stock runtime.
use super::Laboratory;
use crate::bench::{GhcMake, Jobs, Sample, Size};
use crate::error::Result;
use crate::ghc::Ghc;
use crate::report::{Better, Column, Grid};

const JOBS: [u32; 4] = [1, 2, 4, 8];
const QUICK_JOBS: [u32; 2] = [1, 2];

pub fn answer(lab: &Laboratory) -> Result<Grid> {
    let jobs: &[u32] = if lab.quick { &QUICK_JOBS } else { &JOBS };
    let ghc = Ghc { path: lab.ghc.clone(), is_default: true };
    let measured =
        GhcMake::measure(&ghc, lab.plain.library(), &lab.dir.join("ghc_make"), Size::Small, jobs, lab.runs, 1)?;
    let runtimes: [(&str, fn(&Jobs) -> &Sample); 3] =
        [("stock", |j| &j.stock), ("stock tuned", |j| &j.tuned), ("Hecaton", |j| &j.hecaton)];
    let mut rows = Vec::new();
    for (runtime, of) in runtimes {
        let alone = of(&measured.jobs[0]).elapsed;
        rows.extend(measured.jobs.iter().map(|j| (format!("{runtime} -j{}", j.jobs), row(of(j), alone))));
    }
    Ok(Grid {
        name: "jobs",
        title: measured.grid().title,
        columns: vec![
            Column::figure("CPU s", 2),
            Column::figure("elapsed s", 2),
            Column::figure("GC %", 1),
            Column::figure("peak MB", 0),
            Column::ratio("speed-up", Better::Higher),
        ],
        rows,
        has_mean: false,
    })
}

fn row(sample: &Sample, alone: f64) -> Vec<f64> {
    vec![sample.cpu, sample.elapsed, 100.0 * sample.gc / sample.elapsed, sample.peak / 1e6, alone / sample.elapsed]
}
