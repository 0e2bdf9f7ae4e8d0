//! Whether what survives its first collection must survive a second one to be promoted.
//!
//! To wait (*aging*) pays if much of it dies meanwhile: what is promoted and then dies stays
//! until the old generation is collected. It is a copy for nothing if nearly all of it survives
//! again, as when a program builds up its data. So we watch what part of the survivors does;
//! where it is large, the following collections promote at once, and now and then some of them
//! age again, less often each time that it was in vain. All of that holds for nurseries of about one size: what survives a much larger
//! one is other data.
use crate::unpoisoned::unpoisoned;
use std::sync::{Mutex, MutexGuard};

/// Survivors are promoted at once if such a part of them survives again.
const ENOUGH: f64 = 0.85;
/// Weight of the newest measurement: one odd collection decides nothing.
const NEWEST: f64 = 0.5;
/// Fewer bytes say little and cost little.
const WORTH_BYTES: usize = 64 << 10;
/// How many collections promote at once before some age again, at first and at most.
const FIRST_RUN: u32 = 4;
const LAST_RUN: u32 = 32;
/// A nursery of so many times the size is another one.
const LARGER: usize = 2;

pub struct Tenure {
    /// The part of the survivors that survived again.
    survival: f64,
    /// Collections that will promote at once; 0 while survivors age.
    direct: u32,
    /// How many that will be next time.
    run: u32,
    /// Bytes that had been allocated before the first collection of this size.
    allocated: usize,
    /// Bytes that survived the last collection.
    copied: usize,
}

impl Tenure {
    pub const fn new() -> Tenure {
        Tenure { survival: 0.0, direct: 0, run: FIRST_RUN, allocated: 0, copied: 0 }
    }

    /// Does the next collection promote what survives it?
    pub fn promotes(&self) -> bool {
        self.direct > 0
    }

    /// How many bytes the next collection may promote straight from nurseries: as many as the last
    /// one has.
    pub fn coming(&self) -> usize {
        if self.promotes() {
            self.copied
        } else {
            0
        }
    }

    /// A collection has been, after `allocated` bytes, that copied `copied` bytes, and found `survivors` bytes that had
    /// survived one before, of which `again` bytes survived this one.
    pub fn record(&mut self, allocated: usize, copied: usize, survivors: usize, again: usize) {
        self.copied = copied;
        if allocated > LARGER * self.allocated {
            (self.direct, self.run, self.allocated) = (0, FIRST_RUN, allocated);
            return;
        }
        if self.direct > 0 {
            self.direct -= 1;
            return;
        }
        if survivors < WORTH_BYTES {
            return;
        }
        let now = again as f64 / survivors as f64;
        self.survival += (now - self.survival) * NEWEST;
        if self.survival < ENOUGH {
            self.run = FIRST_RUN;
        } else if now >= ENOUGH {
            self.direct = self.run;
            self.run = (self.run * 2).min(LAST_RUN);
        }
    }
}

static TENURE: Mutex<Tenure> = Mutex::new(Tenure::new());

/// What is known, for the thread that collects.
pub(super) fn tenure() -> MutexGuard<'static, Tenure> {
    unpoisoned(TENURE.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NURSERY: usize = 4 << 20;

    /// How many of `n` collections promoted at once, where `part` of the survivors survives again.
    fn run(t: &mut Tenure, n: usize, part: f64) -> usize {
        let mut direct = 0;
        for _ in 0..n {
            let now = t.promotes();
            direct += now as usize;
            let survivors = if now { 0 } else { 1 << 20 };
            t.record(NURSERY, survivors, survivors, (survivors as f64 * part) as usize);
        }
        direct
    }

    #[test]
    fn what_lives_long_is_promoted_at_once() {
        assert!(run(&mut Tenure::new(), 1000, 0.95) > 900);
    }

    #[test]
    fn what_dies_early_ages() {
        assert_eq!(run(&mut Tenure::new(), 1000, 0.7), 0);
    }

    #[test]
    fn a_change_is_noticed() {
        let mut t = Tenure::new();
        run(&mut t, 1000, 0.95);
        assert!(run(&mut t, 1000, 0.3) <= LAST_RUN as usize);
        assert!(run(&mut t, 1000, 0.95) > 900);
    }

    #[test]
    fn a_larger_nursery_is_another_matter() {
        let mut t = Tenure::new();
        assert!(run(&mut t, 1000, 0.95) > 900 && t.run == LAST_RUN);
        while !t.promotes() {
            t.record(NURSERY, 1 << 20, 1 << 20, 1 << 20);
        }
        t.record(LARGER * NURSERY, 1 << 20, 0, 0);
        assert!(t.promotes());
        t.record(LARGER * NURSERY + 1, 1 << 20, 0, 0);
        assert!(!t.promotes() && t.run == FIRST_RUN);
    }

    #[test]
    fn a_few_bytes_decide_nothing() {
        let mut t = Tenure::new();
        for _ in 0..100 {
            t.record(NURSERY, WORTH_BYTES, WORTH_BYTES - 1, WORTH_BYTES - 1);
        }
        assert!(!t.promotes());
    }
}
