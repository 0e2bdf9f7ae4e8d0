//! `hecaton bench schedulers`: the five programs of \[SHMP14, §7\] under several schedulers, and how soon an
//! interactive thread runs beside many others. The programs are in `bench/schedulers`.
use super::findings::{medians, Findings, Quantity, Ratio, Row};
use super::goals::Bound;
use super::runtime_run::Run;
use super::{named, runtime_run, RuntimeRun};
use crate::build;
use crate::error::{Fail, Result};
use crate::programs::{self, Maker, Program, Runtime};
use crate::project::Project;
use crate::report::{progress, Better};
use std::{path::Path, time::Duration};

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub enum Part {
    /// Counts sequences in a strand of DNA
    KNucleotide,
    /// Rows of a picture, a thread for each
    Mandelbrot,
    /// Products of a matrix and a vector, in four parts
    SpectralNorm,
    /// Creatures that meet in pairs
    Chameneos,
    /// Prime numbers by a chain of threads
    PrimesSieve,
    /// How late an interactive thread is beside 10,000 in the background
    PriorityPing,
}

/// What a program of the paper mostly does.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Computes,
    Communicates,
}

impl Part {
    /// The program.
    fn program(self) -> &'static str {
        match self {
            Part::KNucleotide => "k_nucleotide",
            Part::Mandelbrot => "mandelbrot_rows",
            Part::SpectralNorm => "spectral_rows",
            Part::Chameneos => "chameneos",
            Part::PrimesSieve => "primes_sieve",
            Part::PriorityPing => "priority_ping",
        }
    }

    /// `None` if it is not one of the paper's.
    fn kind(self) -> Option<Kind> {
        match self {
            Part::KNucleotide | Part::Mandelbrot | Part::SpectralNorm => Some(Kind::Computes),
            Part::Chameneos | Part::PrimesSieve => Some(Kind::Communicates),
            Part::PriorityPing => None,
        }
    }

    /// The arguments of its program. The paper's sieve finds 10,000 primes.
    fn args(self, full: bool) -> &'static [&'static str] {
        match (self, full) {
            (Part::KNucleotide, false) => &["60000"],
            (Part::KNucleotide, true) => &["1000000"],
            (Part::Mandelbrot, false) => &["1200"],
            (Part::Mandelbrot, true) => &["4000"],
            (Part::SpectralNorm, false) => &["900"],
            (Part::SpectralNorm, true) => &["4000"],
            (Part::Chameneos, false) => &["100000"],
            (Part::Chameneos, true) => &["1000000"],
            (Part::PrimesSieve, false) => &["1000"],
            (Part::PrimesSieve, true) => &["10000"],
            (Part::PriorityPing, false) => &["10000", "2"],
            (Part::PriorityPing, true) => &["10000", "30"],
        }
    }
}

/// A scheduler with a runtime and a kind of MVar.
struct Configuration {
    name: &'static str,
    runtime: Runtime,
    /// The folder of its programs. Configurations that share one differ in the runtime only.
    made: &'static str,
    /// Flags for ghc.
    ghc: &'static [&'static str],
    aims: Option<Aims>,
}

/// The most that figures are to be, as multiples of those under the built-in scheduler.
struct Aims {
    /// The time of programs that compute, with any number of HECs.
    computes: f64,
    /// The time of programs that communicate, with one HEC and, if that is aimed at, with two.
    communicates: &'static [f64],
    /// The allocation with one HEC.
    allocation: Option<f64>,
}

const CONFIGURATIONS: [Configuration; 6] = [
    Configuration { name: "unthreaded", runtime: Runtime::Stock, made: "unthreaded", ghc: &[], aims: None },
    Configuration { name: "stock", runtime: Runtime::Stock, made: "plain", ghc: &["-threaded"], aims: None },
    Configuration { name: BUILT_IN, runtime: Runtime::Hecaton, made: "plain", ghc: &["-threaded"], aims: None },
    Configuration {
        name: RUN_QUEUE,
        runtime: Runtime::Hecaton,
        made: "run_queue",
        ghc: &["-threaded", "-DRUN_QUEUE"],
        aims: Some(Aims { computes: 1.1, communicates: &[1.1, 1.1], allocation: None }),
    },
    Configuration {
        name: ACTIVATIONS,
        runtime: Runtime::Hecaton,
        made: "activations",
        ghc: &["-threaded", "-DACTIVATIONS"],
        aims: Some(Aims { computes: 1.05, communicates: &[2.0], allocation: Some(4.0) }),
    },
    Configuration {
        name: USER_MVARS,
        runtime: Runtime::Hecaton,
        made: "user_mvars",
        ghc: &["-threaded", "-DACTIVATIONS", "-DUSER_MVARS"],
        aims: Some(Aims { computes: 1.05, communicates: &[3.5], allocation: Some(4.0) }),
    },
];

