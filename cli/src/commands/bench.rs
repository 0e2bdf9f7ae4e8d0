//! `hecaton bench`: the programs in bench/ on both runtimes, as a table, JSON and a picture.
use crate::{
    bench::{self, Pair},
    fail::{Fail, Result},
    programs::{self, Maker},
    project::Project,
};
use std::{
    fs,
    io::{stderr, IsTerminal},
};

#[derive(clap::Args)]
pub struct Options {
    /// How many times each program runs on each runtime; the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Only programs whose names contain one of these
    names: Vec<String>,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    let runs = usize::from(options.runs);
    let selected = programs::find(&project.root.join("bench"), &options.names)?;
    if selected.is_empty() {
        return Err(Fail::new(format!("no benchmark is called {}", options.names.join(" or "))));
    }
    let dir = project.build_dir().join("bench");
    let maker = Maker::new(project, dir.join("programs"))?;
    let mut pairs: Vec<Pair> = Vec::new();
    let mut failed = Vec::new();
    for (n, program) in selected.iter().enumerate() {
        if stderr().is_terminal() {
            eprint!("\r\x1b[K{}/{} {}", n + 1, selected.len(), program.name);
        }
        match bench::compare(&maker, program, runs) {
            Ok(pair) => pairs.push(pair),
            Err(fail) => failed.push(fail),
        }
    }
    if stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
    if !pairs.is_empty() {
        bench::print(&pairs);
        let (figures, picture) = (dir.join("bench.json"), dir.join("bench.svg"));
        let text = format!("{:#}\n", bench::json(&pairs, runs));
        fs::write(&figures, text).map_err(|e| Fail::io("write", &figures, e))?;
        bench::draw(&pairs, &picture)?;
        println!("median of {runs} runs; written to {} and {}", figures.display(), picture.display());
    }
    failed.iter().for_each(|fail| eprintln!("hecaton: {fail}"));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Fail::silent(1))
    }
}
