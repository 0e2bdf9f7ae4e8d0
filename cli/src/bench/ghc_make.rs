//! Measures `ghc --make -jN`: the installed ghc compiles 64 equal, independent modules.
//!
//! The modules are those of \[Tro16\]: a type with many constructors, each with a field, and four derived classes.
use super::estimate::Estimate;
use super::{RuntimeRun, Sample};
use crate::bench::runtime_run::TIME_LIMIT;
use crate::bench::sampling::Series;
use crate::commands::installed::on_hecaton;
use crate::error::{Fail, Result};
use crate::ghc::Ghc;
use crate::report::{Better, Column, Grid};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

const MODULES: usize = 64;

pub const JOBS: [u32; 4] = [1, 2, 8, 20];

/// The flags that users of the stock runtime were advised to use.
const TUNED: [&str; 2] = ["-A256m", "-qb0"];

/// The goal for Hecaton with as many jobs as cores, as a multiple of the tuned stock runtime's time.
const OF_TUNED: f64 = 1.0;
/// The goal with more jobs, as a multiple of its own time with two.
const OF_TWO_JOBS: f64 = 1.05;

/// How large the modules are.
#[derive(Clone, Copy)]
pub enum Size {
    /// 6 constructors: a few minutes in all.
    Small,
    /// 100 constructors, the size in \[Tro16\].
    Full,
}

impl Size {
    fn constructors(self) -> usize {
        match self {
            Size::Small => 6,
            Size::Full => 100,
        }
    }

    /// Measurements are repeated until it is clear whether a goal is met, up to this multiple of the rounds asked for.
    pub fn max_rounds_factor(self) -> usize {
        match self {
            Size::Small => 10,
            Size::Full => 4,
        }
    }
}

/// The medians at one number of jobs.
pub struct Jobs {
    pub jobs: u32,
    /// The stock runtime at its defaults.
    pub stock: Sample,
    /// The stock runtime with the flags that were found best by hand.
    pub tuned: Sample,
    /// Hecaton with no flags.
    pub hecaton: Sample,
}

/// Two elapsed times that have been compared.
pub struct Comparison {
    pub contest: Contest,
    pub ratio: Estimate,
}

pub struct GhcMake {
    pub constructors: usize,
    pub jobs: Vec<Jobs>,
    pub compared: Vec<Comparison>,
    /// The medians at each number of jobs.
    pub runs: usize,
    /// The comparisons that goals are about.
    pub runs_of_compared: usize,
}

/// Two contenders that are compared.
pub struct Contest {
    pub what: String,
    /// The goal for the ratio of their elapsed times.
    pub at_most: f64,
    /// Their numbers among all contenders.
    pub these: usize,
    pub those: usize,
}

impl Contest {
    fn ratio(&self, elapsed: &[Vec<f64>]) -> Estimate {
        let (these, those) = (&elapsed[self.these], &elapsed[self.those]);
        Estimate::of_ratios(these.len(), |round| these[round] / those[round])
    }
}

/// Compared times differ by a few hundredths, so they are measured to this precision, unless that takes too long.
const PRECISION: f64 = 0.01;

/// The contenders for each number of jobs: their count and positions.
const WAYS: usize = 3;
const ON_TUNED: usize = 1;
const ON_HECATON: usize = 2;

/// The comparisons for `jobs`.
fn contests(jobs: &[u32]) -> Vec<Contest> {
    let Some(two) = jobs.iter().position(|&n| n == 2).map(|n| n * WAYS) else { return Vec::new() };
    let hecaton = two + ON_HECATON;
    let mut all = vec![Contest {
        what: "ghc --make -j2, stock tuned".into(),
        these: hecaton,
        those: two + ON_TUNED,
        at_most: OF_TUNED,
    }];
    for (n, more) in jobs.iter().enumerate().filter(|(_, n)| **n > 2) {
        let what = format!("ghc --make -j{more} : -j2, both Hecaton");
        all.push(Contest { what, these: n * WAYS + ON_HECATON, those: hecaton, at_most: OF_TWO_JOBS });
    }
    all
}

