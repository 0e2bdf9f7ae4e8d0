//! `hecaton test --mutants`: bugs that somebody might make, put into a copy of the project one by one, to see which
//! test finds each.
//!
//! 1. The copy is brought up to date (`tree.rs`).
//! 2. The test that each mutant's head (`patch.rs`) names first must pass on the copy as it is. The time that it takes
//!    bounds the time that it has with a mutant. Then each patch is applied, its test is compiled and run (`lab.rs`),
//!    and the copy is put right again. A test that fails kills the mutant. Mutants with cheap tests come first.
//! 3. The same is done with the second test that a head names, and so on, for the mutants that are left.
//! 4. All unit tests and then all conformance programs, plainly, are tried on those that are still left.
mod lab;
mod patch;
mod tree;

use crate::error::{Fail, Result};
use crate::nearest;
use crate::project::Project;
use lab::{Lab, Verdict};
use patch::Patch;
use tree::Tree;

pub fn run(project: &Project, names: &[String]) -> Result<()> {
    let mut patches = patch::all(&project.root)?;
    nearest::check("mutant", names, &patches.iter().map(|p| p.name.clone()).collect::<Vec<_>>())?;
    patches.retain(|p| names.is_empty() || names.iter().any(|n| p.name.contains(n.as_str())));
    patches.sort_by_key(Patch::cost);
    let tree = Tree::new(project)?;
    tree.restore()?;
    let mut lab = Lab::new(&tree);
    let (mut count, mut left) = (Count::default(), patches.iter().collect::<Vec<_>>());
    for n in 0..patches.iter().map(|p| p.killers.len()).max().unwrap_or(0) {
        println!("{} without a mutant", if n == 0 { "the tests" } else { "other tests" });
        lab.verify_killers(left.iter().filter_map(|p| p.killers.get(n)))?;
        let mut still = Vec::new();
        for patch in left {
            let verdict = match patch.killers.get(n) {
                Some(killer) => with(&tree, patch, || lab.judge_by_killer(killer))?,
                None => Verdict::Survived,
            };
            match verdict {
                Verdict::Survived => still.push(patch),
                verdict => count.tell(patch, &verdict, n),
            }
        }
        left = still;
    }
    for patch in left {
        let verdict = with(&tree, patch, || lab.judge_by_all(patch))?;
        count.tell(patch, &verdict, patch.killers.len());
    }
    let Count { killed, expected, wrong } = count;
    println!("{} mutants: {killed} killed, {expected} survive as their heads say, {wrong} wrong", patches.len());
    if wrong == 0 {
        return Ok(());
    }
    Err(Fail::silent(1))
}

/// Looks at the tree with a mutant in it.
fn with(tree: &Tree, patch: &Patch, judge: impl FnOnce() -> Result<Verdict>) -> Result<Verdict> {
    tree.apply(patch)?;
    let verdict = judge();
    tree.restore()?;
    verdict
}

#[derive(Default)]
struct Count {
    killed: usize,
    expected: usize,
    wrong: usize,
}

impl Count {
    /// Reports the verdict over a mutant that `missed` killers of its head have not found.
    fn tell(&mut self, patch: &Patch, verdict: &Verdict, missed: usize) {
        match (verdict, &patch.survives) {
            (Verdict::Killed { by, how, built, ran }, _) => {
                self.killed += 1;
                let (built, ran) = (built.as_secs_f64(), ran.as_secs_f64());
                println!("killed    {}: {by}, {how} ({built:.0} s to build, {ran:.1} s to run)", patch.name);
            }
            (Verdict::Survived, Some(reason)) => {
                self.expected += 1;
                println!("survives  {}: {reason}", patch.name);
            }
            (Verdict::Survived, None) => {
                self.wrong += 1;
                println!("SURVIVES  {}: {}", patch.name, patch.bug);
            }
            (Verdict::DoesNotCompile(said), _) => {
                self.wrong += 1;
                println!("INVALID   {}: it does not compile\n{said}", patch.name);
            }
        }
        patch.killers[..missed].iter().for_each(|k| println!("          not by {k}, which its head names"));
    }
}
