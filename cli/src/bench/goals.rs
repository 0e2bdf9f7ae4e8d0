//! The project's goals, and the measured figures beside them.
use crate::bench::estimate::Estimate;
use crate::bench::ghc_make::{Comparison, GhcMake};
use crate::bench::parallel::BREAK_EVEN;
use crate::bench::{Pair, Scaling, QUANTITIES};
use crate::programs::{Aimed, Program};
use crate::report::geometric_mean;
use serde_json::{json, Value};

/// A program is GC-bound if collections take more than this part of the stock runtime's elapsed time.
const GC_BOUND: f64 = 0.4;

/// Goals for geometric means of Hecaton's elapsed time as a multiple of stock's.
const ALL: f64 = 0.90;
const COLLECTING: f64 = 0.7;

#[derive(Clone, Copy)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// A measured figure, with or without its confidence interval.
enum Figure {
    Plain(f64),
    Estimated(Estimate),
}

struct Target {
    what: String,
    figure: Figure,
    bound: Bound,
}

impl Target {
    fn measured(&self) -> f64 {
        match self.figure {
            Figure::Plain(value) => value,
            Figure::Estimated(estimate) => estimate.value,
        }
    }

    fn estimate(&self) -> Option<Estimate> {
        match self.figure {
            Figure::Plain(_) => None,
            Figure::Estimated(estimate) => Some(estimate),
        }
    }

    /// The interval contains the bound.
    fn is_open(&self) -> bool {
        let (Bound::AtMost(bound) | Bound::AtLeast(bound)) = self.bound;
        self.estimate().is_some_and(|e| e.low < bound && bound <= e.high)
    }

    fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtMost(bound) => self.measured() <= bound,
            Bound::AtLeast(bound) => self.measured() >= bound,
        }
    }
}

#[derive(Default)]
pub struct Targets(Vec<Target>);

pub fn is_gc_bound(pair: &Pair) -> bool {
    pair.stock.gc > GC_BOUND * pair.stock.elapsed
}

impl Targets {
    pub fn add(&mut self, what: impl Into<String>, measured: f64, bound: Bound) {
        self.0.push(Target { what: what.into(), figure: Figure::Plain(measured), bound });
    }

    /// Of the programs that count towards the geometric mean.
    pub fn of_programs(&mut self, pairs: &[Pair]) {
        let bound: Vec<&Pair> = pairs.iter().filter(|p| is_gc_bound(p)).collect();
        for (kind, pairs, at_most) in [("", pairs.iter().collect(), ALL), ("gc-bound ", bound, COLLECTING)] {
            if !pairs.is_empty() {
                let mean = geometric_mean(pairs.iter().map(|p| p.ratio(&QUANTITIES[0])));
                self.add(
                    format!("elapsed, geometric mean of {} {kind}programs", pairs.len()),
                    mean,
                    Bound::AtMost(at_most),
                );
            }
        }
    }

    /// Of a program with goals of its own.
    pub fn of_program(&mut self, program: &Program, pair: &Pair) {
        for aim in &program.header.aims {
            let (name, quantity) = match aim.quantity {
                Aimed::Elapsed => ("elapsed", &QUANTITIES[0]),
                Aimed::Memory => ("peak memory", &QUANTITIES[3]),
            };
            self.add(format!("{name}, {}", program.name), pair.ratio(quantity), Bound::AtMost(aim.at_most));
        }
    }

    pub fn of_parallel(&mut self, all: &[Scaling]) {
        for scaling in all {
            let (what, figure) = (format!("speed-up, {}", scaling.name), Figure::Estimated(scaling.ratio));
            self.0.push(Target { what, figure, bound: Bound::AtLeast(BREAK_EVEN) });
        }
    }

    pub fn of_ghc_make(&mut self, ghc: &GhcMake) {
        for Comparison { contest, ratio } in &ghc.compared {
            let (what, figure) = (format!("elapsed, {}", contest.what), Figure::Estimated(*ratio));
            self.0.push(Target { what, figure, bound: Bound::AtMost(contest.at_most) });
        }
        if let Some(two) = ghc.at(2) {
            self.add("peak memory, ghc --make -j2, stock tuned", two.hecaton.peak / two.tuned.peak, Bound::AtMost(1.0));
        }
    }

