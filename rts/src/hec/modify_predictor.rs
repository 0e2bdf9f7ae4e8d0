//! Predicts whether to evaluate a modification of a mutable variable before publishing it (`eval/atomic_modify.rs`).
//!
//! Eager evaluation pays where several HECs modify a variable and evaluate its new value at once. The other HECs
//! continue with the old value meanwhile, instead of waiting for the new one.
//!
//! *Protocol*
//! 1. A HEC that finds a modification unfinished records a conflict. From then on all HECs evaluate eagerly.
//! 2. Code that is meant to be lazy stays lazy. Only code that has been seen to force the thunk it gets, before it
//!    modifies anything else, is evaluated eagerly. The return address of the operation identifies the code.
//! 3. Where other HECs usually publish first, the work is wasted. The HEC's credit then runs out, and it stops
//!    evaluating eagerly, for longer each time.
//!
//! *Checked by*: the unit tests below.
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often an unfinished modification has been found. HECs share the count, because conflicts are rare once all are
/// eager.
static CONFLICTS: AtomicUsize = AtomicUsize::new(0);

/// Records that an unfinished modification has been found.
pub fn record_conflict() {
    CONFLICTS.fetch_add(1, Ordering::Relaxed);
}

/// How often an unfinished modification has been found.
pub fn conflict_count() -> usize {
    CONFLICTS.load(Ordering::Relaxed)
}

/// The credit of a HEC when it begins to evaluate eagerly. It allows 64 wasted modifications in a row, enough to tell a
/// trend from chance.
const MAX_CREDIT: u32 = 1024;
/// The credit that one wasted modification costs. A modification evaluated eagerly gains 1, so one wasted in 16 is
/// tolerated.
const FAILURE_COST: u32 = 16;
/// The largest exponent of the back-off: after `n` failures in a row a HEC ignores 2^n - 1 conflicts before it tries
/// again.
const MAX_FAILURES: u32 = 8;
/// The number of code addresses that are remembered, a power of two. A program has few places that modify variables
/// often.
const SITES: usize = 16;

#[derive(Debug)]
pub struct ModifyPredictor {
    /// Evaluate every modification eagerly (`HECATON_CHECK=eager-modify`).
    always: bool,
    /// 0 means that this HEC is lazy.
    credit: u32,
    /// How often in a row the credit has run out.
    failures: u32,
    /// The number of conflicts to ignore before eager evaluation is tried again, and the count of conflicts at the last
    /// call.
    skip: u32,
    seen: usize,
    /// Addresses of code that forces the thunk it gets at once.
    strict: [usize; SITES],
    /// The thunk of the last modification that was done lazily, or 0, and the address of the code that has it.
    last: (usize, usize),
}

impl ModifyPredictor {
    pub const fn new(always: bool) -> ModifyPredictor {
        ModifyPredictor { always, credit: 0, failures: 0, skip: 0, seen: 0, strict: [0; SITES], last: (0, 0) }
    }

    /// Code at `site` modifies a variable: should the modification be evaluated first, given the count of conflicts so
    /// far? If not, its thunk will most probably be at `thunk`.
    pub fn predict(&mut self, site: usize, thunk: usize, conflict_count: usize) -> bool {
        if self.credit == 0 && self.seen != conflict_count {
            self.seen = conflict_count;
            self.retry();
        }
        if self.credit > 0 && self.strict[slot(site)] == site {
            self.reward();
            return true;
        }
        self.last = (thunk, site);
        self.always
    }

    fn retry(&mut self) {
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.credit = MAX_CREDIT;
        }
    }

    fn reward(&mut self) {
        if self.credit < MAX_CREDIT {
            self.credit += 1;
            if self.credit == MAX_CREDIT {
                self.failures = 0;
            }
        }
    }

    /// The running thread enters the thunk of a modification.
    pub fn on_forced(&mut self, thunk: usize) {
        if thunk == self.last.0 {
            self.strict[slot(self.last.1)] = self.last.1;
        }
    }

    /// The thread stops. Another thunk may be at the same address when it resumes.
    pub fn on_stop(&mut self) {
        self.last = (0, 0);
    }

    /// A modification was evaluated as often as allowed, and another HEC was faster each time.
    pub fn penalize(&mut self) {
        if self.credit == 0 {
            return;
        }
        self.credit = self.credit.saturating_sub(FAILURE_COST);
        if self.credit == 0 {
            self.failures = (self.failures + 1).min(MAX_FAILURES);
            self.skip = (1 << self.failures) - 1;
        }
    }
}

fn slot(site: usize) -> usize {
    // Return addresses of compiled code are multiples of eight.
    (site >> 3) % SITES
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: usize = 0x400_008;
    const LAZY: usize = 0x500_010;

    /// A predictor that has seen `SITE` force its thunk.
    fn forced() -> ModifyPredictor {
        let mut e = ModifyPredictor::new(false);
        assert!(!e.predict(SITE, 64, 0));
        e.on_forced(64);
        e
    }

    #[test]
    fn only_code_that_forces_is_eager_and_only_after_a_meeting() {
        let mut e = forced();
        assert!(!e.predict(SITE, 64, 0));
        assert!(e.predict(SITE, 64, 1) && e.predict(SITE, 64, 1) && !e.predict(LAZY, 128, 1));
        // The thread stopped in between, so another thunk may lie there now.
        e.on_stop();
        e.on_forced(128);
        assert!(!e.predict(LAZY, 128, 1));
        e.on_forced(64);
        assert!(!e.predict(LAZY, 128, 1));
    }

    #[test]
    fn wasted_modifications_are_tried_less_often() {
        let mut e = forced();
        let mut tried = 0;
        for n in 1..100_000 {
            if e.predict(SITE, 64, n) {
                tried += 1;
                e.penalize();
            }
        }
        assert!(tried < 30_000, "{tried}");
    }

    #[test]
    fn occasional_waste_is_tolerated() {
        let mut e = forced();
        for n in 1..100_000 {
            assert!(e.predict(SITE, 64, 1));
            if n % (2 * FAILURE_COST as usize) == 0 {
                e.penalize();
            }
        }
    }

    #[test]
    fn a_check_has_everything_evaluated_first() {
        let mut e = ModifyPredictor::new(true);
        assert!(e.predict(LAZY, 64, 0));
        e.penalize();
        assert!(e.predict(LAZY, 64, 0));
    }
}