/// What the others are compared with.
const BUILT_IN: &str = "built-in";
/// A queue of the runtime that the program names.
const RUN_QUEUE: &str = "run queue";
/// A scheduler written in Haskell, with the runtime's MVars.
const ACTIVATIONS: &str = "activations";
/// The same scheduler, with MVars written in Haskell.
const USER_MVARS: &str = "user MVars";

/// In which the interactive thread is measured.
const OF_PING: [&str; 4] = ["stock", BUILT_IN, RUN_QUEUE, ACTIVATIONS];
/// The 99th percentile of its answers is to be at most this many milliseconds late.
const LATEST: f64 = 2.0;

const HECS: [usize; 2] = [1, 2];

/// A program that takes longer hangs. Most take a second, `priority_ping` and `chameneos` on the stock runtime up to
/// half a minute.
const LIMIT: Duration = Duration::from_secs(60);

/// A configuration with a number of HECs.
struct Contender {
    configuration: &'static Configuration,
    hecs: usize,
}

impl Contender {
    fn all() -> Vec<Contender> {
        let with = |hecs| CONFIGURATIONS.iter().map(move |configuration| Contender { configuration, hecs });
        HECS.into_iter().flat_map(with).filter(|c| c.is_threaded() || c.hecs == 1).collect()
    }

    fn is_threaded(&self) -> bool {
        self.configuration.ghc.contains(&"-threaded")
    }

    fn name(&self) -> String {
        format!("{} -N{}", self.configuration.name, self.hecs)
    }
}

pub struct Workbench<'a> {
    /// For each folder of programs.
    makers: Vec<(&'static str, Maker<'a>)>,
    programs: Vec<Program>,
    pub runs: usize,
    /// Larger sizes.
    full: bool,
}

impl<'a> Workbench<'a> {
    pub fn new(project: &'a Project, dir: &Path, runs: usize, full: bool) -> Result<Workbench<'a>> {
        let library = build::ensure_built(project)?;
        let mut folders = CONFIGURATIONS.map(|c| c.made).to_vec();
        folders.dedup();
        let maker = |made| {
            let folder = dir.join("programs").join(made);
            Ok((made, Maker::with_library(project, folder, library.clone())?))
        };
        let makers = folders.into_iter().map(maker).collect::<Result<_>>()?;
        let programs = programs::find(&project.root.join("bench/schedulers"), &[])?;
        Ok(Workbench { makers, programs, runs, full })
    }

    /// Measures the programs of the paper, and then the interactive thread, as far as they are asked for. The findings
    /// have no figures of what failed, which follows them.
    pub fn measure(&'a self, parts: &'a [Part]) -> impl Iterator<Item = Result<Vec<Findings>>> + 'a {
        let of_paper: Vec<Part> = parts.iter().copied().filter(|part| part.kind().is_some()).collect();
        let of_paper = (!of_paper.is_empty()).then(|| self.of_paper(&of_paper));
        let ping = parts.iter().filter(|part| **part == Part::PriorityPing);
        of_paper.into_iter().chain(ping.map(|part| self.ping(*part))).flat_map(|measured| match measured {
            Ok((findings, failures)) => {
                let failures = failures.into_iter().map(|(_, fail)| Err(fail));
                [Ok(findings)].into_iter().chain(failures).collect()
            }
            Err(fail) => vec![Err(fail)],
        })
    }

