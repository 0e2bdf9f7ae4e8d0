//! `hecaton study`: answers the questions of \[HMP05\] by measuring, as text, JSON and pictures.
use super::test::install;
use crate::build::{ensure_variant, Evaluation};
use crate::error::Result;
use crate::ghc::Ghc;
use crate::programs::{self, Maker};
use crate::project::Project;
use crate::report::{progress, write_json};
use crate::study::{Laboratory, Question};
use serde_json::json;

#[derive(clap::Args)]
pub struct Options {
    /// How many times each program runs in each way
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// A few of the programs, once each: a minute or two instead of ten minutes to half an hour
    #[arg(long, conflicts_with = "runs")]
    quick: bool,
    /// Only these questions
    #[arg(value_enum)]
    questions: Vec<Question>,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    install("bench", project)?;
    let dir = project.build_dir().join("study");
    let programs = |name: &str| dir.join("programs").join(name);
    let lab = Laboratory {
        plain: Maker::new(project, programs("plain"))?,
        grey: Maker::new(project, programs("grey"))?,
        atomic: Maker::with_library(project, programs("atomic"), ensure_variant(project, Evaluation::Atomic)?)?,
        programs: programs::find_directly_in(&project.root.join("bench"), &[])?,
        assembler: project.root.join("scripts/assemble-atomic"),
        ghc: Ghc::find(project)?.path,
        dir: dir.clone(),
        runs: if options.quick { 1 } else { options.runs.into() },
        quick: options.quick,
    };
    let all = [Question::Evaluation, Question::Meetings, Question::Jobs];
    let asked = |q: &Question| options.questions.is_empty() || options.questions.contains(q);
    let mut answers = json!({"runs": lab.runs});
    for question in all.into_iter().filter(asked) {
        let grid = lab.answer(question, &progress)?;
        progress("");
        println!("{}", grid.text());
        answers[grid.name] = grid.json();
        grid.plot(&dir.join(format!("{}.svg", grid.name)))?;
    }
    let path = dir.join("study.json");
    write_json(&path, &answers)?;
    println!("{} runs each; figures and pictures are in {}", lab.runs, dir.display());
    Ok(())
}