impl GhcMake {
    /// Measures each of `jobs` `runs` times in folder `dir`. Comparisons are repeated up to `max_rounds_factor` times
    /// as often, until it is clear on which side of its bound each lies. Hecaton's libraries are in `lib`.
    pub fn measure(
        ghc: &Ghc,
        lib: &Path,
        dir: &Path,
        size: Size,
        jobs: &[u32],
        runs: usize,
        max_rounds_factor: usize,
    ) -> Result<GhcMake> {
        let sources = generate(&dir.join("sources"), size.constructors())?;
        let environment = on_hecaton(&ghc.path, lib);
        let environment =
            environment.get_envs().filter_map(|(n, v)| Some((n.to_str()?.to_owned(), v?.to_str()?.to_owned())));
        let environment: Vec<(String, String)> = environment.collect();
        let compile = |jobs: u32, label: &str, flags: &[&str], env: &[(String, String)]| {
            let work = dir.join(label.replace(' ', "-"));
            let options =
                ["--make", "-v0", "-fforce-recomp", "-hide-all-packages", "-package=base", "-outputdir", "objects"];
            let mut args: Vec<OsString> = options.map(OsString::from).into();
            args.push(format!("-j{jobs}").into());
            args.extend(sources.iter().map(OsString::from));
            let flags = flags.iter().map(|f| (*f).to_owned()).collect();
            let label = format!("-j{jobs} on the {label} runtime");
            RuntimeRun {
                label,
                executable: ghc.path.clone(),
                args,
                flags,
                env: env.to_vec(),
                stdin: String::new(),
                cores: None,
                limit: TIME_LIMIT,
                work,
            }
        };
        let contenders = jobs.iter().flat_map(|&jobs| {
            [
                compile(jobs, "stock", &[], &[]),
                compile(jobs, "tuned stock", &TUNED, &[]),
                compile(jobs, "hecaton", &[], &environment),
            ]
        });
        let contenders: Vec<RuntimeRun> = contenders.collect();
        // Different numbers of jobs are compared with each other as well, so all of them alternate.
        let mut series = Series::new("ghc_make", &contenders);
        series.rounds_of_all(runs)?;
        let contests = contests(jobs);
        let mut compared: Vec<usize> = contests.iter().flat_map(|c| [c.these, c.those]).collect();
        compared.sort_unstable();
        compared.dedup();
        let ratios = series.until_clear(&compared, max_rounds_factor * runs, |elapsed| {
            let ratios: Vec<Estimate> = contests.iter().map(|c| c.ratio(&elapsed)).collect();
            let all_clear = contests.iter().zip(&ratios).all(|(c, ratio)| ratio.is_clear(c.at_most, PRECISION));
            (ratios, all_clear)
        })?;
        let compared = contests.into_iter().zip(ratios).map(|(contest, ratio)| Comparison { contest, ratio });
        let mut medians = series.medians().into_iter();
        let mut of_jobs =
            |jobs: u32| Some(Jobs { jobs, stock: medians.next()?, tuned: medians.next()?, hecaton: medians.next()? });
        Ok(GhcMake {
            constructors: size.constructors(),
            jobs: jobs.iter().map_while(|&n| of_jobs(n)).collect(),
            compared: compared.collect(),
            runs,
            runs_of_compared: series.rounds(),
        })
    }

    pub fn at(&self, jobs: u32) -> Option<&Jobs> {
        self.jobs.iter().find(|j| j.jobs == jobs)
    }

    fn runs_of_more(&self) -> String {
        match self.runs_of_compared {
            more if more > self.runs => format!(" ({more} of what is compared below)"),
            _ => String::new(),
        }
    }

