//! `hecaton bench`: the programs in bench/ and the installed ghc on both runtimes, as tables, JSON and pictures.
use super::{bench_events, bench_schedulers, bench_spread, test::install};
use crate::bench::{self, Findings, GhcMake, Pair, Scaling, Size, Targets};
use crate::error::{Fail, Result};
use crate::ghc::Ghc;
use crate::nearest;
use crate::programs::{self, Maker, Program};
use crate::project::Project;
use crate::report::{progress, write_json};
use serde_json::json;
use std::path::Path;

/// The name of the benchmark of the installed ghc.
const GHC_MAKE: &str = "ghc_make";
/// Parallel programs run this many times as often at least. The ratio of their speed-ups has four times in it, so it is
/// less certain than a ratio of two.
const RUNS_OF_PARALLEL: usize = 2;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    /// How many times each program runs in each way; the median counts (parallel programs: twice as many; ghc_make
    /// --full: half). Parallel programs and ghc_make go on, up to four and ten times as long, while it is not clear
    /// whether an aim is met; the means of their rounds' ratios count
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Have ghc_make compile modules of the size that \[Tro16\] measured, which takes an hour or two
    #[arg(long)]
    full: bool,
    /// Only programs whose names contain one of these; `ghc_make` is ghc --make -jN, `par_` names all parallel
    /// programs, and `real_` those on Debian's libraries
    names: Vec<String>,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(clap::Subcommand)]
enum Part {
    /// Measure delays, servers and time limits, as the paper on the event manager does (O'Sullivan, Tibell, 2010)
    ///
    /// Prints a table for each quantity of each part: the stock runtime and Hecaton with -N1 and -N2, their ratios, and
    /// for servers also one in C on epoll. The figures and curves go to build/bench/events. Takes ten minutes.
    ///
    /// Raises the limit of descriptors as far as that is permitted, and measures with fewer clients if there are not
    /// enough. Installs the Debian packages wrk, strace and libghc-network-dev if they are missing (as root or with
    /// sudo).
    Events(bench_events::Options),
    /// Measure programs under schedulers of the runtime and of the library, as the paper on schedulers written in
    /// Haskell does (Sivaramakrishnan, Harris, Marlow, Peyton Jones, 2014)
    ///
    /// Prints tables of time and allocation as its figure 14: the stock runtime and Hecaton's schedulers with -N1 and
    /// -N2, and their ratios to the built-in scheduler; and how soon an interactive thread runs beside many others. The
    /// figures and pictures go to build/bench/schedulers. Takes some minutes.
    Schedulers(bench_schedulers::Options),
    /// Measure messages, calls and reads between two processing elements, packing, and programs that run over two, as
    /// the paper on pHluid does (Flanagan, Nikhil, 1996)
    ///
    /// Prints tables of what each costs, and of programs: the stock runtime and Hecaton with -N1 and -N2, and two
    /// processing elements with a HEC each. The figures and pictures go to build/bench/spread. Takes some minutes.
    Spread(bench_spread::Options),
}

/// The groups of benchmarks.
#[derive(Default)]
struct Results {
    /// Count towards the geometric means.
    pairs: Vec<Pair>,
    /// Programs on Debian's libraries.
    real: Vec<Pair>,
    /// Have goals of their own.
    aimed: Vec<Pair>,
    scalings: Vec<Scaling>,
    ghc: Option<GhcMake>,
    targets: Targets,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    match &options.part {
        Some(Part::Events(options)) => return bench_events::run(project, options),
        Some(Part::Schedulers(options)) => return bench_schedulers::run(project, options),
        Some(Part::Spread(options)) => return bench_spread::run(project, options),
        None => (),
    }
    if let Some(part) = options.names.iter().find(|n| ["events", "schedulers", "spread"].contains(&n.as_str())) {
        return Err(Fail::usage(format!("{part} comes first, then its options: hecaton bench {part} --runs N")));
    }
    let runs = usize::from(options.runs);
    let all = programs::find_directly_in(&project.root.join("bench"), &[])?;
    let names: Vec<String> = all.iter().map(|p| p.name.clone()).chain([GHC_MAKE.to_owned()]).collect();
    nearest::check("benchmark", &options.names, &names)?;
    let selected = programs::find_directly_in(&project.root.join("bench"), &options.names)?;
    let with_ghc = options.names.is_empty() || options.names.iter().any(|n| GHC_MAKE.contains(n.as_str()));
    if selected.iter().any(|p| !p.header.needs.is_empty()) {
        install("bench", project)?;
    }
    let dir = project.build_dir().join("bench");
    let maker = Maker::new(project, dir.join("programs"))?;
    let mut results = Results::default();
    let mut failed = Vec::new();
    for (n, program) in selected.iter().enumerate() {
        progress(&format!("{}/{} {}", n + 1, selected.len(), program.name));
        failed.extend(measure(&maker, program, runs, &mut results).err());
    }
    if with_ghc {
        progress(GHC_MAKE);
        let (size, runs) = if options.full { (Size::Full, runs.div_ceil(2)) } else { (Size::Small, runs) };
        match GhcMake::measure(
            &Ghc::find(project)?,
            maker.library(),
            &dir.join(GHC_MAKE),
            size,
            &bench::JOBS,
            runs,
            size.max_rounds_factor(),
        ) {
            Ok(ghc) => results.ghc = Some(ghc),
            Err(fail) => failed.push(fail),
        }
    }
    progress("");
    results.finish();
    results.report(runs, &dir)?;
    all_succeeded(&failed)
}