    /// Figure 14 of the paper, once for each number of HECs.
    fn of_paper(&self, parts: &[Part]) -> Result<(Vec<Findings>, Failures)> {
        const COST: [Quantity; 2] = [
            Quantity { key: "elapsed", name: "elapsed seconds", digits: 3, better: Better::Lower },
            Quantity { key: "allocated", name: "allocation in MB", digits: 0, better: Better::Lower },
        ];
        let contenders = Contender::all();
        let measured = parts.iter().map(|&part| self.costs(part, &contenders)).collect::<Result<Vec<_>>>()?;
        let on = |hecs: usize| {
            let those: Vec<usize> = (0..contenders.len()).filter(|&n| contenders[n].hecs == hecs).collect();
            let names: Vec<&str> = those.iter().map(|&n| contenders[n].configuration.name).collect();
            let row = |(part, measured): (&Part, &Measured)| Row {
                label: part.program().to_owned(),
                size: None,
                figures: those.iter().map(|&n| measured.figures[n].clone()).collect(),
            };
            let mut found = Findings::new(
                &format!("N{hecs}"),
                format!("Schedulers with -N{hecs}"),
                "program",
                names.iter().map(ToString::to_string).collect(),
                against_built_in(&names),
                &COST,
                parts.iter().zip(&measured).map(row).collect(),
            );
            add_aims(&mut found, parts, hecs);
            found
        };
        let mut all = HECS.map(on);
        aim_at_gain(&mut all);
        let failures = measured.into_iter().flat_map(|m| m.failures).collect();
        let mut found = Vec::from(all);
        found.push(self.shares(parts)?);
        Ok((found, failures))
    }

    /// How much of the time of all HECs activations take. What fails has failed before.
    fn shares(&self, parts: &[Part]) -> Result<Findings> {
        const SHARE: [Quantity; 1] = [Quantity {
            key: "share",
            name: "per cent of the time in switches and upcalls",
            digits: 0,
            better: Better::Lower,
        }];
        let mut contenders = Contender::all();
        contenders.retain(|c| [ACTIVATIONS, USER_MVARS].contains(&c.configuration.name));
        let row = |&part: &Part| {
            let Measured { mut figures, .. } = self.measured(part, &contenders, &["--internal-counters"], |run| {
                let sample = run.run(part.program())?.sample;
                Ok(vec![100.0 * sample.activations / sample.elapsed])
            })?;
            for (found, contender) in figures.iter_mut().zip(&contenders) {
                found.iter_mut().flatten().for_each(|share| *share /= contender.hecs as f64);
            }
            Ok(Row { label: part.program().to_owned(), size: None, figures })
        };
        Ok(Findings::new(
            "share",
            "Share of activations",
            "program",
            contenders.iter().map(Contender::name).collect(),
            Vec::new(),
            &SHARE,
            parts.iter().map(row).collect::<Result<_>>()?,
        ))
    }

    /// The elapsed seconds and the allocation in MB of a program. All contenders must print the same.
    fn costs(&self, part: Part, contenders: &[Contender]) -> Result<Measured> {
        let mut printed: Option<Vec<u8>> = None;
        self.measured(part, contenders, &[], |run| {
            let Run { sample, stdout, .. } = run.run(part.program())?;
            if *printed.get_or_insert_with(|| stdout.clone()) == stdout {
                Ok(vec![sample.elapsed, sample.allocated / 1e6])
            } else {
                Err(Fail::new(format!("{} printed something else {}", part.program(), run.how())))
            }
        })
    }

