//! The `hecaton` command: parses the command line and runs one of the commands.
mod bench;
mod build;
mod commands;
mod conformance;
mod elf;
mod error;
mod ghc;
#[cfg(test)]
mod layers;
mod mutants;
mod nearest;
mod process;
mod programs;
mod project;
#[cfg(test)]
mod prose;
mod report;
mod spread;
mod study;
mod test_report;
mod thread_pool;
mod unit_tests;

use crate::error::{Fail, Result};
use clap::{
    error::{ContextKind, ContextValue, ErrorKind},
    Parser, Subcommand,
};
use project::Project;
use std::{ffi::OsString, process::exit};

#[derive(Parser)]
#[command(name = "hecaton", about = "A runtime system for programs compiled by GHC 9.0.2", version)]
struct Cli {
    #[command(subcommand)]
    command: Cmd,
}

/// All commands.
const COMMANDS: &str = "build, ghc, run, spread, mpi-shim, test, bench, study, demo";

#[derive(Subcommand)]
enum Cmd {
    /// Build the runtime's libraries and the Haskell package hecaton (quick when nothing changed, silent on success)
    Build,
    /// Run ghc, and link programs with Hecaton instead of GHC's runtime
    ///
    /// All arguments go to ghc, from any folder; for example: hecaton ghc -O -threaded Main.hs. Static and -dynamic
    /// programs, with or without -threaded, -debug and -eventlog, are linked with Hecaton. The package hecaton (modules
    /// Hecaton.Event and Hecaton.Substrate) is visible. HECATON_GHC names the ghc to use when it is not the one on
    /// PATH.
    ///
    /// For cabal, the same compiler is the file bin/ghc of this project: cabal build -w /path/to/hecaton/bin/ghc
    #[command(override_usage = "hecaton ghc ARGS…")]
    Ghc {
        /// Arguments for ghc
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Run an installed, dynamically linked Haskell program on Hecaton, without relinking it
    ///
    /// For example: hecaton run ghc --make -O Main.hs. The program must have been made by GHC 9.0.2 with -dynamic, as
    /// Debian's ghc itself is; a script that starts such a program will do too, and so will a program that `hecaton
    /// ghc` has linked.
    ///
    /// With --blackholes, the program tells at its end how long its threads have waited for thunks that others
    /// evaluated, and for which; HECATON_SHOW=blackholes in the environment asks any program on Hecaton for the same.
    ///
    /// With --scheduler, threads run in another order. fifo: the thread that has waited longest is next. lifo: the last
    /// one that became runnable. random:SEED: any, on one HEC, and threads are stopped after random amounts of
    /// allocation; the same seed gives the same order again. HECATON_SCHEDULER=NAME in the environment asks any program
    /// on Hecaton for the same.
    ///
    /// With --explore=N, the program runs once plainly and then with random:1 to random:N, without input and with its
    /// standard output dropped. The first seed with which its exit code is another, or with which it does not end in a
    /// second and ten times the time of the plain run, is reported with what the program printed on standard error and
    /// with the command that repeats it; the exit code is 1 then.
    #[command(override_usage = "hecaton run [OPTIONS] PROGRAM ARGS…")]
    Run(commands::run::Options),
    /// Run a program over several processing elements: processes, each with its own heap
    ///
    /// For example: hecaton spread -n 4 ./Main. The program must be one that `hecaton ghc -threaded` has linked, not
    /// -dynamic. PE 0 runs main; it has the input, and its exit code is that of the command. The others take sparks
    /// (par, strategies), and fetch the data that these need. Hecaton.Cluster says which PE a thread runs on, places
    /// work and performs actions elsewhere. With +RTS -s PE 0 also prints what all have counted, and with +RTS -l it
    /// writes one event log for all, which ThreadScope opens.
    ///
    /// The outputs of all PEs come in whole lines: a line that has no end is shown when the run ends. If a PE is lost
    /// the run ends with an error. With -n 1 the program is just run.
    ///
    /// With --hosts a:2,b:4 two PEs run on host a, among them PE 0, and four on b. With -n, that many are dealt to the
    /// hosts in order. Hosts are reached by ssh; HECATON_RSH names another command, which gets the host and a command
    /// line for its shell. Each host needs this hecaton and the same program, by the same paths: a program that differs
    /// is refused. The program runs in the same folder, if the host has it, and sees variables HECATON_… of this
    /// environment, but no others of it. PEs of different hosts send each other UDP packets, which are signed, but not
    /// encrypted. The end of a program by a signal is exit code 128 and its number.
    #[command(
        override_usage = "hecaton spread -n N PROGRAM ARGS…\n       hecaton spread --hosts HOST:N,HOST:N… PROGRAM ARGS…"
    )]
    Spread(commands::spread::Options),
    /// Make the library by which programs run over several processes under mpirun or srun
    ///
    /// For example: hecaton mpi-shim, and then mpirun -n 4 ./Main. A program that `hecaton ghc -threaded` has linked
    /// becomes one of several processing elements if an MPI launcher has started it as one of several processes; see
    /// `hecaton spread` for what that means. For this it loads a library that knows the MPI of the machine,
    /// libhecaton-mpi-openmpi.so or libhecaton-mpi-mpich.so. This command compiles it; its path is printed. Programs
    /// look for it in their own folder, in ~/.local/lib/hecaton, and where the system looks for libraries.
    ///
    /// HECATON_MPI=off in the environment runs each process by itself. So does a program that is linked with MPI. on,
    /// openmpi, mpich or the path of such a library ask for it in any case.
    MpiShim(commands::mpi_shim::Options),
    /// Start the processing elements of this host, for `hecaton spread --hosts` elsewhere
    #[command(hide = true)]
    SpreadHost,
    /// Run the tests: unit tests, the command line, conformance with the stock runtime, and Debian's libraries
    ///
    /// Installs the Debian packages that tests need and that are missing (as root or with sudo), unless tests are
    /// named. Ends with the counts, and exit code 1 if any test failed.
    ///
    /// With --mutants, the tests are tested: in a copy of the project each bug of tests/mutants is put in by itself,
    /// and the tests that should find it are run. Exit code 1 if one survives that should not.
    Test(commands::test::Options),
    /// Measure the programs in bench/ and the installed ghc side by side with the stock runtime
    ///
    /// Prints tables: sequential programs (elapsed time, GC time, longest pause, peak memory; an asterisk marks those
    /// that spend over 40% of the stock runtime's time in GC); parallel programs on one HEC and on several, with their
    /// speed-ups; ghc --make -jN on Hecaton, on the stock runtime and on the same with hand-tuned flags; and what the
    /// project aims at beside what was measured. The figures and pictures go to build/bench.
    ///
    /// Installs the Debian packages that the selected programs need and that are missing (as root or with sudo).
    Bench(commands::bench::Options),
    /// Measure what lock-free evaluation saves and costs, as the paper on it does (Harris, Marlow, Peyton Jones, 2005)
    ///
    /// evaluation: CPU time of the sequential programs of bench/ as they are, with grey-holing (thunks claimed when
    /// they are entered), and with claims and updates by atomic instructions. meetings: how often threads of the
    /// parallel programs met on a thunk, and how much work was done twice. jobs: how ghc --make speeds up with -j.
    /// Prints tables; the figures and pictures go to build/study.
    Study(commands::study::Options),
    /// Install what is missing, build, and compile and run a real project on Hecaton and on the stock runtime
    Demo,
}

