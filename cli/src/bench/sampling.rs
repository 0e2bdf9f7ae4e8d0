//! Runs contenders in turn, so that other load on the machine affects all of them alike.
use crate::bench::runtime_run::Run;
use crate::bench::{RuntimeRun, Sample};
use crate::error::{Fail, Result};

pub struct Series<'a> {
    /// The name of the program in messages.
    name: &'a str,
    contenders: &'a [RuntimeRun],
    /// Each contender's samples, one for each round.
    samples: Vec<Vec<Sample>>,
    /// The output, which is the same for all.
    printed: Option<Vec<u8>>,
}

impl Series<'_> {
    pub fn new<'a>(name: &'a str, contenders: &'a [RuntimeRun]) -> Series<'a> {
        Series { name, contenders, samples: vec![Vec::new(); contenders.len()], printed: None }
    }

    /// Runs each contender once. All must print the same as before.
    fn round(&mut self) -> Result<()> {
        self.round_of(&self.all())
    }

    /// Runs these contenders once, given by their numbers. From now on only these may be run.
    fn round_of(&mut self, some: &[usize]) -> Result<()> {
        for n in turns(some, self.rounds()) {
            let Run { sample, stdout, .. } = self.contenders[n].run(self.name)?;
            if self.printed.get_or_insert_with(|| stdout.clone()) != &stdout {
                return Err(Fail::new(format!(
                    "{} {} prints something else than before",
                    self.name,
                    self.contenders[n].how()
                )));
            }
            self.samples[n].push(sample);
        }
        Ok(())
    }

    /// Runs each contender `runs` times.
    pub fn rounds_of_all(&mut self, rounds: usize) -> Result<()> {
        (0..rounds).try_for_each(|_| self.round())
    }

    /// Returns what `look` computes from the elapsed times of each contender, one for each round. `look` also says
    /// whether that is certain; until then, the contenders run again, up to `most` times in all.
    pub fn until_clear<T>(
        &mut self,
        some: &[usize],
        most: usize,
        look: impl Fn(Vec<Vec<f64>>) -> (T, bool),
    ) -> Result<T> {
        loop {
            let (seen, is_clear) = look(self.elapsed());
            if is_clear || self.rounds() >= most {
                return Ok(seen);
            }
            self.round_of(some)?;
        }
    }

    /// The numbers of all contenders.
    pub fn all(&self) -> Vec<usize> {
        (0..self.contenders.len()).collect()
    }

    /// The rounds of all contenders, or of those that still run.
    pub fn rounds(&self) -> usize {
        self.samples.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Of each contender.
    pub fn medians(&self) -> Vec<Sample> {
        self.samples.iter().map(|s| Sample::median(s)).collect()
    }

    /// The elapsed times of each contender, one for each round.
    fn elapsed(&self) -> Vec<Vec<f64>> {
        self.samples.iter().map(|samples| samples.iter().map(|s| s.elapsed).collect()).collect()
    }
}

/// The order of `some` in this round. The first one rotates, and every other round is reversed, so that no contender
/// always follows the same one. The previous run may leave caches and free memory in a better or worse state.
pub fn turns(some: &[usize], round: usize) -> Vec<usize> {
    let mut turns = some.to_vec();
    turns.rotate_left(round / 2 % some.len());
    if round % 2 == 1 {
        turns.reverse();
    }
    turns
}

/// The medians of `runs` runs of each contender. All must print the same.
pub fn alternate<const N: usize>(name: &str, contenders: &[RuntimeRun; N], runs: usize) -> Result<[Sample; N]> {
    let mut series = Series::new(name, contenders);
    series.rounds_of_all(runs)?;
    Ok(exactly(series.medians()))
}

/// One value for each of `N` contenders.
pub fn exactly<T, const N: usize>(of_each: Vec<T>) -> [T; N] {
    of_each.try_into().unwrap_or_else(|_| unreachable!("one for each contender"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::runtime_run::TIME_LIMIT;
    use std::ffi::OsString;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static SHELLS: AtomicUsize = AtomicUsize::new(0);

    fn shell(script: &str) -> RuntimeRun {
        let number = SHELLS.fetch_add(1, Ordering::Relaxed);
        let work = std::env::temp_dir().join(format!("hecaton-contender-{}-{number}", std::process::id()));
        let label = "in a shell".to_owned();
        // One of the arguments names the file for statistics.
        let statistics = r#"printf '("%s", "1.5")\n' GC_wall_seconds 'bytes allocated'"#;
        let script = format!("{script}; for arg; do case $arg in -t*) {statistics} >\"${{arg#-t}}\";; esac; done");
        let args = ["-c", &script].map(OsString::from).into();
        RuntimeRun {
            label,
            executable: "/bin/sh".into(),
            args,
            flags: Vec::new(),
            env: Vec::new(),
            stdin: String::new(),
            cores: None,
            limit: TIME_LIMIT,
            work,
        }
    }

    #[test]
    fn everybody_goes_first_and_after_different_ones() {
        let rounds: Vec<Vec<usize>> = (0..6).map(|round| turns(&[0, 4, 7], round)).collect();
        let expected: [[usize; 3]; 6] = [[0, 4, 7], [7, 4, 0], [4, 7, 0], [0, 7, 4], [7, 0, 4], [4, 0, 7]];
        assert_eq!(rounds, expected);
        assert_eq!([turns(&[3, 5], 0), turns(&[3, 5], 1), turns(&[3, 5], 2)], [[3, 5], [5, 3], [5, 3]]);
    }

    #[test]
    fn contenders_must_agree() {
        let samples = alternate("x", &[shell("echo a"), shell("echo a ")], 2).unwrap();
        assert_eq!(samples.map(|s| s.gc), [1.5, 1.5]);
        assert!(alternate("x", &[shell("echo a"), shell("echo bb")], 1)
            .unwrap_err()
            .message
            .contains("in a shell prints something else"));
        assert!(alternate("x", &[shell("echo no >&2; exit 3")], 1).unwrap_err().message.contains("exit 3; no"));
    }

    #[test]
    fn rounds_are_counted() {
        let contenders = [shell("echo abc"), shell("echo abc ")];
        let mut series = Series::new("x", &contenders);
        for rounds in 0..3 {
            assert_eq!(series.rounds(), rounds);
            series.round().unwrap();
        }
        assert!(series.elapsed().iter().all(|of_one| of_one.len() == 3));
        series.round_of(&[0]).unwrap();
        assert_eq!(series.elapsed().iter().map(Vec::len).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(series.rounds(), 4);
    }

    #[test]
    fn rounds_go_on_until_it_is_clear_or_time_to_stop() {
        let contenders = [shell("echo abcd"), shell("echo abcd ")];
        let mut series = Series::new("x", &contenders);
        series.rounds_of_all(2).unwrap();
        let counts = |elapsed: Vec<Vec<f64>>| elapsed.iter().map(Vec::len).collect::<Vec<_>>();
        let mut runs_until = |most, enough| {
            let look = |elapsed| {
                let counts = counts(elapsed);
                let is_enough = counts[1] >= enough;
                (counts, is_enough)
            };
            series.until_clear(&[1], most, look).unwrap()
        };
        assert_eq!([runs_until(9, 1), runs_until(9, 4), runs_until(5, 9)], [[2, 2], [2, 4], [2, 5]]);
    }
}
