//! How fast values are packed and installed, within one process.
use super::{rows, Workbench};
use crate::bench::findings::{Findings, Quantity, Row};
use crate::bench::goals::Bound;
use crate::bench::{named, runtime_run, RuntimeRun};
use crate::error::Result;
use crate::programs::Runtime;
use crate::report::{progress, Better};

const RATE: [Quantity; 1] =
    [Quantity { key: "rate", name: "millions of bytes in a second", digits: 0, better: Better::Higher }];
/// The size of the values.
const SIZE: &str = "1000000";
/// What is to be packed at least, in millions of bytes in a second.
const MINIMUM: f64 = 400.0;

pub fn rates(bench: &Workbench) -> Result<Vec<Findings>> {
    progress("packing");
    let run = runtime_run(&bench.maker, named(&bench.programs, "packing")?, Runtime::Hecaton, &[])?;
    let args = [bench.runs.to_string().into(), SIZE.into()].into();
    let said = RuntimeRun { args, ..run }.run("packing")?.stdout;
    let row = |(value, figures): (String, Vec<f64>)| Row {
        label: format!("{value}, {:.0} MB", figures[0] / 1e6),
        size: None,
        figures: figures[1..].iter().map(|&rate| Some(vec![rate])).collect(),
    };
    let mut found = Findings::new(
        "packing",
        "Packing",
        "value",
        ["packed", "installed"].map(Into::into).into(),
        Vec::new(),
        &RATE,
        rows("packing", &said, 3)?.into_iter().map(row).collect(),
    );
    let labels: Vec<String> = found.rows.iter().map(|row| row.label.clone()).collect();
    labels.iter().for_each(|label| found.aim_at_figure(label, 0, 0, Bound::AtLeast(MINIMUM)));
    Ok(vec![found])
}
