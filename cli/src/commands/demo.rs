//! `hecaton demo`: the whole way, from an empty Debian to figures.
//!
//! Installs what is missing, builds the runtime, and takes two steps on it: the installed ghc, unmodified, compiles the
//! project in demo/ and links it with Hecaton; then that program works on real input. The same two steps on the stock
//! runtime follow, for comparison.
use super::{ghc, installed::on_hecaton, test::install};
use crate::build;
use crate::error::{Fail, Result};
use crate::ghc::Ghc;
use crate::process::{self, End, Outcome};
use crate::project::Project;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The two steps on one runtime.
struct Steps {
    compile: Outcome,
    work: Outcome,
}

pub fn run(project: &Project) -> Result<()> {
    println!("1. Installing what is missing from Debian");
    install("base", project)?;
    println!("2. Building the runtime");
    let lib = build::ensure_built(project)?;
    let ghc = Ghc::find(project)?;
    ghc.check_version()?;
    let dir = project.build_dir().join("demo");
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(|e| Fail::io("empty", &dir, e))?;
    }
    let sources = project.root.join("demo");
    let input = sources.join("programs/tour.mini");
    println!(
        "3. Compiling {} with {}, running on Hecaton, and linking the program with Hecaton",
        sources.display(),
        ghc.path.display()
    );
    let mut command = on_hecaton(&ghc.path, &lib);
    // ghc on Hecaton takes the same arguments as a ghc that links with Hecaton.
    command.args(ghc::linking(project, &lib, &["-threaded"])?.get_args());
    let compile = build_project(command, &sources, &dir.join("hecaton"))?;
    print!("{}", String::from_utf8_lossy(&compile.stdout));
    println!("4. Running the program, linked with Hecaton, on {}", input.display());
    let hecaton = Steps { compile, work: run_project(&dir.join("hecaton"), &input)? };
    print!("{}", String::from_utf8_lossy(&hecaton.work.stdout));
    println!("5. The same two steps on the stock runtime");
    let compile = build_project(Command::new(&ghc.path), &sources, &dir.join("stock"))?;
    let stock = Steps { compile, work: run_project(&dir.join("stock"), &input)? };
    if hecaton.work.stdout != stock.work.stdout {
        return Err(Fail::new("the program prints one thing on Hecaton and another on the stock runtime"));
    }
    println!("Both runtimes gave the same answers.\n");
    table(&hecaton, &stock);
    Ok(())
}

fn build_project(mut ghc: Command, sources: &Path, out: &Path) -> Result<Outcome> {
    fs::create_dir_all(out).map_err(|e| Fail::io("create", out, e))?;
    ghc.args(["--make", "-O", "-threaded", "-outputdir"])
        .arg(out)
        .arg("-o")
        .arg(out.join("mini"))
        .arg("Main.hs")
        .current_dir(sources);
    finished("ghc", process::run(ghc, b"", TIME_LIMIT, out)?)
}

fn run_project(out: &Path, input: &Path) -> Result<Outcome> {
    let program: PathBuf = out.join("mini");
    let text = fs::read(input).map_err(|e| Fail::io("read", input, e))?;
    finished("the program", process::run(Command::new(program), &text, TIME_LIMIT, out)?)
}

fn finished(what: &str, outcome: Outcome) -> Result<Outcome> {
    if outcome.end == End::Exit(0) {
        return Ok(outcome);
    }
    eprint!("{}{}", String::from_utf8_lossy(&outcome.stdout), String::from_utf8_lossy(&outcome.stderr));
    Err(Fail::new(format!("{what} did not finish: {}", outcome.end.describe())))
}

fn table(hecaton: &Steps, stock: &Steps) {
    println!("{:<22} | {:^24} | {:^24}", "", "Hecaton", "stock");
    println!("{:<22} | {:>10}  {:>12} | {:>10}  {:>12}", "step", "time", "peak memory", "time", "peak memory");
    for (name, a, b) in
        [("ghc --make -O", &hecaton.compile, &stock.compile), ("running the program", &hecaton.work, &stock.work)]
    {
        let figures =
            |o: &Outcome| format!("{:>8.2} s  {:>9.1} MB", o.elapsed.as_secs_f64(), o.peak_bytes as f64 / 1e6);
        println!("{name:<22} | {} | {}", figures(a), figures(b));
    }
}
