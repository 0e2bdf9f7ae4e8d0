//! Programs on one HEC, on two HECs of a process, and over two processing elements (PEs) of one HEC each.
use super::{Part, Workbench};
use crate::bench::findings::{medians, Findings, Quantity, Ratio, Row};
use crate::bench::goals::Bound;
use crate::bench::in_c::compiled;
use crate::bench::runtime_run::TIME_LIMIT;
use crate::error::{Fail, Result};
use crate::process::{self, End};
use crate::programs::Runtime;
use crate::report::{progress, Better};
use std::{fs, path::PathBuf, process::Command};

/// A runtime with a number of PEs and of HECs in each.
pub struct Contender {
    pub name: &'static str,
    pub runtime: Runtime,
    pub elements: usize,
    pub hecs: usize,
}

const CONTENDERS: [Contender; 5] = [
    Contender { name: "stock -N1", runtime: Runtime::Stock, elements: 1, hecs: 1 },
    Contender { name: "stock -N2", runtime: Runtime::Stock, elements: 1, hecs: 2 },
    Contender { name: "-N1", runtime: Runtime::Hecaton, elements: 1, hecs: 1 },
    Contender { name: "-N2", runtime: Runtime::Hecaton, elements: 1, hecs: 2 },
    Contender { name: "two PEs", runtime: Runtime::Hecaton, elements: 2, hecs: 1 },
];
/// The numbers of those with two cores, and of what each is compared with.
const TWO_CORES: [(usize, usize); 3] = [(1, 0), (3, 2), (4, 2)];
/// The program in C stands behind the others.
const C: usize = CONTENDERS.len();

/// What is run.
struct Sizes {
    program: &'static str,
    args: &'static [&'static str],
    full: &'static [&'static str],
    /// What the speed-up of two PEs is to be at least, as a part of that of two HECs.
    least: Option<f64>,
}

/// `None` if the part is not a program.
fn sizes(part: Part) -> Option<Sizes> {
    let (program, args, full, least): (_, &[_], &[_], _) = match part {
        Part::RoundTrips | Part::Calls | Part::Packing => return None,
        Part::Trees => ("trees", &["21", "4", "6"], &["21", "8", "6"], None),
        Part::Queens => ("par_queens", &["13"], &["14"], Some(0.9)),
        Part::Matrix => ("matrix", &["1000", "2"], &["1600", "2"], Some(0.7)),
        Part::Paraffins => ("paraffins", &["25"], &["27"], None),
        Part::ParFib => ("par_fib", &["41", "26"], &["44", "26"], Some(0.9)),
        Part::SumEuler => ("sum_euler", &["9000", "50"], &["20000", "50"], Some(0.9)),
        Part::Mandel => ("mandel", &["600"], &["1200"], None),
        Part::Ray => ("ray", &["1200", "20"], &["2400", "20"], None),
    };
    Some(Sizes { program, args, full, least })
}

/// Elapsed times and speed-ups of those of the parts that are programs. Those that fail are left out; why, follows.
pub fn measure(bench: &Workbench, parts: &[Part]) -> Vec<Result<Vec<Findings>>> {
    let mut found = Vec::new();
    let mut failed = Vec::new();
    for sizes in parts.iter().filter_map(|&part| sizes(part)) {
        match elapsed(bench, &sizes) {
            Ok(row) => found.push((sizes, row)),
            Err(fail) => failed.push(Err(fail)),
        }
    }
    if !found.is_empty() {
        failed.insert(0, Ok(findings(found)));
    }
    failed
}

/// The median elapsed seconds of each contender, and of the program in C if there is one. All must print the same.
fn elapsed(bench: &Workbench, sizes: &Sizes) -> Result<Vec<Option<f64>>> {
    let Sizes { program, .. } = *sizes;
    let args = if bench.full { sizes.full } else { sizes.args };
    let runs = CONTENDERS.iter().map(|c| bench.run_of(program, c, args)).collect::<Result<Vec<_>>>()?;
    let in_c = bench.in_c(program)?;
    let mut printed: Option<Vec<u8>> = None;
    let contenders = C + usize::from(in_c.is_some());
    let figures = medians(contenders, bench.runs, |n| {
        let name = CONTENDERS.get(n).map_or("C", |c| c.name);
        progress(&format!("{program}: {name}"));
        let (elapsed, stdout) = match (runs.get(n), &in_c) {
            (Some(run), _) => run.run(program).map(|run| (run.sample.elapsed, run.stdout))?,
            (None, Some(executable)) => run_in_c(bench, executable, args)?,
            (None, None) => unreachable!("it is no contender"),
        };
        if *printed.get_or_insert_with(|| stdout.clone()) == stdout {
            Ok(Some(vec![elapsed]))
        } else {
            Err(Fail::new(format!("{program} printed something else as {name}")))
        }
    })?;
    let elapsed = |figures: Option<Vec<f64>>| figures.map(|figures| figures[0]);
    Ok(figures.into_iter().map(elapsed).chain((contenders == C).then_some(None)).collect())
}

