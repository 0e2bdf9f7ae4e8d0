//! Back-off of load balancing: how soon HECs give threads to idle HECs.
//!
//! Giving a thread away wakes a core and moves data from cache to cache. If the thread soon waits for one that has
//! stayed, both are paid again. So the benefit is measured.
//!
//! *Protocol*
//! 1. A balance starts a time measurement ([`BalanceBackoff::on_balance`]).
//! 2. The next HEC that becomes idle, whichever it is, ends it ([`BalanceBackoff::on_idle`]). The time between tells
//!    how long balancing kept one more HEC busy.
//! 3. If that is less than balancing costs, the delay before the next balance doubles. If it is far more, the delay is
//!    reset.
//!
//! So threads that exchange small pieces of work come to run on one HEC, and spread again when they have more to do.
//!
//! *Locking*: all fields are relaxed atomics: a lost update delays one balance.
//!
//! *Checked by*: the unit tests below.
use crate::base::clock::getMonotonicNSec as now;
use std::sync::atomic::{AtomicU64, Ordering};

/// The cost of giving a thread to an idle HEC, in nanoseconds: about what it takes to wake an OS thread.
const COST_NS: u64 = 20_000;
/// A HEC kept busy for this many nanoseconds is worth several wake-ups, and resets the delay.
const RESET_THRESHOLD_NS: u64 = 5 * COST_NS;

/// The shortest delay in nanoseconds: balancing more often would only read the clock.
const MIN_DELAY_NS: u64 = 2_000;
/// The longest delay in nanoseconds, so that a program that changes its behaviour is balanced again soon.
const MAX_DELAY_NS: u64 = 4_000_000;

/// The allocation rate of a busy thread, in bytes per nanosecond. It converts a delay into a limit on Hp.
const BYTES_PER_NS: u64 = 2;

/// The delay of all HECs: they share it, because the grain of the program's work is common to them.
pub struct BalanceBackoff {
    /// Nanoseconds from one balance to the next.
    delay: AtomicU64,
    /// When threads were last balanced.
    last_balance: AtomicU64,
    /// The same until a HEC becomes idle; then zero.
    all_busy_since: AtomicU64,
}

pub static BALANCE_BACKOFF: BalanceBackoff = BalanceBackoff::new();

impl BalanceBackoff {
    const fn new() -> BalanceBackoff {
        BalanceBackoff {
            delay: AtomicU64::new(MIN_DELAY_NS),
            last_balance: AtomicU64::new(0),
            all_busy_since: AtomicU64::new(0),
        }
    }

    /// Nanoseconds until threads should be balanced.
    pub fn delay_ns(&self) -> u64 {
        let due = self.last_balance.load(Ordering::Relaxed) + self.delay.load(Ordering::Relaxed);
        due.saturating_sub(now())
    }

    /// About how many bytes a thread allocates until then.
    pub fn delay_bytes(&self) -> usize {
        (self.delay_ns().max(MIN_DELAY_NS) * BYTES_PER_NS) as usize
    }

    /// Records that threads have been balanced.
    pub fn on_balance(&self) {
        let now = now();
        self.last_balance.store(now, Ordering::Relaxed);
        self.all_busy_since.store(now, Ordering::Relaxed);
    }

    /// Records that a HEC has become idle.
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

/// The next delay, after a balance that kept HECs busy for `busy` nanoseconds.
fn delay_after(delay: u64, busy: u64) -> u64 {
    match busy {
        0..COST_NS => (2 * delay).min(MAX_DELAY_NS),
        COST_NS..RESET_THRESHOLD_NS => delay,
        _ => MIN_DELAY_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pieces_are_balanced_ever_more_rarely() {
        let mut delay = MIN_DELAY_NS;
        for _ in 0..20 {
            delay = delay_after(delay, COST_NS / 2);
        }
        assert_eq!(delay, MAX_DELAY_NS);
        assert_eq!(delay_after(delay, 2 * COST_NS), delay);
        assert_eq!(delay_after(delay, RESET_THRESHOLD_NS), MIN_DELAY_NS);
    }

    #[test]
    fn a_balance_starts_the_delay() {
        let backoff = BalanceBackoff::new();
        assert_eq!(backoff.delay_ns(), 0);
        assert_eq!(backoff.delay_bytes(), (MIN_DELAY_NS * BYTES_PER_NS) as usize);
        backoff.delay.store(MAX_DELAY_NS, Ordering::Relaxed);
        backoff.on_balance();
        assert!(backoff.delay_ns() > MAX_DELAY_NS / 2);
    }

    #[test]
    fn the_first_idle_hec_ends_the_measurement() {
        let backoff = BalanceBackoff::new();
        backoff.on_idle();
        assert_eq!(backoff.delay.load(Ordering::Relaxed), MIN_DELAY_NS);
        backoff.on_balance();
        backoff.on_idle();
        backoff.on_idle();
        assert_eq!(backoff.delay.load(Ordering::Relaxed), 2 * MIN_DELAY_NS);
    }
}
