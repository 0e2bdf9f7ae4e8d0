//! `hecaton test`: every test of the project.
//!
//! In order: the unit tests of the crates and the models of their protocols (cargo), the scripts in tests/commands (the
//! command line as a user meets it), the conformance suite, and the programs on Debian's libraries (the bench's among
//! them). Closes with one line of counts, where each run of a program is a test.
use crate::build::package;
use crate::conformance::{
    self, Plan, Session, CHECK, CREW, CREW_STRESS, HECS, MANAGERS, OLD, PACKAGE, PES, PLAIN, SCHEDULERS, SMALL, STRESS,
};
use crate::error::{reason, Fail, Result};
use crate::ghc::Ghc;
use crate::process::{self, End};
use crate::programs::{self, Maker, Program};
use crate::project::Project;
use crate::test_report::{Report, Tally};
use crate::thread_pool::in_parallel;
use crate::unit_tests::{Choice, Kind};
use crate::{mutants, nearest, unit_tests};
use std::{
    collections::HashSet,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

#[derive(clap::Args)]
pub struct Options {
    /// Run conformance programs in the kind `plain` only, and no unit tests and libraries
    #[arg(long)]
    quick: bool,
    /// Run every conformance program in all kinds of run: without this, one that is not named is run in `check` or
    /// `crew`, and on one of the numbers of HECs, as the commit has it, and not in `old`
    #[arg(long)]
    full: bool,
    /// Also run every conformance program with a collection and a heap check at every allocation block
    #[arg(long)]
    stress: bool,
    /// Also run every conformance program on this many HECs: 1, 2, 4 or 8, linked with -threaded
    #[arg(long, value_name = "N", value_parser = ["1", "2", "4", "8"])]
    hecs: Vec<String>,
    /// Also run the conformance programs that are not about their process over this many processing elements: 2 or 4,
    /// linked with -threaded. Without --full, one that is not named is run over one of the numbers given, plainly or
    /// with the heap checker, as the commit has it
    #[arg(long, value_name = "N", value_parser = ["2", "4"])]
    pes: Vec<String>,
    /// Also run the programs that wait for descriptors (the conformance programs in events/ and the programs on the
    /// network) with this event manager
    #[arg(long, value_name = "NAME", value_parser = ["base", "poll"])]
    io_manager: Vec<String>,
    /// Also run the conformance programs about threads with this order of the run queues, or under the schedulers of
    /// the package, linked with that and -threaded, on 1, 2 and 4 HECs. Without --full, one that is not named is run
    /// with one of the orders given, and under one scheduler of the package, as the commit has it
    #[arg(long, value_name = "NAME", value_parser = ["fifo", "lifo", "random", "package"])]
    scheduler: Vec<String>,
    /// Run programs only in those of the kinds chosen otherwise whose names begin so: `small`, `Lifo`, `Lifo-N2`
    #[arg(long, value_name = "NAME")]
    kind: Vec<String>,
    /// Stop each run of a program after this time, instead of after that of its header and its kind
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
    /// Draw the kinds of run by this commit, also for programs that are named
    #[arg(long, value_name = "COMMIT", conflicts_with = "full")]
    draw: Option<String>,
    /// Close with where the time went: by kind, and for the programs that took longest
    #[arg(long)]
    times: bool,
    /// Apply the bugs of tests/mutants one by one, and report which test finds each; names select bugs
    #[arg(long)]
    mutants: bool,
    /// Only tests whose names contain one of these. For conformance programs a folder is part of the name: `ffi` runs
    /// those in ffi/. `unit` stands for the crates' unit tests, `models` for those of lock-free protocols, `unit:TEXT`
    /// and `model:TEXT` for those that contain TEXT
    names: Vec<String>,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    if options.mutants {
        return mutants::run(project, &options.names);
    }
    let of_crates = chosen(project, &options.names)?;
    let others: Vec<String> = options.names.iter().filter(|n| !of_crates.contains(n)).cloned().collect();
    nearest::check("test", &others, &all_names(project)?)?;
    let everything = options.names.is_empty() && !options.quick;
    if everything {
        install("test", project)?;
    }
    Ghc::find(project)?.check_version()?;
    let report = Report::default();
    let mut tally = Tally::default();
    for kind in [Kind::Unit, Kind::Model] {
        let choices = if everything { vec![Choice::All] } else { unit_tests::chosen(project, kind, &options.names)? };
        if !choices.is_empty() {
            tally += unit_tests::run(project, kind, &choices, &report)?;
        }
    }
    let tests = project.root.join("tests");
    tally += scripts(project, &tests.join("commands"), options, &report)?;
    let seed = match &options.draw {
        Some(of) => Some(commit(project, of)),
        None if options.full || !options.names.is_empty() => None,
        None => Some(commit(project, "HEAD")),
    };
    let plan = |always: &[&'static conformance::Kind], one_of: &[&'static conformance::Kind]| match &seed {
        None => Plan::all([always, one_of].concat()),
        Some(seed) => Plan { always: always.to_vec(), one_of: one_of.to_vec(), seed: seed.clone() },
    };
    let mut suite = if options.quick { plan(&[&PLAIN], &[]) } else { plan(&[&PLAIN, &SMALL], &[&CHECK, &CREW]) };
    if seed.is_none() && !options.quick {
        suite.always.push(&OLD);
    }
    if options.stress {
        suite.always.extend([&STRESS, &CREW_STRESS]);
    }
    let libraries = Plan::all(vec![&PLAIN, &SMALL]);
    if let Some(seed) = &seed {
        println!("kinds of run are drawn by {seed} (--full: all)");
    }
    let session = Session {
        packages: packages(project)?,
        only: &options.kind,
        limit: options.limit.map(Duration::from_secs),
        report: &report,
    };
    // The bench's programs on Debian's libraries are tests as well.
    let bench = project.root.join("bench");
    for (suite, folder, plan) in [
        ("conformance", tests.join("conformance"), &suite),
        ("libraries", tests.join("libraries"), &libraries),
        ("bench", bench, &libraries),
    ] {
        if suite != "conformance" && options.quick {
            continue;
        }
        let selected = if suite == "bench" {
            let mut all = programs::find_directly_in(&folder, &options.names)?;
            all.retain(|p| p.header.is_real());
            all
        } else {
            programs::find(&folder, &options.names)?
        };
        if !selected.is_empty() {
            let maker = Maker::new(project, project.build_dir().join("tests").join(suite))?;
            tally += conformance::run(suite, &maker, &selected, plan, &session)?;
        }
    }
    let named = |kinds: &'static [conformance::Kind], names: &[String]| -> Vec<&'static conformance::Kind> {
        kinds.iter().filter(|kind| names.iter().any(|n| n == kind.name)).collect()
    };
    let managers = named(&MANAGERS, &options.io_manager);
    for suite in ["conformance", "libraries"] {
        let mut selected = programs::find(&tests.join(suite), &options.names)?;
        selected.retain(Program::waits_for_descriptors);
        if !selected.is_empty() && !managers.is_empty() {
            let maker = Maker::new(project, project.build_dir().join("tests").join(suite))?;
            tally += conformance::run("io-manager", &maker, &selected, &plan(&[], &managers), &session)?;
        }
    }
    let orders = named(&SCHEDULERS, &options.scheduler);
    if !orders.is_empty() {
        let mut selected = programs::find(&tests.join("conformance"), &options.names)?;
        selected.retain(Program::is_about_threads);
        let maker = Maker::new(project, project.build_dir().join("tests/conformance"))?;
        tally += conformance::run("scheduler", &maker, &selected, &plan(&[], &orders), &session)?;
    }
    let kinds = plan(&[], &named(&HECS, &options.hecs));
    let pes = plan(&[], &PES.iter().filter(|kind| kind.is_over(&options.pes)).collect::<Vec<_>>());
    let under_package = options.scheduler.iter().any(|name| name == "package");
    if !options.hecs.is_empty() || !options.pes.is_empty() || under_package {
        let selected = programs::find(&tests.join("conformance"), &options.names)?;
        let (about_threads, others): (Vec<_>, Vec<_>) =
            selected.into_iter().partition(|p| under_package && p.is_about_threads());
        // Most programs have been made with -threaded already.
        let (made, others): (Vec<_>, Vec<_>) = others.into_iter().partition(Program::is_threaded);
        let others: Vec<_> = others.iter().map(|p| p.with_flag("-threaded")).collect();
        let with_package: Vec<_> = about_threads.iter().map(|p| p.with_flag("-threaded").with_package()).collect();
        let maker = Maker::new(project, project.build_dir().join("tests/hecs"))?;
        if under_package {
            let package = plan(&[], &PACKAGE.iter().collect::<Vec<_>>());
            tally += conformance::run("package", &maker, &with_package, &package, &session)?;
        }
        let made_here = [with_package, others].concat();
        let maker_there = Maker::new(project, project.build_dir().join("tests/conformance"))?;
        for (maker, mut programs) in [(maker, made_here), (maker_there, made)] {
            tally += conformance::run("hecs", &maker, &programs, &kinds, &session)?;
            programs.retain(Program::may_be_spread);
            tally += conformance::run("spread", &maker, &programs, &pes, &session)?;
        }
    }
    finish(tally, &report, options)
}

fn finish(tally: Tally, report: &Report, options: &Options) -> Result<()> {
    if tally == Tally::default() && !options.names.is_empty() {
        return Err(Fail::usage(format!("no test is called {}", options.names.join(" or "))));
    }
    let failures = report.failures();
    if !failures.is_empty() {
        println!("\nfailed:");
        failures.iter().for_each(|f| println!("  {f}"));
    }
    if options.times {
        report.say_times();
    }
    println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped);
    if tally.failed > 0 {
        return Err(Fail::silent(1));
    }
    Ok(())
}