fn run_in_c(bench: &Workbench, executable: &PathBuf, args: &[&str]) -> Result<(f64, Vec<u8>)> {
    let mut command = Command::new(executable);
    command.args(args);
    let outcome = process::run(command, b"", TIME_LIMIT, bench.dir)?;
    if outcome.end != End::Exit(0) {
        return Err(Fail::new(format!("{} failed: {}", executable.display(), outcome.end.describe())));
    }
    Ok((outcome.elapsed.as_secs_f64(), outcome.stdout))
}

impl Workbench<'_> {
    /// The same program in C, if there is one.
    fn in_c(&self, program: &str) -> Result<Option<PathBuf>> {
        let source = self.sources.join(program).with_extension("c");
        if !source.exists() {
            return Ok(None);
        }
        let dir = self.dir.join("in-c");
        fs::create_dir_all(&dir).map_err(|e| Fail::io("create", &dir, e))?;
        compiled(&source, dir.join(program)).map(Some)
    }
}

fn findings(measured: Vec<(Sizes, Vec<Option<f64>>)>) -> Vec<Findings> {
    const ELAPSED: [Quantity; 1] =
        [Quantity { key: "elapsed", name: "elapsed seconds", digits: 3, better: Better::Lower }];
    const SPEED_UP: [Quantity; 1] =
        [Quantity { key: "speed_up", name: "speed-up on two cores", digits: 2, better: Better::Higher }];
    let row = |sizes: &Sizes, figures: Vec<Option<f64>>| Row {
        label: sizes.program.to_owned(),
        size: None,
        figures: figures.into_iter().map(|figure| figure.map(|f| vec![f])).collect(),
    };
    let names = CONTENDERS.iter().map(|c| c.name).chain(["C"]);
    let elapsed = Findings::new(
        "programs",
        "Programs",
        "program (-N1, -N2: one process with that number of HECs)",
        names.map(Into::into).collect(),
        vec![Ratio { head: "-N1 : C".to_owned(), of: 2, to: C }],
        &ELAPSED,
        measured.iter().map(|(sizes, elapsed)| row(sizes, elapsed.clone())).collect(),
    );
    let speed_up = |elapsed: &[Option<f64>]| {
        TWO_CORES.map(|(two, one)| elapsed[one].zip(elapsed[two]).map(|(one, two)| one / two)).into()
    };
    let mut speed_ups = Findings::new(
        "speed_ups",
        "Programs",
        "program",
        TWO_CORES.map(|(two, _)| CONTENDERS[two].name.to_owned()).into(),
        vec![Ratio { head: "PEs : HECs".to_owned(), of: 2, to: 1 }],
        &SPEED_UP,
        measured.iter().map(|(sizes, elapsed)| row(sizes, speed_up(elapsed))).collect(),
    );
    for (sizes, _) in &measured {
        if let Some(least) = sizes.least {
            speed_ups.aim_at_ratio(sizes.program, 0, 0, Bound::AtLeast(least));
        }
    }
    vec![elapsed, speed_ups]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_ups_are_those_of_the_same_runtime() {
        let elapsed = [6.0, 3.0, 4.0, 2.0, 2.5].map(Some).into_iter().chain([None]).collect();
        let found = findings(vec![(sizes(Part::ParFib).unwrap(), elapsed)]);
        let figure = |contender| found[1].figure_at("par_fib", contender, 0);
        assert_eq!(["stock -N2", "-N2", "two PEs"].map(figure), [2.0, 2.0, 1.6].map(Some));
        assert_eq!(found[1].aims.len(), 1);
        assert!((found[1].aims[0].1 - 0.8).abs() < 1e-9);
        assert_eq!(found[0].figure_at("par_fib", "C", 0), None);
    }
}
