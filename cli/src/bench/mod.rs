//! Measures programs on both runtimes. Runs alternate, so that other load on the machine affects both alike.
mod estimate;
pub mod events;
mod findings;
mod ghc_make;
mod goals;
mod in_c;
mod parallel;
mod runtime_run;
mod sample;
mod sampling;
pub mod schedulers;
pub mod spread;
mod table;

pub use crate::bench::goals::Targets;
pub use crate::bench::sampling::alternate;
pub use findings::Findings;
pub use ghc_make::{GhcMake, Jobs, Size, JOBS};
pub use parallel::{grid as scaling_grid, Scaling};
pub use runtime_run::RuntimeRun;
pub use sample::Sample;
pub use table::{json, picture, print};

use crate::bench::runtime_run::TIME_LIMIT;
use crate::error::{Fail, Result};
use crate::programs::{Maker, Program, Runtime};

/// The medians of one program on both runtimes.
pub struct Pair {
    pub name: String,
    pub stock: Sample,
    pub hecaton: Sample,
}

/// A quantity that is compared. Values below its floor count as equal to the floor, because ratios of tiny values mean
/// nothing.
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

/// Measures `program` `runs` times on each runtime; both must print the same.
pub fn compare(maker: &Maker, program: &Program, runs: usize) -> Result<Pair> {
    let contenders =
        [runtime_run(maker, program, Runtime::Stock, &[])?, runtime_run(maker, program, Runtime::Hecaton, &[])?];
    let [stock, hecaton] = alternate(&program.name, &contenders, runs)?;
    Ok(Pair { name: program.name.clone(), stock, hecaton })
}

/// `program` linked with `runtime`, run with these flags for the runtime.
pub fn runtime_run(maker: &Maker, program: &Program, runtime: Runtime, flags: &[&str]) -> Result<RuntimeRun> {
    let built = maker.make(program, runtime);
    let refused = |said: String| {
        Fail::new(format!("{} cannot be built ({}):\n{}", program.name, runtime.name(), said.trim_end()))
    };
    let executable = built.map_err(refused)?;
    Ok(RuntimeRun {
        label: format!("on the {} runtime", runtime.name()),
        executable,
        args: program.header.args.iter().map(Into::into).collect(),
        flags: flags.iter().map(|f| (*f).to_owned()).collect(),
        env: program.header.env.clone(),
        stdin: program.header.stdin.clone(),
        cores: None,
        limit: TIME_LIMIT,
        work: maker.folder(program).join(format!("run-{}{}", runtime.name(), flags.concat())),
    })
}

/// The program with this name.
fn named<'a>(programs: &'a [Program], name: &str) -> Result<&'a Program> {
    let found = programs.iter().find(|p| p.name == name);
    found.ok_or_else(|| Fail::new(format!("there is no benchmark program {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_next_to_nothing_are_one() {
        let sample = |gc| Sample { elapsed: 1.0, gc, peak: 1e7, ..Sample::default() };
        let pair = Pair { name: String::new(), stock: sample(0.0), hecaton: sample(0.0005) };
        assert_eq!(pair.ratio(&QUANTITIES[1]), 1.0);
    }
}