    /// How late an interactive thread is.
    fn ping(&self, part: Part) -> Result<(Vec<Findings>, Failures)> {
        const LATE: [Quantity; 3] = [
            Quantity { key: "median", name: "milliseconds too late, median", digits: 2, better: Better::Lower },
            Quantity {
                key: "slowest",
                name: "milliseconds too late, 99th percentile",
                digits: 2,
                better: Better::Lower,
            },
            Quantity { key: "most", name: "milliseconds too late, most", digits: 2, better: Better::Lower },
        ];
        let mut contenders = Contender::all();
        contenders.retain(|c| OF_PING.contains(&c.configuration.name));
        let Measured { figures, failures } =
            self.measured(part, &contenders, &[], |run| run.figures(part.program(), LATE.len()))?;
        let row = |(n, figures): (usize, &[Option<Vec<f64>>])| Row {
            label: format!("-N{}", HECS[n]),
            size: None,
            figures: figures.to_vec(),
        };
        let mut found = Findings::new(
            part.program(),
            format!("An interactive thread beside {} in the background", part.args(self.full)[0]),
            "HECs (activations are those of the priority scheduler)",
            OF_PING.map(Into::into).into(),
            against_built_in(&OF_PING),
            &LATE,
            figures.chunks(OF_PING.len()).enumerate().map(row).collect(),
        );
        let activations = OF_PING.iter().position(|name| *name == ACTIVATIONS).expect("one of them");
        for hecs in HECS {
            found.aim_at_figure(&format!("-N{hecs}"), 1, activations, Bound::AtMost(LATEST));
        }
        Ok((vec![found], failures))
    }

    /// Has `measure` run a program with each contender in turns, with more flags. One that fails is not run again.
    fn measured(
        &self,
        part: Part,
        contenders: &[Contender],
        more_flags: &[&str],
        mut measure: impl FnMut(&RuntimeRun) -> Result<Vec<f64>>,
    ) -> Result<Measured> {
        let runs = contenders.iter().map(|c| self.run_of(part, c, more_flags)).collect::<Result<Vec<_>>>()?;
        let mut failures = Failures::new();
        let figures = medians(runs.len(), self.runs, |n| {
            if failures.iter().any(|(failed, _)| *failed == n) {
                return Ok(None);
            }
            progress(&format!("{}: {}", part.program(), contenders[n].name()));
            Ok(measure(&runs[n]).map_err(|fail| failures.push((n, fail))).ok())
        })?;
        Ok(Measured { figures, failures })
    }

    fn run_of(&self, part: Part, contender: &Contender, more_flags: &[&str]) -> Result<RuntimeRun> {
        let Configuration { name, runtime, made, ghc, .. } = *contender.configuration;
        let program = named(&self.programs, part.program())?;
        let program = ghc.iter().fold(program.clone(), |program, flag| program.with_flag(flag));
        let maker = self.makers.iter().find(|(folder, _)| *folder == made).map(|(_, maker)| maker);
        let hecs = format!("-N{}", contender.hecs);
        let hecs = contender.is_threaded().then_some(hecs.as_str());
        let flags = [hecs.as_slice(), more_flags].concat();
        let run = runtime_run(maker.expect("each folder has one"), &program, runtime, &flags)?;
        let args = part.args(self.full).iter().map(Into::into).collect();
        let limit = if self.full { run.limit } else { LIMIT };
        Ok(RuntimeRun { args, label: format!("as {name}"), limit, ..run })
    }
}

/// The numbers of contenders that failed, and what happened.
type Failures = Vec<(usize, Fail)>;

/// The figures of each contender that has not failed.
struct Measured {
    figures: Vec<Option<Vec<f64>>>,
    failures: Failures,
}

/// The ratios of these configurations' figures to those of the built-in scheduler.
fn against_built_in(names: &[&str]) -> Vec<Ratio> {
    let built_in = names.iter().position(|name| *name == BUILT_IN).expect("it is always measured");
    let others = names.iter().enumerate().filter(|(n, _)| *n != built_in);
    others.map(|(of, name)| Ratio { head: format!("{name} : {BUILT_IN}"), of, to: built_in }).collect()
}

/// The aims at ratios to the built-in scheduler with as many HECs.
fn add_aims(found: &mut Findings, parts: &[Part], hecs: usize) {
    for ratio in 0..found.ratios.len() {
        let name = found.contenders[found.ratios[ratio].of].clone();
        let Some(aims) = CONFIGURATIONS.iter().find(|c| c.name == name).and_then(|c| c.aims.as_ref()) else { continue };
        for part in parts {
            let elapsed = match part.kind() {
                Some(Kind::Communicates) => aims.communicates.get(hecs - 1).copied(),
                _ => Some(aims.computes),
            };
            let allocation = aims.allocation.filter(|_| hecs == 1);
            for (quantity, most) in [elapsed, allocation].into_iter().enumerate() {
                if let Some(most) = most {
                    found.aim_at_ratio(part.program(), quantity, ratio, Bound::AtMost(most));
                }
            }
        }
    }
}

