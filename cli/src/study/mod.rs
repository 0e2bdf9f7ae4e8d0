//! Repeats measurements of lock-free evaluation (\[HMP05\], sections 6 and 7) with this runtime and the programs of
//! bench/.
//!
//! Each question is a file, and answers with a grid:
//!  * `evaluation`: what claiming thunks when they are entered adds to lock-free evaluation, and what atomic
//!    instructions add to that;
//!  * `meetings`: how often two threads met on a thunk, and how much work was done twice;
//!  * `jobs`: how ghc itself speeds up with -j.
mod contention;
mod evaluation;
mod jobs;

use crate::bench::{runtime_run, RuntimeRun};
use crate::error::Result;
use crate::programs::{Maker, Program, Runtime};
use crate::report::Grid;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub enum Question {
    Evaluation,
    Meetings,
    Jobs,
}

/// The tools of a measurement.
pub struct Laboratory<'a> {
    /// Links programs as they are.
    pub plain: Maker<'a>,
    /// For programs whose own code claims thunks when they are entered (*grey-holing*).
    pub grey: Maker<'a>,
    /// The same, claims and updates being atomic instructions.
    pub atomic: Maker<'a>,
    pub programs: Vec<Program>,
    /// Stands in for the assembler.
    pub assembler: PathBuf,
    pub ghc: PathBuf,
    pub dir: PathBuf,
    pub runs: usize,
    /// Whether time is short.
    pub quick: bool,
}

const GREY: &str = "-feager-blackholing";

impl Laboratory<'_> {
    pub fn answer(&self, question: Question, progress: &dyn Fn(&str)) -> Result<Grid> {
        match question {
            Question::Evaluation => evaluation::answer(self, progress),
            Question::Meetings => contention::answer(self, progress),
            Question::Jobs => jobs::answer(self),
        }
    }

    fn plainly(&self, program: &Program, flags: &[&str]) -> Result<RuntimeRun> {
        runtime_run(&self.plain, program, Runtime::Hecaton, flags)
    }

    fn grey(&self, program: &Program, flags: &[&str]) -> Result<RuntimeRun> {
        runtime_run(&self.grey, &program.with_flag(GREY), Runtime::Hecaton, flags)
    }

    fn atomically(&self, program: &Program, flags: &[&str]) -> Result<RuntimeRun> {
        let program = program.with_flag(GREY).with_flag("-pgma").with_flag(&self.assembler.to_string_lossy());
        runtime_run(&self.atomic, &program, Runtime::Hecaton, flags)
    }
}
