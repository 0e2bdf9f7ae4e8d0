//! Counts tests and reports how each ended.
use std::{collections::BTreeMap, io::Write, iter::Sum, ops::AddAssign, sync::Mutex, time::Duration};

/// The number of tests that a list of times has.
const LONGEST_SHOWN: usize = 30;

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
    /// By the sort of run or step, and the name of the test.
    times: Mutex<Vec<(String, String, Duration)>>,
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

    /// A run or step of this sort took so long.
    pub fn took(&self, kind: &str, name: &str, time: Duration) {
        self.times.lock().expect("no reporter panics").push((kind.to_owned(), name.to_owned(), time));
    }

    /// Shows the sums of the times by kind and for the tests that took longest. Tests run two at a time.
    pub fn say_times(&self) {
        let times = self.times.lock().expect("no reporter panics");
        self.say("\ntimes by kind, and the tests that took longest:");
        let by_kind = sums(times.iter().map(|(kind, _, time)| (kind.as_str(), *time)));
        let by_test = sums(times.iter().map(|(_, name, time)| (name.as_str(), *time)));
        for (of, time, runs) in by_kind.iter().chain(by_test.iter().take(LONGEST_SHOWN)) {
            self.say(&format!("{:9.1} s in {runs:4}  {of}", time.as_secs_f64()));
        }
    }

    fn say(&self, text: &str) {
        // Tests continue even if nothing reads the output.
        let _ = writeln!(std::io::stdout().lock(), "{text}");
    }
}

/// The sums for each name with the numbers of summands, the greatest first.
fn sums<'a>(times: impl Iterator<Item = (&'a str, Duration)>) -> Vec<(&'a str, Duration, usize)> {
    let mut by_name: BTreeMap<&str, (Duration, usize)> = BTreeMap::new();
    for (name, time) in times {
        let sum = by_name.entry(name).or_default();
        *sum = (sum.0 + time, sum.1 + 1);
    }
    let mut sums: Vec<_> = by_name.into_iter().map(|(name, (time, runs))| (name, time, runs)).collect();
    sums.sort_by_key(|(_, time, _)| std::cmp::Reverse(*time));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_by_name() {
        let seconds = Duration::from_secs;
        let times = [("a", seconds(1)), ("b", seconds(5)), ("a", seconds(2))];
        assert_eq!(sums(times.into_iter()), [("b", seconds(5), 1), ("a", seconds(3), 2)]);
    }
}
