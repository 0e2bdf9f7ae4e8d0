//! Medians, and estimates with a confidence interval from resampling.
use serde_json::{json, Value};

/// Resamplings per estimate: enough for the ends of an interval to be stable in the digits that are printed.
const RESAMPLINGS: usize = 2000;
/// The part of the resamplings that lies outside of an interval, on each side. The interval holds 95% of them.
const TAIL: f64 = 0.025;

/// An interval of this relative half-width is mostly narrow enough, whatever it is compared with.
pub const PRECISION: f64 = 0.02;
/// Measurements are repeated until it is clear on which side of a bound a figure lies, up to this multiple of the
/// rounds that were asked for.
pub const MAX_ROUNDS_FACTOR: usize = 4;

/// A figure, and the interval in which 95% of its resamplings lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// A bootstrap over rounds: `figure` computes the value from the numbers of some rounds, each perhaps several
    /// times. What is measured in one round is kept together, because it meets the machine in the same state.
    pub fn over(rounds: usize, figure: impl Fn(&[usize]) -> f64) -> Estimate {
        let all: Vec<usize> = (0..rounds).collect();
        // A fixed seed: the same measurements give the same figures.
        let mut random = fastrand::Rng::with_seed(1);
        let mut resampled: Vec<f64> = (0..RESAMPLINGS)
            .map(|_| figure(&all.iter().map(|_| random.usize(0..rounds)).collect::<Vec<_>>()))
            .collect();
        resampled.sort_by(f64::total_cmp);
        let outside = (RESAMPLINGS as f64 * TAIL) as usize;
        Estimate { value: figure(&all), low: resampled[outside], high: resampled[RESAMPLINGS - 1 - outside] }
    }

    /// The geometric mean over rounds of each round's `ratio`. A disturbance slows down a whole round, so this is more
    /// certain than a ratio of medians from different rounds.
    pub fn of_ratios(rounds: usize, ratio: impl Fn(usize) -> f64) -> Estimate {
        let logarithms: Vec<f64> = (0..rounds).map(|round| ratio(round).ln()).collect();
        Estimate::over(rounds, |rounds| {
            (rounds.iter().map(|&r| logarithms[r]).sum::<f64>() / rounds.len() as f64).exp()
        })
    }

    /// Is it clear on which side of `bound` the value lies, or is the interval at most as wide as `precision`?
    pub fn is_clear(&self, bound: f64, precision: f64) -> bool {
        self.uncertainty() <= precision || self.is_far_from(bound)
    }

    /// The relative half-width of the interval.
    pub fn uncertainty(&self) -> f64 {
        (self.high - self.value).max(self.value - self.low) / self.value
    }

    /// Is the interval further from `figure` than it is wide? (Stopping as soon as it excludes `figure` would often
    /// stop by chance.)
    fn is_far_from(&self, figure: f64) -> bool {
        let width = self.high - self.low;
        figure < self.low - width || figure > self.high + width
    }

    pub fn json(&self) -> Value {
        json!([self.low, self.high])
    }
}

/// The median; zero if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0, 10.0]), 2.5);
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([]), 0.0);
    }

    #[test]
    fn what_lies_near_is_not_far() {
        let e = Estimate { value: 1.2, low: 1.1, high: 1.3 };
        assert!(e.is_far_from(0.89) && e.is_far_from(1.51));
        assert!(!e.is_far_from(0.91) && !e.is_far_from(1.2) && !e.is_far_from(1.49));
    }

    #[test]
    fn what_is_near_a_bound_is_to_be_narrow() {
        let narrow = Estimate { value: 1.0, low: 0.99, high: 1.01 };
        let wide = Estimate { value: 1.0, low: 0.9, high: 1.1 };
        let is_clear = |e: &Estimate, bound| e.is_clear(bound, PRECISION);
        assert!(is_clear(&narrow, 1.0) && !is_clear(&wide, 1.05) && is_clear(&wide, 2.0));
        assert!(!narrow.is_clear(1.0, 0.005));
    }

    #[test]
    fn what_slows_a_round_down_leaves_ratios_alone() {
        let slow = [1.0, 3.0, 1.0, 2.0, 5.0, 1.5];
        let (these, those) = (slow.map(|s| 1.1 * s), slow);
        let ratio = Estimate::of_ratios(slow.len(), |r| these[r] / those[r]);
        assert!((ratio.value - 1.1).abs() < 1e-12 && ratio.uncertainty() < 1e-12, "{ratio:?}");
        let turned = Estimate::of_ratios(2, |r| [0.5, 2.0][r]);
        assert!((turned.value - 1.0).abs() < 1e-12 && turned.low < 0.51 && turned.high > 1.99, "{turned:?}");
    }

    #[test]
    fn noise_widens_the_interval_and_rounds_narrow_it() {
        let of = |values: &[f64]| Estimate::over(values.len(), |rounds| median(rounds.iter().map(|&r| values[r])));
        assert_eq!(of(&[2.0; 5]), Estimate { value: 2.0, low: 2.0, high: 2.0 });
        let noisy: Vec<f64> = (0..10).map(|n| 1.0 + f64::from(n * 7 % 10) / 10.0).collect();
        let calm: Vec<f64> = noisy.iter().map(|v| 1.45 + (v - 1.45) / 10.0).collect();
        let (loose, tight, long) = (of(&noisy), of(&calm), of(&noisy.repeat(20)));
        assert!(loose.low < 1.45 && loose.high > 1.45);
        assert!(tight.uncertainty() < loose.uncertainty() / 5.0);
        assert!(long.uncertainty() < loose.uncertainty() / 2.0);
    }
}
