//! Staying awake for a moment, in the hope that what one waits for comes: worth it where locks are
//! held briefly, a waste where one waits for others' work. Whoever waits learns which it is.

/// After so many disappointments in a row, it is tried once in two to the power of them.
const MAX_FAILURES: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub struct AdaptiveSpin {
    failures: u32,
    /// Waits to let pass before the next try.
    skip: u32,
}

impl AdaptiveSpin {
    pub const NEW: AdaptiveSpin = AdaptiveSpin { failures: 0, skip: 0 };

    /// Looks so often whether `done`, if it is worth trying. True if it was.
    pub fn spin_until(&mut self, looks: usize, done: impl Fn() -> bool) -> bool {
        self.should_spin() && {
            let came = (0..looks).any(|_| {
                std::hint::spin_loop();
                done()
            });
            self.record(came);
            came
        }
    }

    /// Is it worth trying this time? Who tries says what [came of it](AdaptiveSpin::record).
    pub fn should_spin(&mut self) -> bool {
        let skips = self.skip > 0;
        self.skip -= skips as u32;
        !skips
    }

    /// It has been tried: what was waited for `came`, or not.
    pub fn record(&mut self, came: bool) {
        self.failures = if came { 0 } else { (self.failures + 1).min(MAX_FAILURES) };
        self.skip = (1 << self.failures) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn who_is_disappointed_tries_less_often() {
        let mut p = AdaptiveSpin::NEW;
        let looks = Cell::new(0);
        let never = || {
            looks.set(looks.get() + 1);
            false
        };
        for _ in 0..1000 {
            assert!(!p.spin_until(24, never));
        }
        assert!(looks.get() <= 12 * 24);
        while !p.spin_until(24, || true) {}
        assert!(p.spin_until(24, || true));
    }
}
