//! Time and copied bytes of each phase of a collection (`--gc-phases`).
use crate::base::clock::seconds;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The phases of a collection, in order.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// From-space is condemned.
    Begin,
    /// The referents of old objects are copied. If several GC threads share the collection, so are the threads of all
    /// HECs and all that they reach.
    Remembered,
    /// The referents of the other roots are copied.
    Roots,
    /// Weak pointers, unreachable threads, stable names and CAFs are processed.
    Rest,
    /// From-space is freed.
    End,
}

const PHASES: usize = Phase::End as usize + 1;

/// The costs of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseCosts {
    nanoseconds: [u64; PHASES],
    copied_bytes: [u64; PHASES],
}

fn add(sums: &mut [u64; PHASES], other: &[u64; PHASES]) {
    sums.iter_mut().zip(other).for_each(|(sum, n)| *sum += n);
}

impl PhaseCosts {
    pub const ZERO: PhaseCosts = PhaseCosts { nanoseconds: [0; PHASES], copied_bytes: [0; PHASES] };

    pub fn add(&mut self, other: &PhaseCosts) {
        add(&mut self.nanoseconds, &other.nanoseconds);
        add(&mut self.copied_bytes, &other.copied_bytes);
    }
}

/// Measures the costs of one collection, if enabled: reading the clock for each phase takes a twentieth of a small
/// collection.
pub struct PhaseTimer {
    costs: PhaseCosts,
    /// The end of the last phase.
    last: Option<Instant>,
    copied_bytes: u64,
}

impl PhaseTimer {
    pub fn start(enabled: bool) -> PhaseTimer {
        PhaseTimer { costs: PhaseCosts::ZERO, last: enabled.then(Instant::now), copied_bytes: 0 }
    }

    /// Ends the current phase.
    pub fn end(&mut self, phase: Phase) {
        if let Some(last) = &mut self.last {
            let now = Instant::now();
            self.costs.nanoseconds[phase as usize] += (now - std::mem::replace(last, now)).as_nanos() as u64;
        }
    }

    /// Ends the current phase. It is one that copies; `copied_bytes` counts from the start of the collection.
    pub fn end_copying(&mut self, phase: Phase, copied_bytes: usize) {
        self.end(phase);
        let before = std::mem::replace(&mut self.copied_bytes, copied_bytes as u64);
        self.costs.copied_bytes[phase as usize] += self.copied_bytes - before;
    }

    pub fn costs(&self) -> PhaseCosts {
        self.costs
    }
}

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Enables the measurement (`--gc-phases`).
pub fn enable() {
    ENABLED.store(true, Ordering::Relaxed);
}

pub fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// A table with two lines for each generation: times and copied bytes.
pub fn table(generations: &[PhaseCosts]) -> String {
    let mut text = String::from("  GC phases       Begin  Remembered       Roots        Rest         End\n");
    for (i, costs) in generations.iter().enumerate() {
        text += &format!("  Gen {i:2}    ");
        for ns in costs.nanoseconds {
            text += &format!("{:11.3}s", seconds(ns as i64));
        }
        text += "\n    copied";
        for bytes in costs.copied_bytes {
            text += &format!("{:10.2}MB", bytes as f64 / 1e6);
        }
        text.push('\n');
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_two_lines_for_a_generation() {
        let costs = |nanoseconds, copied_bytes| PhaseCosts { nanoseconds, copied_bytes };
        let mut sum = costs([1_000_000, 0, 2_000_000, 0, 0], [0, 5_000_000, 0, 0, 0]);
        sum.add(&costs([500_000, 0, 1_000_000, 0, 12_000_000_000], [0, 250_000, 12_345_678_901, 0, 0]));
        let expected = "  GC phases       Begin  Remembered       Roots        Rest         End
  Gen  0          0.002s      0.000s      0.003s      0.000s     12.000s
    copied      0.00MB      5.25MB  12345.68MB      0.00MB      0.00MB

";
        assert_eq!(table(&[sum]), expected);
    }

    #[test]
    fn copied_bytes_are_counted_once() {
        let mut timer = PhaseTimer::start(true);
        timer.end_copying(Phase::Remembered, 100);
        timer.end_copying(Phase::Roots, 150);
        timer.end_copying(Phase::Rest, 150);
        assert_eq!(timer.costs().copied_bytes, [0, 100, 50, 0, 0]);
    }

    #[test]
    fn a_timer_covers_all_time() {
        let start = Instant::now();
        let mut timer = PhaseTimer::start(true);
        timer.end(Phase::Begin);
        let asleep = Instant::now();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let slept = asleep.elapsed().as_nanos() as u64;
        timer.end(Phase::Roots);
        timer.end(Phase::End);
        let t = timer.costs().nanoseconds;
        assert!(t[Phase::Roots as usize] >= slept && t[Phase::Rest as usize] == 0);
        assert!(t.iter().sum::<u64>() <= start.elapsed().as_nanos() as u64);
    }
}