/// Prints what each part has measured and the aims, and writes figures and pictures to `dir`. Fails if a part did.
pub fn report_parts(parts: impl Iterator<Item = Result<Vec<Findings>>>, dir: &Path, runs: usize) -> Result<()> {
    let mut targets = Targets::default();
    let mut failed = Vec::new();
    for measured in parts {
        progress("");
        match measured {
            Ok(measured) => {
                for findings in measured {
                    println!("{}", findings.text());
                    findings.write(dir, runs)?;
                    findings.add_aims(&mut targets);
                }
            }
            Err(fail) => failed.push(fail),
        }
    }
    if !targets.is_empty() {
        println!("{}", targets.text());
    }
    println!("medians of {runs} runs; figures and pictures are in {}", dir.display());
    all_succeeded(&failed)
}

/// Reports what failed.
fn all_succeeded(failed: &[Fail]) -> Result<()> {
    failed.iter().for_each(|fail| eprintln!("hecaton: {fail}"));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Fail::silent(1))
    }
}

fn measure(maker: &Maker, program: &Program, runs: usize, results: &mut Results) -> Result<()> {
    if let Some(hecs) = program.header.hecs {
        results.scalings.push(Scaling::measure(maker, program, hecs, RUNS_OF_PARALLEL * runs)?);
        return Ok(());
    }
    let pair = bench::compare(maker, program, runs)?;
    if program.header.is_real() {
        results.real.push(pair);
    } else if program.header.aims.is_empty() {
        results.pairs.push(pair);
    } else {
        results.targets.of_program(program, &pair);
        results.aimed.push(pair);
    }
    Ok(())
}

impl Results {
    /// Compares what was measured with the aims.
    fn finish(&mut self) {
        self.targets.of_programs(&self.pairs);
        self.targets.of_parallel(&self.scalings);
        if let Some(ghc) = &self.ghc {
            self.targets.of_ghc_make(ghc);
        }
    }

    /// Prints, and writes JSON and pictures to `dir`.
    fn report(&self, runs: usize, dir: &Path) -> Result<()> {
        if self.targets.is_empty() && self.real.is_empty() {
            return Ok(());
        }
        let mut written = Vec::new();
        let mut picture = |name: &str| {
            let path = dir.join(name);
            written.push(path.display().to_string());
            path
        };
        let mut all = json!({"runs": runs, "statistic": "median"});
        let mut separator = "";
        for (key, title, pairs) in [
            ("programs", "Programs", &self.pairs),
            ("real", "Programs on Debian's libraries", &self.real),
            ("aimed", "Programs with goals of their own", &self.aimed),
        ] {
            if pairs.is_empty() {
                continue;
            }
            println!("{separator}{title}");
            bench::print(pairs);
            all[key] = bench::json(pairs);
            separator = "\n";
        }
        if !self.pairs.is_empty() {
            bench::picture(&self.pairs, &picture("bench.svg"))?;
        }
        let parallel = (!self.scalings.is_empty()).then(|| bench::scaling_grid(&self.scalings));
        let ghc = self.ghc.as_ref().map(GhcMake::grid);
        for grid in [parallel, ghc].into_iter().flatten() {
            print!("{separator}{}", grid.text());
            all[grid.name] = grid.json();
            grid.plot(&picture(&format!("{}.svg", grid.name)))?;
            separator = "\n";
        }
        if !self.targets.is_empty() {
            print!("{separator}{}", self.targets.text());
        }
        all["targets"] = self.targets.json();
        write_json(&picture("bench.json"), &all)?;
        println!("\nmedian of {runs} runs, but where it says otherwise; written to {}", written.join(", "));
        Ok(())
    }
}
