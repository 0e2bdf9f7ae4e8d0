//! Preemption under a random run order: threads run until they have allocated a random number of bytes.
//!
//! The clock has no say, so that a schedule can be repeated. For the same reason the event loops' clock is a virtual
//! one ([`virtual_time`]).
use crate::base::random::Random;
use crate::hec::run_order::{self, RunOrder};

/// Half of the budgets are at most the first of these bytes, a quarter the second, a quarter the third. Short ones let
/// threads meet in the middle of an operation, long ones let each get far ahead of the others.
const SHORT: u64 = 256;
const MEDIUM: u64 = 4 << 10;
const LONG: u64 = 256 << 10;

pub struct ByteBudget {
    /// None if the run order is not a random one.
    random: Option<Random>,
    /// When the HEC has allocated this many bytes since its start, the budget is used up.
    until: u64,
}

impl ByteBudget {
    /// That of HEC `no`, under the run order of the program.
    pub fn new(no: u32) -> ByteBudget {
        let mut budget = match run_order::selected() {
            RunOrder::Random { seed } => ByteBudget { random: Some(Random(seed_of(seed, no) ^ 1)), until: 0 },
            _ => ByteBudget { random: None, until: u64::MAX },
        };
        budget.renew(0, 0);
        budget
    }

    #[inline]
    pub fn is_limited(&self) -> bool {
        self.random.is_some()
    }

    /// What is left of the budget when `allocated` bytes have been.
    pub fn left(&self, allocated: u64) -> usize {
        self.until.saturating_sub(allocated) as usize
    }

    /// Draws the next budget. A thread may have asked for `refused` bytes, which must be possible one day.
    pub fn renew(&mut self, allocated: u64, refused: usize) {
        let Some(random) = &mut self.random else { return };
        let most = match random.below(4) {
            0 | 1 => SHORT,
            2 => MEDIUM,
            _ => LONG,
        };
        self.until = allocated + (1 + random.below(most)).max(refused as u64);
    }
}

/// The seed of HEC `no`, of which each must have another.
pub fn seed_of(seed: u64, no: u32) -> u64 {
    Random(seed.wrapping_add((no as u64) << 32)).number()
}

/// The clock of the event loops under a random run order on one HEC: a nanosecond for each byte that has been
/// allocated, some for each run of a thread, and jumps. When no thread can run before a deadline, it jumps there.
pub mod virtual_time {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    static IN_USE: AtomicBool = AtomicBool::new(false);
    static ALLOCATED: AtomicU64 = AtomicU64::new(0);
    static JUMPED: AtomicU64 = AtomicU64::new(0);

    /// The event loops use it from now on.
    pub fn start() {
        IN_USE.store(true, Ordering::Relaxed);
    }

    /// The time in nanoseconds, if it is in use.
    #[inline]
    pub fn now() -> Option<u64> {
        IN_USE.load(Ordering::Relaxed).then(time)
    }

    pub(super) fn time() -> u64 {
        ALLOCATED.load(Ordering::Relaxed) + JUMPED.load(Ordering::Relaxed)
    }

    /// Nanoseconds for each run of a thread, beside those for what it allocates. So time passes while threads only
    /// yield.
    const PER_RUN: u64 = 100;

    /// A thread has run, and its HEC has allocated this many bytes since its start.
    pub fn advance(allocated: u64) {
        ALLOCATED.fetch_max(allocated, Ordering::Relaxed);
        JUMPED.fetch_add(PER_RUN, Ordering::Relaxed);
    }

    /// Jumps to this time, unless it has passed.
    pub fn jump_to(time: u64) {
        let to = time.saturating_sub(ALLOCATED.load(Ordering::Relaxed));
        JUMPED.fetch_max(to, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(seed: u64) -> ByteBudget {
        ByteBudget { random: Some(Random(seed)), until: 0 }
    }

    #[test]
    fn budgets_are_short_medium_and_long() {
        let mut budget = limited(3);
        let drawn = (0..4000).map(|_| {
            budget.renew(1000, 0);
            budget.left(1000) as u64
        });
        let drawn = drawn.collect::<Vec<_>>();
        assert!(drawn.iter().all(|&n| (1..=LONG).contains(&n)));
        let share = |most| drawn.iter().filter(|&&n| n <= most).count() as f64 / drawn.len() as f64;
        assert!((0.5..0.6).contains(&share(SHORT)) && (0.72..0.82).contains(&share(MEDIUM)));
    }

    #[test]
    fn a_budget_allows_what_was_refused() {
        let mut budget = limited(3);
        for _ in 0..100 {
            budget.renew(7, 1 << 20);
            assert!(budget.left(7) >= 1 << 20);
        }
        assert_eq!((budget.left(6), budget.left(u64::MAX)), (budget.left(7) + 1, 0));
    }

    #[test]
    fn virtual_time_never_goes_back() {
        // No other test reads it, because none starts it.
        assert_eq!(virtual_time::now(), None);
        let time = virtual_time::time;
        let begin = time();
        virtual_time::jump_to(begin + 500);
        assert_eq!(time(), begin + 500);
        virtual_time::advance(100);
        virtual_time::jump_to(begin + 200);
        virtual_time::advance(50);
        assert!(time() >= begin + 500);
        virtual_time::jump_to(begin + 9000);
        assert_eq!(time(), begin + 9000);
    }
}
