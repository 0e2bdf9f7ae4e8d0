//! `hecaton test --mutants`: bugs that somebody might make, put into a copy of the project one by one, to see which
//! test finds each.
//!
//! 1. The copy is brought up to date (`tree.rs`), and the tests that are named as killers must pass on it as it is.
//! 2. Each patch of tests/mutants (`patch.rs`) is applied to the copy. The test that its head names is compiled and
//!    run; if that passes, all unit
//!    tests, and then all conformance programs, plainly (`lab.rs`). The first failure is the mutant's end.
//! 3. The copy is put right again.
mod lab;
mod patch;
mod tree;

use crate::error::{Fail, Result};
use crate::nearest;
use crate::project::Project;
use lab::{Lab, Verdict};
use tree::Tree;

pub fn run(project: &Project, names: &[String]) -> Result<()> {
    let mut patches = patch::all(&project.root)?;
    nearest::check("mutant", names, &patches.iter().map(|p| p.name.clone()).collect::<Vec<_>>())?;
    patches.retain(|p| names.is_empty() || names.iter().any(|n| p.name.contains(n.as_str())));
    let tree = Tree::new(project)?;
    tree.restore()?;
    let lab = Lab::new(&tree);
    println!("the tests without a mutant");
    lab.verify_killers(&patches)?;
    let (mut killed, mut expected, mut wrong) = (0, Vec::new(), Vec::new());
    for patch in &patches {
        tree.apply(patch)?;
        let verdict = lab.judge(patch);
        tree.restore()?;
        match verdict? {
            Verdict::Killed { by, how, built, ran, not_by } => {
                killed += 1;
                println!(
                    "killed    {}: {by}, {how} ({:.0} s to build, {:.1} s to run)",
                    patch.name,
                    built.as_secs_f64(),
                    ran.as_secs_f64()
                );
                not_by.iter().for_each(|k| println!("          not by {k}, which its head names"));
            }
            Verdict::Survived { not_by } => match &patch.survives {
                Some(reason) => {
                    println!("survives  {}: {reason}", patch.name);
                    expected.push(&patch.name);
                }
                None => {
                    println!("SURVIVES  {}: {}", patch.name, patch.bug);
                    not_by.iter().for_each(|k| println!("          not found by {k}"));
                    wrong.push(&patch.name);
                }
            },
            Verdict::DoesNotCompile(said) => {
                println!("INVALID   {}: it does not compile\n{said}", patch.name);
                wrong.push(&patch.name);
            }
        }
    }
    println!(
        "{} mutants: {killed} killed, {} survive as their heads say, {} wrong",
        patches.len(),
        expected.len(),
        wrong.len()
    );
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Fail::silent(1))
}