/// The full name of a commit, or nothing if git cannot tell.
fn commit(project: &Project, of: &str) -> String {
    let out = Command::new("git").args(["rev-parse", of]).current_dir(&project.root).output();
    out.map_or_else(|_| String::new(), |out| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// Those of the names that choose unit tests or models.
fn chosen<'a>(project: &Project, names: &'a [String]) -> Result<Vec<&'a String>> {
    let mut of_crates = Vec::new();
    for name in names {
        for kind in [Kind::Unit, Kind::Model] {
            if !unit_tests::chosen(project, kind, std::slice::from_ref(name))?.is_empty() {
                of_crates.push(name);
            }
        }
    }
    Ok(of_crates)
}

/// Everything else that a name may select, and what nearly does.
fn all_names(project: &Project) -> Result<Vec<String>> {
    let tests = project.root.join("tests");
    let mut names = vec!["unit".to_owned(), "models".to_owned()];
    names.extend(scripts_in(&tests.join("commands")).iter().map(|script| stem(script)));
    for folder in [tests.join("conformance"), tests.join("libraries")] {
        let paths = programs::paths(&folder)?;
        names.extend(paths.iter().map(|path| programs::name_of(path).to_owned()));
        names.extend(paths);
    }
    let bench = programs::find_directly_in(&project.root.join("bench"), &[])?;
    names.extend(bench.into_iter().filter(|p| p.header.is_real()).map(|p| p.name));
    Ok(names)
}

