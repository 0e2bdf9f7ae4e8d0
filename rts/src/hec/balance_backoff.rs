//! How soon HECs share their threads with those that rest: as soon as it has lately paid.
//!
//! To share is to wake a core, to move data from cache to cache, and, if the thread soon waits for
//! one that has stayed, to do both again the other way. So it is measured: the next HEC that comes
//! to rest, whichever it is, tells for how long sharing has kept one more busy. If that was less than
//! sharing costs, threads wait longer before they are shared again (twice as long, each time);
//! if it was far more, they are shared at once. Threads that hand each other small pieces of
//! work thus come to run on one HEC, and spread again when they have more to do.
use crate::base::clock::getMonotonicNSec as now;
use std::sync::atomic::{AtomicU64, Ordering};

/// What it costs to give a thread to a HEC that rests: about what it takes to wake an OS thread.
const COST_NS: u64 = 20_000;
/// Busy for so long: well worth it.
const WORTH_NS: u64 = 5 * COST_NS;

const LEAST_DELAY_NS: u64 = 2_000;
const MOST_DELAY_NS: u64 = 4_000_000;

/// A thread that runs at full tilt allocates about so much.
const BYTES_PER_NS: u64 = 2;

/// The pace of all HECs: the grain of what they do is theirs together.
pub struct BalanceBackoff {
    /// From one sharing to the next.
    delay: AtomicU64,
    /// When threads were shared last.
    shared: AtomicU64,
    /// The same until a HEC has come to rest; then zero.
    all_busy_since: AtomicU64,
}

pub static BALANCE_BACKOFF: BalanceBackoff = BalanceBackoff::new();

impl BalanceBackoff {
    const fn new() -> BalanceBackoff {
        BalanceBackoff {
            delay: AtomicU64::new(LEAST_DELAY_NS),
            shared: AtomicU64::new(0),
            all_busy_since: AtomicU64::new(0),
        }
    }

    /// Nanoseconds until threads should be shared.
    pub fn delay_ns(&self) -> u64 {
        let due = self.shared.load(Ordering::Relaxed) + self.delay.load(Ordering::Relaxed);
        due.saturating_sub(now())
    }

    /// About what a thread allocates until then.
    pub fn delay_bytes(&self) -> usize {
        (self.delay_ns().max(LEAST_DELAY_NS) * BYTES_PER_NS) as usize
    }

    /// Threads have been shared.
    pub fn on_balance(&self) {
        let now = now();
        self.shared.store(now, Ordering::Relaxed);
        self.all_busy_since.store(now, Ordering::Relaxed);
    }

    /// A HEC comes to rest.
    pub fn on_idle(&self) {
        if self.all_busy_since.load(Ordering::Relaxed) == 0 {
            return;
        }
        let since = self.all_busy_since.swap(0, Ordering::Relaxed);
        if since != 0 {
            let busy = now().saturating_sub(since);
            self.delay.store(delay_after(self.delay.load(Ordering::Relaxed), busy), Ordering::Relaxed);
        }
    }
}

/// The delay, when sharing after such a one has kept HECs busy for so long.
fn delay_after(delay: u64, busy: u64) -> u64 {
    match busy {
        0..COST_NS => (2 * delay).min(MOST_DELAY_NS),
        COST_NS..WORTH_NS => delay,
        _ => LEAST_DELAY_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pieces_are_shared_ever_more_seldom() {
        let mut delay = LEAST_DELAY_NS;
        for _ in 0..20 {
            delay = delay_after(delay, COST_NS / 2);
        }
        assert_eq!(delay, MOST_DELAY_NS);
        assert_eq!(delay_after(delay, 2 * COST_NS), delay);
        assert_eq!(delay_after(delay, WORTH_NS), LEAST_DELAY_NS);
    }

    #[test]
    fn who_has_just_shared_waits() {
        let pace = BalanceBackoff::new();
        assert_eq!(pace.delay_ns(), 0);
        assert_eq!(pace.delay_bytes(), (LEAST_DELAY_NS * BYTES_PER_NS) as usize);
        pace.delay.store(MOST_DELAY_NS, Ordering::Relaxed);
        pace.on_balance();
        assert!(pace.delay_ns() > MOST_DELAY_NS / 2);
    }

    #[test]
    fn who_rests_first_tells_what_it_was_worth() {
        let pace = BalanceBackoff::new();
        pace.on_idle();
        assert_eq!(pace.delay.load(Ordering::Relaxed), LEAST_DELAY_NS);
        pace.on_balance();
        pace.on_idle();
        pace.on_idle();
        assert_eq!(pace.delay.load(Ordering::Relaxed), 2 * LEAST_DELAY_NS);
    }
}
