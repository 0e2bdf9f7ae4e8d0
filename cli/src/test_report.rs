//! Counts tests and reports how each ended.
use std::{io::Write, iter::Sum, ops::AddAssign, sync::Mutex};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl Tally {
    pub fn passed() -> Tally {
        Tally { passed: 1, ..Tally::default() }
    }

    pub fn failed() -> Tally {
        Tally { failed: 1, ..Tally::default() }
    }

    pub fn skipped() -> Tally {
        Tally { skipped: 1, ..Tally::default() }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |mut sum, t| {
            sum += t;
            sum
        })
    }
}

/// Where tests report, one at a time; remembers the failures for the end.
#[derive(Default)]
pub struct Report {
    failures: Mutex<Vec<String>>,
}

impl Report {
    pub fn pass(&self, name: &str, detail: &str) -> Tally {
        self.say(&format!("ok    {name}{}", if detail.is_empty() { String::new() } else { format!(" ({detail})") }));
        Tally::passed()
    }

    pub fn skip(&self, name: &str, reason: &str) -> Tally {
        self.say(&format!("skip  {name}: {reason}"));
        Tally::skipped()
    }

    /// `kind` is the sort of run or step that failed.
    pub fn fail(&self, name: &str, kind: &str, detail: &str) -> Tally {
        let indented: String = detail.lines().map(|l| format!("      {l}\n")).collect();
        self.say(&format!("FAIL  {name}: {kind}\n{}", indented.trim_end_matches('\n')));
        self.failures.lock().expect("no reporter panics").push(format!("{name}: {kind}"));
        Tally::failed()
    }

    /// The failures so far, as lines.
    pub fn failures(&self) -> Vec<String> {
        let mut all = self.failures.lock().expect("no reporter panics").clone();
        all.sort();
        all
    }

    fn say(&self, text: &str) {
        // Tests continue even if nothing reads the output.
        let _ = writeln!(std::io::stdout().lock(), "{text}");
    }
}