fn scripts_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    found.retain(|p| p.extension() == Some(OsStr::new("sh")));
    found.sort();
    found
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Installs the Debian packages of a set (`base`, `bench` or `test`) that are missing.
pub fn install(set: &str, project: &Project) -> Result<()> {
    let status = Command::new(project.root.join("scripts/install-deps.sh")).arg(set).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        // The script has said why.
        Ok(_) => Err(Fail::silent(1)),
        Err(e) => Err(Fail::new(format!("cannot run scripts/install-deps.sh: {}", reason(&e)))),
    }
}

/// Runs the shell scripts in `folder`, two at a time, each in an empty folder.
fn scripts(project: &Project, folder: &Path, options: &Options, report: &Report) -> Result<Tally> {
    let mut chosen = scripts_in(folder);
    chosen.retain(|script| options.names.is_empty() || options.names.iter().any(|n| stem(script).contains(n.as_str())));
    Ok(in_parallel(&chosen, |path| script(project, path, report))?.into_iter().sum())
}

/// Exit code 77 means skipped, with the reason as the last line.
fn script(project: &Project, path: &Path, report: &Report) -> Result<Tally> {
    let stem = stem(path);
    let work = project.build_dir().join("tests/commands").join(&stem);
    let channels = work.with_extension("channels");
    for dir in [&work, &channels] {
        if dir.exists() {
            fs::remove_dir_all(dir).map_err(|e| Fail::io("empty", dir, e))?;
        }
        fs::create_dir_all(dir).map_err(|e| Fail::io("create", dir, e))?;
    }
    let mut command = Command::new("bash");
    command.arg("-eu").arg(path).current_dir(&work);
    command.env("HECATON", project.root.join("hecaton")).env_remove("GHCRTS");
    let outcome = process::run(command, b"", Duration::from_secs(300), &channels)?;
    let said = String::from_utf8_lossy(&[outcome.stdout, outcome.stderr].concat()).into_owned();
    let name = format!("commands/{stem}");
    report.took("script", &name, outcome.elapsed);
    Ok(match outcome.end {
        End::Exit(0) => report.pass(&name, ""),
        End::Exit(77) => report.skip(&name, said.lines().last().unwrap_or("no reason given")),
        end => report.fail(&name, &end.describe(), &format!("{said}\nagain: hecaton test {stem}")),
    })
}

/// The Haskell packages that are installed, and the project's own.
fn packages(project: &Project) -> Result<HashSet<String>> {
    let ghc_pkg = Ghc::find(project)?.path.with_file_name("ghc-pkg");
    let out = Command::new(&ghc_pkg)
        .args(["list", "--global", "--simple-output", "--names-only"])
        .output()
        .map_err(|e| Fail::new(format!("cannot run {}: {}", ghc_pkg.display(), reason(&e))))?;
    package::ensure_built(project)?;
    let installed = String::from_utf8_lossy(&out.stdout).into_owned();
    Ok(installed.split_whitespace().chain([package::NAME]).map(str::to_owned).collect())
}