/// The sieve takes less time with a second HEC, if scheduler and MVars are written in Haskell.
fn aim_at_gain(all: &mut [Findings; HECS.len()]) {
    let sieve = Part::PrimesSieve.program();
    let [one, two] = all.each_ref().map(|found| found.figure_at(sieve, USER_MVARS, 0));
    if let Some(ratio) = one.zip(two).map(|(one, two)| two / one) {
        all[1].aims.push((format!("elapsed, {sieve}, {USER_MVARS}, -N2 : -N1"), ratio, Bound::AtMost(1.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(hecs: usize, parts: &[Part], elapsed: f64) -> Findings {
        const COST: [Quantity; 2] = [
            Quantity { key: "elapsed", name: "s", digits: 1, better: Better::Lower },
            Quantity { key: "allocated", name: "MB", digits: 0, better: Better::Lower },
        ];
        let names = [BUILT_IN, RUN_QUEUE, ACTIVATIONS, USER_MVARS];
        let row = |part: &Part| Row {
            label: part.program().to_owned(),
            size: None,
            figures: (0..names.len()).map(|n| Some(vec![elapsed * (n + 1) as f64, 10.0])).collect(),
        };
        let mut found = Findings::new(
            &format!("N{hecs}"),
            "",
            "",
            names.map(Into::into).into(),
            against_built_in(&names),
            &COST,
            parts.iter().map(row).collect(),
        );
        add_aims(&mut found, parts, hecs);
        found
    }

    #[test]
    fn figures_are_compared_with_those_of_the_built_in_scheduler() {
        let ratios = against_built_in(&["stock", BUILT_IN, RUN_QUEUE]);
        let read: Vec<(&str, usize, usize)> = ratios.iter().map(|r| (r.head.as_str(), r.of, r.to)).collect();
        assert_eq!(read, [("stock : built-in", 0, 1), ("run queue : built-in", 2, 1)]);
    }

    #[test]
    fn aims_depend_on_what_a_program_does_and_on_the_hecs() {
        let aims = |key: &str, hecs, part| -> Vec<(f64, f64)> {
            let found = found(hecs, &[part], 2.0);
            let of_key = found.aims.iter().filter(|(what, ..)| what.contains(key));
            let bound = |bound| match bound {
                Bound::AtMost(most) => most,
                Bound::AtLeast(_) => f64::NAN,
            };
            of_key.map(|(_, measured, most)| (*measured, bound(*most))).collect()
        };
        assert_eq!(aims("elapsed", 1, Part::Chameneos), [(2.0, 1.1), (3.0, 2.0), (4.0, 3.5)]);
        assert_eq!(aims("elapsed", 2, Part::Chameneos), [(2.0, 1.1)]);
        assert_eq!(aims("elapsed", 2, Part::Mandelbrot), [(2.0, 1.1), (3.0, 1.05), (4.0, 1.05)]);
        assert_eq!(aims("allocated", 1, Part::Mandelbrot), [(1.0, 4.0), (1.0, 4.0)]);
        assert!(aims("allocated", 2, Part::Mandelbrot).is_empty());
    }

    #[test]
    fn the_sieve_is_to_gain_from_the_second_hec() {
        let gain = |parts: &[Part]| {
            let mut all = [found(1, parts, 2.0), found(2, parts, 1.0)];
            let before = all[1].aims.len();
            aim_at_gain(&mut all);
            all[1].aims[before..].iter().map(|(_, measured, _)| *measured).collect::<Vec<_>>()
        };
        assert_eq!(gain(&[Part::Chameneos, Part::PrimesSieve]), [0.5]);
        assert!(gain(&[Part::Chameneos]).is_empty());
    }

    #[test]
    fn the_way_without_threads_has_one_hec() {
        let names: Vec<String> = Contender::all().iter().map(Contender::name).collect();
        assert_eq!(names.len(), HECS.len() * CONFIGURATIONS.len() - 1);
        assert!(names.contains(&"unthreaded -N1".to_owned()) && !names.contains(&"unthreaded -N2".to_owned()));
    }
}