fn main() {
    // If the reader of the output closes the pipe, this command ends.
    // SAFETY: no handler is replaced but Rust's "ignore".
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    if let Err(fail) = start() {
        if !fail.message.is_empty() {
            eprintln!("hecaton: {fail}");
        }
        exit(fail.code);
    }
}

fn start() -> Result<()> {
    let cli = Cli::try_parse().or_else(usage_error)?;
    let project = Project::locate()?;
    match cli.command {
        Cmd::Build => build::ensure_built(&project).and_then(|_| build::package::ensure_built(&project)).map(drop),
        Cmd::Ghc { args } => commands::ghc::run(&project, &args),
        Cmd::Run(options) => commands::run::run(&project, &options),
        Cmd::Spread(options) => commands::spread::run(&options),
        Cmd::MpiShim(options) => commands::mpi_shim::run(&project, &options),
        Cmd::SpreadHost => spread::agent::run(),
        Cmd::Test(options) => commands::test::run(&project, &options),
        Cmd::Bench(options) => commands::bench::run(&project, &options),
        Cmd::Study(options) => commands::study::run(&project, &options),
        Cmd::Demo => commands::demo::run(&project),
    }
}

/// Help and the version are printed as they are; a wrong argument becomes one line and exit code 2.
fn usage_error(error: clap::Error) -> Result<Cli> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Err(Fail::usage(format!("which command? ({COMMANDS}; see --help)")))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
            Err(Fail::usage(format!("{missing} is missing (see --help)")))
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(Fail::usage(format!("{}{} (see --help)", first.trim_start_matches("error: "), instead(&error))))
        }
    }
}

