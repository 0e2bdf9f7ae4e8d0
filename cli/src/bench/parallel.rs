//! Measures the speed-up of parallel programs on each runtime: several HECs on as many cores against one HEC on one.
//!
//! The program with one HEC is confined to one core: otherwise Hecaton would use idle cores for its collections, and
//! the speed-up would not show what a second core gains.
use super::estimate::{Estimate, MAX_ROUNDS_FACTOR, PRECISION};
use super::{runtime_run, RuntimeRun, Sample};
use crate::bench::sampling::{exactly, Series};
use crate::error::Result;
use crate::programs::{Maker, Program, Runtime};
use crate::report::{Better, Column, Grid};

/// The ratio of equal speed-ups.
pub const BREAK_EVEN: f64 = 1.0;

/// The medians of a program on both runtimes, on one HEC and on several, with a core each.
pub struct Scaling {
    pub name: String,
    pub stock: Speedup,
    pub hecaton: Speedup,
    /// Hecaton's speed-up as a multiple of the stock runtime's.
    pub ratio: Estimate,
    pub runs: usize,
}

pub struct Speedup {
    pub alone: Sample,
    pub together: Sample,
}

impl Speedup {
    pub fn factor(&self) -> f64 {
        self.alone.elapsed / self.together.elapsed
    }
}

impl Scaling {
    /// Measures `program` at least `runs` times on each runtime, with -N1 on one core and with -N`hecs` on `hecs`
    /// cores, and more often until it is clear how the speed-ups compare. All runs must print the same.
    pub fn measure(maker: &Maker, program: &Program, hecs: u32, runs: usize) -> Result<Scaling> {
        let on = |runtime, hecs: u32| -> Result<RuntimeRun> {
            let cores = Some(hecs as usize);
            Ok(RuntimeRun { cores, ..runtime_run(maker, program, runtime, &[&format!("-N{hecs}")])? })
        };
        let contenders =
            [on(Runtime::Stock, 1)?, on(Runtime::Stock, hecs)?, on(Runtime::Hecaton, 1)?, on(Runtime::Hecaton, hecs)?];
        let mut series = Series::new(&program.name, &contenders);
        series.rounds_of_all(runs)?;
        let ratio = series.until_clear(&series.all(), MAX_ROUNDS_FACTOR * runs, |elapsed| {
            let ratio = ratio(&exactly(elapsed));
            (ratio, ratio.is_clear(BREAK_EVEN, PRECISION))
        })?;
        let [stock_1, stock_n, hecaton_1, hecaton_n] = exactly(series.medians());
        let stock = Speedup { alone: stock_1, together: stock_n };
        let hecaton = Speedup { alone: hecaton_1, together: hecaton_n };
        Ok(Scaling { name: program.name.clone(), stock, hecaton, ratio, runs: series.rounds() })
    }
}

/// How speed-ups compare, from elapsed times in each round: the stock runtime's on one HEC and on several, and
/// Hecaton's.
fn ratio(elapsed: &[Vec<f64>; 4]) -> Estimate {
    Estimate::of_ratios(elapsed[0].len(), |round| {
        let [stock_1, stock_n, hecaton_1, hecaton_n] = elapsed.each_ref().map(|of_one| of_one[round]);
        (hecaton_1 / hecaton_n) / (stock_1 / stock_n)
    })
}

pub fn grid(all: &[Scaling]) -> Grid {
    let row = |s: &Scaling| {
        let times = |x: &Speedup| [x.alone.elapsed, x.together.elapsed];
        let ratio = |of: fn(&Speedup) -> f64| of(&s.hecaton) / of(&s.stock);
        let factors = [s.stock.factor(), s.hecaton.factor(), s.ratio.value, s.ratio.low, s.ratio.high];
        let ratios = [
            ratio(|x| x.alone.elapsed),
            ratio(|x| x.together.elapsed),
            ratio(|x| x.together.cpu),
            ratio(|x| x.together.peak),
        ];
        (s.name.clone(), [&times(&s.stock)[..], &times(&s.hecaton), &factors, &ratios, &[s.runs as f64]].concat())
    };
    let seconds = |head| Column::figure(head, 3);
    Grid {
        name: "parallel",
        title: "Parallel programs: elapsed seconds on one HEC and core (1) and on several (n), speed-ups, and Hecaton : stock".to_owned(),
        columns: vec![
            seconds("stock 1"),
            seconds("stock n"),
            seconds("hecaton 1"),
            seconds("hecaton n"),
            Column::ratio("stock 1:n", Better::Higher),
            Column::ratio("hecaton 1:n", Better::Higher),
            Column::ratio("speed-ups", Better::Higher),
            Column::figure("95% from", 2),
            Column::figure("to", 2),
            Column::ratio("elapsed 1", Better::Lower),
            Column::ratio("elapsed n", Better::Lower),
            Column::ratio("cpu n", Better::Lower),
            Column::ratio("memory n", Better::Lower),
            Column::figure("runs", 0),
        ],
        rows: all.iter().map(row).collect(),
        has_mean: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speedups_are_compared() {
        let at = |elapsed| Sample { elapsed, cpu: 1.0, peak: 1e7, ..Sample::default() };
        let speedup = |one, two| Speedup { alone: at(one), together: at(two) };
        let ratio = ratio(&[[3.0; 2], [2.0; 2], [2.0; 2], [1.0; 2]].map(Vec::from));
        assert!((ratio.value - 4.0 / 3.0).abs() < 1e-12 && ratio.uncertainty() < 1e-12);
        let scaling =
            Scaling { name: "x".into(), stock: speedup(3.0, 2.0), hecaton: speedup(2.0, 1.0), ratio, runs: 2 };
        let grid = grid(&[scaling]);
        let row = &grid.rows[0].1;
        assert_eq!(row.len(), grid.columns.len());
        assert_eq!(row[..6], [3.0, 2.0, 2.0, 1.0, 1.5, 2.0]);
        assert_eq!((row[10], row[13]), (0.5, 2.0));
    }
}