    pub fn grid(&self) -> Grid {
        let mut columns = Vec::new();
        for (head, digits) in [("s", 2), ("cpu s", 2), ("MB", 0)] {
            columns.extend(
                ["stock", "tuned", "hecaton"].map(|runtime| Column::figure(format!("{runtime} {head}"), digits)),
            );
        }
        columns
            .extend(["hecaton:stock", "hecaton:tuned", "memory:tuned"].map(|head| Column::ratio(head, Better::Lower)));
        let row = |j: &Jobs| {
            let all = [&j.stock, &j.tuned, &j.hecaton];
            let figures = [all.map(|s| s.elapsed), all.map(|s| s.cpu), all.map(|s| s.peak / 1e6)].concat();
            let ratios = [
                j.hecaton.elapsed / j.stock.elapsed,
                j.hecaton.elapsed / j.tuned.elapsed,
                j.hecaton.peak / j.tuned.peak,
            ];
            (format!("-j{}", j.jobs), [&figures[..], &ratios].concat())
        };
        Grid {
            name: "ghc_make",
            title: format!(
                "ghc --make -jN of {MODULES} equal modules ({} constructors each): elapsed, CPU, peak memory; median of {} runs{}; tuned: {}",
                self.constructors,
                self.runs,
                self.runs_of_more(),
                TUNED.join(" ")
            ),
            columns,
            rows: self.jobs.iter().map(row).collect(),
            has_mean: false,
        }
    }
}

/// Writes the modules into folder `dir`.
fn generate(dir: &Path, constructors: usize) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(dir).map_err(|e| Fail::io("create", dir, e))?;
    let write = |n: usize| {
        let path = dir.join(format!("M{n}.hs"));
        fs::write(&path, module(n, constructors)).map_err(|e| Fail::io("write", &path, e))?;
        Ok(path)
    };
    (1..=MODULES).map(write).collect()
}

fn module(n: usize, constructors: usize) -> String {
    let alternatives: String = (1..=constructors).map(|c| format!("   | D{c} {{ f{c} :: Int }}\n")).collect();
    format!("module M{n} where\ndata D = D0\n{alternatives}   deriving (Read, Show, Eq, Ord)\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_equal_but_for_their_names() {
        let text = module(7, 2);
        assert_eq!(text, "module M7 where\ndata D = D0\n   | D1 { f1 :: Int }\n   | D2 { f2 :: Int }\n   deriving (Read, Show, Eq, Ord)\n");
        assert_eq!(module(8, 2), text.replace("M7", "M8"));
    }

    #[test]
    fn rows_have_a_figure_for_each_column() {
        let sample = |elapsed| Sample { elapsed, cpu: 2.0, peak: 1e8, ..Sample::default() };
        let jobs = vec![Jobs { jobs: 2, stock: sample(4.0), tuned: sample(2.0), hecaton: sample(1.0) }];
        let grid = GhcMake { constructors: 10, jobs, compared: Vec::new(), runs: 1, runs_of_compared: 3 }.grid();
        assert_eq!(grid.rows[0].1.len(), grid.columns.len());
        assert_eq!(grid.rows[0].1[9..], [0.25, 0.5, 1.0]);
        assert!(grid.title.contains("median of 1 runs (3 of what is compared below);"));
    }

    #[test]
    fn two_jobs_are_compared_with_the_tuned_runtime_and_with_more() {
        // Of -j1, -j2 and -j8 on the three runtimes, in each of two rounds.
        let elapsed: Vec<Vec<f64>> = [4.0, 4.0, 4.0, 3.0, 2.5, 2.0, 5.0, 3.0, 2.2].map(|s| vec![s; 2]).into();
        let contests = contests(&[1, 2, 8]);
        let ratios: Vec<f64> = contests.iter().map(|c| c.ratio(&elapsed).value).collect();
        assert_eq!(ratios, [0.8, 1.1]);
        assert!(contests[0].what.contains("tuned") && contests[1].what.contains("-j8 : -j2"));
        assert!(super::contests(&[1, 4]).is_empty());
    }
}
