//! Measuring programs on both runtimes, in alternation so that whatever else the machine does meets both alike.
mod chart;
mod sample;
mod table;

pub use chart::draw;
pub use sample::{measure, Sample};
pub use table::{json, print};

use crate::{
    fail::{Fail, Result},
    programs::{Maker, Program, Runtime},
};

/// The medians of one program on both runtimes.
pub struct Pair {
    pub name: String,
    pub stock: Sample,
    pub hecaton: Sample,
}

/// A quantity that is compared: how to get it, and below what it counts as equal to that (ratios of nothing mean nothing).
pub struct Quantity {
    pub name: &'static str,
    pub unit: &'static str,
    pub get: fn(&Sample) -> f64,
    pub floor: f64,
}

pub const QUANTITIES: [Quantity; 4] = [
    Quantity { name: "elapsed", unit: "s", get: |s| s.elapsed, floor: 0.001 },
    Quantity { name: "GC", unit: "s", get: |s| s.gc, floor: 0.001 },
    Quantity { name: "longest pause", unit: "ms", get: |s| s.pause * 1e3, floor: 0.1 },
    Quantity { name: "peak memory", unit: "MB", get: |s| s.peak / 1e6, floor: 1.0 },
];

impl Pair {
    /// Hecaton's figure as a multiple of the stock runtime's.
    pub fn ratio(&self, quantity: &Quantity) -> f64 {
        let figure = |s| (quantity.get)(s).max(quantity.floor);
        figure(&self.hecaton) / figure(&self.stock)
    }
}

pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), v| (sum + v.ln(), count + 1));
    if count == 0 {
        return 1.0;
    }
    (sum / f64::from(count)).exp()
}

/// Measures `program` `runs` times on each runtime; both must print the same.
pub fn compare(maker: &Maker, program: &Program, runs: usize) -> Result<Pair> {
    for runtime in [Runtime::Stock, Runtime::Hecaton] {
        maker.make(program, runtime).map_err(|said| Fail::new(format!("{} cannot be built ({}):\n{}", program.name, runtime.name(), said.trim_end())))?;
    }
    let mut samples = [Vec::new(), Vec::new()];
    let mut printed: Option<Vec<u8>> = None;
    for run in 0..runs {
        // Each goes first half of the time.
        let order = if run % 2 == 0 { [Runtime::Stock, Runtime::Hecaton] } else { [Runtime::Hecaton, Runtime::Stock] };
        for runtime in order {
            let (sample, output) = measure(maker, program, runtime)?;
            if printed.get_or_insert_with(|| output.clone()) != &output {
                return Err(Fail::new(format!("{} prints one thing on one runtime and another on the other", program.name)));
            }
            samples[runtime as usize].push(sample);
        }
    }
    let [stock, hecaton] = samples;
    Ok(Pair { name: program.name.clone(), stock: Sample::median(&stock), hecaton: Sample::median(&hecaton) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_means() {
        assert!((geometric_mean([0.5, 2.0].into_iter()) - 1.0).abs() < 1e-12);
        assert!((geometric_mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(std::iter::empty()), 1.0);
    }

    #[test]
    fn ratios_of_next_to_nothing_are_one() {
        let sample = |gc| Sample { elapsed: 1.0, gc, pause: 0.0, peak: 1e7 };
        let pair = Pair { name: String::new(), stock: sample(0.0), hecaton: sample(0.0005) };
        assert_eq!(pair.ratio(&QUANTITIES[1]), 1.0);
    }
}
