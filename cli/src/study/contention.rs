//! Measures how often threads met on a thunk, and how much work was done twice (\[HMP05, §4, §7.5\]), in the parallel
//! programs and ghc.
//!
//! The runtime counts waits for thunks that others evaluate, and work that it cut off because another thread did it
//! too. What was done twice and never found shows in the bytes allocated, as a multiple of those on one HEC.
use crate::bench::{RuntimeRun, Sample};
use crate::error::{Fail, Result};
use crate::report::{Better, Column, Grid};
use crate::study::Laboratory;

/// One program of this many is measured when time is short.
const QUICK: usize = 3;

/// What the runtime has counted, as means over the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Meetings {
    waits: f64,
    seconds: f64,
    cut_off: f64,
}

pub fn answer(lab: &Laboratory, progress: &dyn Fn(&str)) -> Result<Grid> {
    let parallel: Vec<_> = lab.programs.iter().filter_map(|p| Some((p, p.header.hecs?))).collect();
    let mut rows = Vec::new();
    for (program, hecs) in parallel.iter().step_by(if lab.quick { QUICK } else { 1 }) {
        progress(&format!("meetings {}", program.name));
        let several = format!("-N{hecs}");
        let alone = count(&program.name, &mut lab.plainly(program, &["-N1"])?, 1)?;
        let plain = count(&program.name, &mut lab.plainly(program, &[&several])?, lab.runs)?;
        let grey = count(&program.name, &mut lab.grey(program, &[&several])?, lab.runs)?;
        rows.push((program.name.clone(), row(&alone.1, plain, grey)));
    }
    let figure = |head, digits| Column::figure(head, digits);
    Ok(Grid {
        name: "meetings",
        title: "Meetings on thunks on several HECs: waits, seconds waited, work cut off, allocation against one HEC; the same with grey-holing"
            .to_owned(),
        columns: vec![
            figure("waits", 1),
            figure("waited s", 3),
            figure("cut off", 1),
            Column::ratio("allocated n:1", Better::Lower),
            figure("grey waits", 1),
            figure("grey waited s", 3),
            figure("grey cut off", 1),
            Column::ratio("grey allocated n:1", Better::Lower),
            Column::ratio("grey:lazy elapsed", Better::Lower),
        ],
        rows,
        has_mean: true,
    })
}

fn row(alone: &Sample, (plain, plain_sample): (Meetings, Sample), (grey, grey_sample): (Meetings, Sample)) -> Vec<f64> {
    let figures = |m: Meetings, s: &Sample| [m.waits, m.seconds, m.cut_off, s.allocated / alone.allocated];
    let elapsed = grey_sample.elapsed / plain_sample.elapsed;
    [&figures(plain, &plain_sample)[..], &figures(grey, &grey_sample), &[elapsed]].concat()
}

fn count(name: &str, contender: &mut RuntimeRun, runs: usize) -> Result<(Meetings, Sample)> {
    contender.env.push(("HECATON_SHOW".to_owned(), "blackholes".to_owned()));
    let mut sum = Meetings::default();
    let mut samples = Vec::new();
    for _ in 0..runs {
        let run = contender.run(name)?;
        let said = String::from_utf8_lossy(&run.stderr);
        let counted = said.lines().find_map(parse);
        let counted = counted.ok_or_else(|| Fail::new(format!("{name} did not say how its threads met")))?;
        sum = Meetings {
            waits: sum.waits + counted.waits,
            seconds: sum.seconds + counted.seconds,
            cut_off: sum.cut_off + counted.cut_off,
        };
        samples.push(run.sample);
    }
    let mean = |x| x / runs as f64;
    Ok((
        Meetings { waits: mean(sum.waits), seconds: mean(sum.seconds), cut_off: mean(sum.cut_off) },
        Sample::median(&samples),
    ))
}

/// Reads `Black holes: threads waited 11 times, 1.520 s in all; work done twice was cut off 2 times`.
fn parse(line: &str) -> Option<Meetings> {
    let counts = line.strip_prefix("Black holes: ")?;
    let mut numbers = counts.split_whitespace().filter_map(|w| w.parse().ok());
    Some(Meetings { waits: numbers.next()?, seconds: numbers.next()?, cut_off: numbers.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let line = "Black holes: threads waited 11 times, 1.520 s in all; work done twice was cut off 2 times";
        assert_eq!(parse(line), Some(Meetings { waits: 11.0, seconds: 1.52, cut_off: 2.0 }));
        assert_eq!(parse("Black holes: none"), None);
        assert_eq!(parse("11 1.5 2"), None);
    }

    #[test]
    fn rows_compare_with_one_hec() {
        let sample = |elapsed, allocated| Sample { elapsed, allocated, ..Sample::default() };
        let met = Meetings { waits: 3.0, seconds: 0.5, cut_off: 1.0 };
        let figures = row(&sample(9.0, 100.0), (met, sample(4.0, 110.0)), (met, sample(6.0, 100.0)));
        assert_eq!(figures, [3.0, 0.5, 1.0, 1.1, 3.0, 0.5, 1.0, 1.0, 1.5]);
    }
}