    pub fn text(&self) -> String {
        let width = self.0.iter().map(|t| t.what.chars().count()).max().unwrap_or(0);
        let head = "Targets (Hecaton : stock unless said otherwise)";
        let width = width.max(head.len());
        let mut out = format!("{head:width$}  measured      aimed at  met\n");
        for t in &self.0 {
            let (sign, bound) = match t.bound {
                Bound::AtMost(bound) => ('≤', bound),
                Bound::AtLeast(bound) => ('≥', bound),
            };
            let met = if t.is_met() { "yes" } else { "no" };
            let sure = t.estimate().map_or(String::new(), |e| {
                format!(" ({}{:.2} to {:.2})", if t.is_open() { "cannot be told: " } else { "" }, e.low, e.high)
            });
            out += &format!("{:width$}  {:8.3}  {sign} {bound:10.2}  {met}{sure}\n", t.what, t.measured());
        }
        out
    }

    pub fn json(&self) -> Value {
        let row = |t: &Target| {
            let (key, bound) = match t.bound {
                Bound::AtMost(bound) => ("at_most", bound),
                Bound::AtLeast(bound) => ("at_least", bound),
            };
            let mut row = json!({"what": t.what, "measured": t.measured(), key: bound, "met": t.is_met()});
            if let Some(estimate) = t.estimate() {
                row["interval"] = estimate.json();
                row["open"] = t.is_open().into();
            }
            row
        };
        self.0.iter().map(row).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::ghc_make::Contest;
    use crate::bench::Sample;

    fn pair(name: &str, stock: f64, gc: f64, hecaton: f64) -> Pair {
        let sample = |elapsed, gc| Sample { elapsed, gc, peak: 1e7, ..Sample::default() };
        Pair { name: name.into(), stock: sample(stock, gc), hecaton: sample(hecaton, gc) }
    }

    #[test]
    fn programs_that_mostly_collect_have_a_mean_of_their_own() {
        let mut targets = Targets::default();
        targets.of_programs(&[pair("busy", 1.0, 0.1, 1.0), pair("collects", 1.0, 0.5, 0.64)]);
        let json = targets.json();
        assert_eq!(
            json[0],
            json!({"what": "elapsed, geometric mean of 2 programs", "measured": 0.8, "at_most": 0.9, "met": true})
        );
        assert_eq!(json[1]["measured"], 0.64);
        assert_eq!(json[1]["what"], "elapsed, geometric mean of 1 gc-bound programs");
        assert!(targets.text().contains("0.800  ≤       0.90  yes"));
    }

    #[test]
    fn speed_ups_are_to_be_high_and_times_low() {
        let target = |measured, bound| Target { what: String::new(), figure: Figure::Plain(measured), bound };
        assert!(target(1.1, Bound::AtLeast(1.0)).is_met() && !target(0.9, Bound::AtLeast(1.0)).is_met());
        assert!(!target(1.1, Bound::AtMost(1.0)).is_met() && target(0.9, Bound::AtMost(1.0)).is_met());
    }

    #[test]
    fn what_may_lie_on_either_side_is_said_to_be_open() {
        let target = |value, low, high| {
            let figure = Figure::Estimated(Estimate { value, low, high });
            Targets(vec![Target { what: String::new(), figure, bound: Bound::AtLeast(1.0) }])
        };
        let noisy = target(0.99, 0.97, 1.01);
        assert!(noisy.text().contains("no (cannot be told: 0.97 to 1.01)"));
        assert_eq!((&noisy.json()[0]["open"], &noisy.json()[0]["met"]), (&true.into(), &false.into()));
        for clear in [target(0.97, 0.95, 0.99), target(1.2, 1.1, 1.3)] {
            assert_eq!(clear.json()[0]["open"], false);
        }
    }

    #[test]
    fn ghc_is_held_against_what_it_is_compared_with() {
        let sample = |peak| Sample { elapsed: 2.0, peak, ..Sample::default() };
        let jobs = vec![crate::bench::Jobs { jobs: 2, stock: sample(1.0), tuned: sample(4.0), hecaton: sample(3.0) }];
        let contest = || Contest { what: "-j8".into(), at_most: 1.05, these: 1, those: 0 };
        let comparison = |value| Comparison { contest: contest(), ratio: Estimate { value, low: value, high: value } };
        let mut targets = Targets::default();
        targets.of_ghc_make(&GhcMake {
            constructors: 1,
            jobs,
            compared: vec![comparison(1.0), comparison(1.1)],
            runs: 1,
            runs_of_compared: 1,
        });
        let json = targets.json();
        let met: Vec<&Value> = json.as_array().unwrap().iter().map(|t| &t["met"]).collect();
        assert_eq!(met, [true, false, true]);
        assert_eq!(
            (&json[1]["what"], &json[1]["at_most"], &json[2]["measured"]),
            (&"elapsed, -j8".into(), &1.05.into(), &0.75.into())
        );
    }
}
