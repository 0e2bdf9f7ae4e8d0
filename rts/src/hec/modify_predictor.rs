//! Whether what modifies a mutable variable is evaluated before others see it (`eval/atomic_modify.rs`).
//!
//! That pays where several HECs modify a variable and evaluate its new value at once: others go on with the old value meanwhile,
//! where they would wait for the new one. So all HECs do it from when one of them has met a modification that was not finished.
//! What is meant to be lazy stays so: it is done only for code that has been seen to evaluate the thunk that it gets
//! before it modifies anything else. Such code is known by the address that the operation returns to.
//!
//! Where others are faster as a rule the work is in vain. Then a HEC leaves it, for longer each time.
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a modification has been met that was not finished. That is seldom when all are eager, so all HECs count together.
static MEETINGS: AtomicUsize = AtomicUsize::new(0);

/// A modification has been met that was not finished.
pub fn has_met_unfinished() {
    MEETINGS.fetch_add(1, Ordering::Relaxed);
}

/// How often that has been so.
pub fn meetings() -> usize {
    MEETINGS.load(Ordering::Relaxed)
}

/// What a HEC has to lose; each modification evaluated first gains one more, and each that was evaluated again and again in vain costs as
/// much as so many gain.
const CREDIT: u32 = 1024;
const IN_VAIN: u32 = 16;
/// After so many failures in a row two to the power of them are let pass.
const MOST_FAILURES: u32 = 8;
/// Pieces of code that are remembered.
const SITES: usize = 16;

#[derive(Debug)]
pub struct ModifyPredictor {
    /// Evaluate everything first (`HECATON_CHECK=modify`).
    always: bool,
    /// 0: be lazy.
    credit: u32,
    failures: u32,
    /// How often there must be a meeting before it is tried again, and how often there had been one when last asked.
    skip: u32,
    seen: usize,
    /// Code that evaluates what it gets at once.
    strict: [usize; SITES],
    /// The thunk made by the last modification that was not evaluated first, or 0; and the code that has it.
    last: (usize, usize),
}

impl ModifyPredictor {
    pub const fn new(always: bool) -> ModifyPredictor {
        ModifyPredictor { always, credit: 0, failures: 0, skip: 0, seen: 0, strict: [0; SITES], last: (0, 0) }
    }

    /// Code at `site` modifies a variable: evaluate that first, after so many meetings? If not, its thunk will be at `thunk`, most
    /// probably.
    pub fn predict(&mut self, site: usize, thunk: usize, meetings: usize) -> bool {
        if self.credit == 0 && self.seen != meetings {
            self.seen = meetings;
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
            self.credit = CREDIT;
        }
    }

    fn reward(&mut self) {
        if self.credit < CREDIT {
            self.credit += 1;
            if self.credit == CREDIT {
                self.failures = 0;
            }
        }
    }

    /// The running thread enters what modifies a variable.
    pub fn on_forced(&mut self, thunk: usize) {
        if thunk == self.last.0 {
            self.strict[slot(self.last.1)] = self.last.1;
        }
    }

    /// The thread stops: thunks may lie elsewhere when it goes on.
    pub fn stops(&mut self) {
        self.last = (0, 0);
    }

    /// A modification was evaluated as often as may be, and others were faster each time.
    pub fn penalize(&mut self) {
        if self.credit == 0 {
            return;
        }
        self.credit = self.credit.saturating_sub(IN_VAIN);
        if self.credit == 0 {
            self.failures = (self.failures + 1).min(MOST_FAILURES);
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

    /// One that has seen `SITE` evaluate what it gets.
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
        // It stopped in between: another thunk may lie there now.
        e.stops();
        e.on_forced(128);
        assert!(!e.predict(LAZY, 128, 1));
        e.on_forced(64);
        assert!(!e.predict(LAZY, 128, 1));
    }

    #[test]
    fn what_is_in_vain_is_tried_less_often() {
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
    fn now_and_then_it_may_be_in_vain() {
        let mut e = forced();
        for n in 1..100_000 {
            assert!(e.predict(SITE, 64, 1));
            if n % (2 * IN_VAIN as usize) == 0 {
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
