//! Where the time of collections goes (`--gc-phases`).
use super::stats_text::seconds;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The phases of a collection, in their order.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// From-space is condemned.
    Begin,
    /// What old objects refer to is saved.
    Remembered,
    /// What roots refer to is saved.
    Roots,
    /// Weak pointers, lost threads, stable names and CAFs are settled.
    Rest,
    /// From-space is freed.
    End,
}

const PHASES: usize = Phase::End as usize + 1;

/// Nanoseconds in each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes([u64; PHASES]);

impl PhaseTimes {
    pub const ZERO: PhaseTimes = PhaseTimes([0; PHASES]);

    pub fn add(&mut self, other: &PhaseTimes) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, n)| *sum += n);
    }
}

/// Takes the times of one collection.
pub struct Watch {
    times: PhaseTimes,
    last: Instant,
}

impl Watch {
    pub fn start() -> Watch {
        Watch { times: PhaseTimes::ZERO, last: Instant::now() }
    }

    /// The phase that was under way has ended.
    pub fn end(&mut self, phase: Phase) {
        let now = Instant::now();
        self.times.0[phase as usize] += (now - self.last).as_nanos() as u64;
        self.last = now;
    }

    pub fn times(&self) -> PhaseTimes {
        self.times
    }
}

static WANTED: AtomicBool = AtomicBool::new(false);

/// `--gc-phases` was given.
pub fn ask() {
    WANTED.store(true, Ordering::Relaxed);
}

pub fn wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// A table with a line for each generation.
pub fn table(generations: &[PhaseTimes]) -> String {
    let mut text = String::from(
        "  GC phases       Begin  Remembered       Roots        Rest         End\n",
    );
    for (i, PhaseTimes(t)) in generations.iter().enumerate() {
        text += &format!("  Gen {i:2}    ");
        for ns in t {
            text += &format!("{:11.3}s", seconds(*ns as i64));
        }
        text.push('\n');
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_told() {
        let mut sum = PhaseTimes([1_000_000, 0, 2_000_000, 0, 0]);
        sum.add(&PhaseTimes([500_000, 0, 1_000_000, 0, 12_000_000_000]));
        let expected = "  GC phases       Begin  Remembered       Roots        Rest         End
  Gen  0          0.002s      0.000s      0.003s      0.000s     12.000s

";
        assert_eq!(table(&[sum]), expected);
    }

    #[test]
    fn a_watch_misses_nothing() {
        let start = Instant::now();
        let mut watch = Watch::start();
        watch.end(Phase::Begin);
        std::thread::sleep(std::time::Duration::from_millis(2));
        watch.end(Phase::Roots);
        watch.end(Phase::End);
        let PhaseTimes(t) = watch.times();
        assert!(t[Phase::Roots as usize] >= 2_000_000 && t[Phase::Rest as usize] == 0);
        assert!(t.iter().sum::<u64>() <= start.elapsed().as_nanos() as u64);
    }
}
