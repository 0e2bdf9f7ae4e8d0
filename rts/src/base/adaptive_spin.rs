//! Adaptive spinning: a thread spins before it waits only where that has helped.
//!
//! Spinning pays where locks are held briefly. It is a waste where one waits for others' work. Each waiter learns which
//! of the two it is.

/// Failures in a row that count. After n failures, one wait in 2^n spins; at 8, one in 256, the cost of spinning cannot
/// be measured any more.
const MAX_FAILURES: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub struct AdaptiveSpin {
    failures: u32,
    /// Waits until the next attempt.
    skip: u32,
}

impl AdaptiveSpin {
    pub const NEW: AdaptiveSpin = AdaptiveSpin { failures: 0, skip: 0 };

    /// Spins `spins` times until `done`, if spinning is worth while. True if `done` became true.
    pub fn spin_until(&mut self, spins: usize, done: impl Fn() -> bool) -> bool {
        self.should_spin() && {
            let succeeded = (0..spins).any(|_| {
                std::hint::spin_loop();
                done()
            });
            self.record(succeeded);
            succeeded
        }
    }

    /// Is spinning worth while this time? A caller that spins [records](AdaptiveSpin::record) the result.
    pub fn should_spin(&mut self) -> bool {
        let skip = self.skip > 0;
        self.skip -= skip as u32;
        !skip
    }

    /// Records whether `done` became true while the thread spun.
    pub fn record(&mut self, succeeded: bool) {
        self.failures = if succeeded { 0 } else { (self.failures + 1).min(MAX_FAILURES) };
        self.skip = (1 << self.failures) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn failures_make_spinning_rarer() {
        let mut p = AdaptiveSpin::NEW;
        let spins = Cell::new(0);
        let never = || {
            spins.set(spins.get() + 1);
            false
        };
        for _ in 0..1000 {
            assert!(!p.spin_until(24, never));
        }
        assert!(spins.get() <= 12 * 24);
        while !p.spin_until(24, || true) {}
        assert!(p.spin_until(24, || true));
    }
}