/// Suggests a replacement for a wrong argument: the nearest, or all choices.
fn instead(error: &clap::Error) -> String {
    let words = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    };
    let near = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .into_iter()
        .flat_map(words)
        .next();
    let choices = words(ContextKind::ValidValue).join(", ");
    match (near, error.kind()) {
        (Some(near), _) if choices.is_empty() => format!("; did you mean {near}?"),
        (Some(near), _) => format!("; did you mean {near}? It is one of {choices}"),
        (None, ErrorKind::InvalidSubcommand) => format!("; it is one of {COMMANDS}"),
        (None, _) if !choices.is_empty() => format!("; it is one of {choices}"),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> String {
        match Cli::try_parse_from(line.split(' ')) {
            Ok(_) => "taken".to_owned(),
            Err(error) => usage_error(error).err().expect("a wrong argument").message,
        }
    }

    #[test]
    fn wrong_arguments_are_answered_with_the_right_ones() {
        for (line, text) in [
            ("hecaton biuld", "did you mean build?"),
            ("hecaton frobnicate", "one of build, ghc, run, spread, mpi-shim, test, bench, study, demo"),
            ("hecaton study nosuch", "one of evaluation, meetings, jobs"),
            ("hecaton study meting", "did you mean meetings? It is one of evaluation, meetings, jobs"),
            ("hecaton test --hecs 3", "one of 1, 2, 4, 8"),
            ("hecaton test --qick", "did you mean --quick?"),
            ("hecaton bench --runs 0", "1.."),
            ("hecaton run --scheduler=random ls", "one of fifo, lifo and random:SEED"),
            ("hecaton run --scheduler=random:-1 ls", "one of fifo, lifo and random:SEED"),
            ("hecaton run --explore=0 ls", "1.."),
            ("hecaton run --explore=few ls", "invalid digit"),
            ("hecaton run --explore=9 --scheduler=fifo ls", "--explore <N>"),
            ("hecaton run --explore=9 --blackholes ls", "--explore <N>"),
            ("hecaton run --jobs=2 ls", "--explore <N> is missing"),
            ("hecaton run --explore=9", "PROGRAM"),
            ("hecaton spread -n 0 ls", "1..=1000"),
            ("hecaton spread --hosts a:2 -n 1001 ls", "1..=1000"),
            ("hecaton spread --hosts a:2", "PROGRAM"),
            ("hecaton spread ls", "-n <N>"),
            ("hecaton spread -n 2", "PROGRAM"),
            ("hecaton bench events pnog", "did you mean pong?"),
            ("hecaton bench schedulers chameleons", "did you mean chameneos?"),
        ] {
            assert!(answer(line).contains(text), "{line}: {}", answer(line));
        }
        let all = <Cli as clap::CommandFactory>::command();
        let shown = all.get_subcommands().filter(|c| !c.is_hide_set()).map(|c| c.get_name());
        assert_eq!(shown.collect::<Vec<_>>().join(", "), COMMANDS);
        assert!(all.find_subcommand(spread::agent::COMMAND).is_some());
    }
}
