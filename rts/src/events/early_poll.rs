//! Polls before the next tick, for user schedulers: a thread whose deadline has come may preempt a running one.
//!
//! HECs that run threads poll at ticks. The deadlines of HECs that user schedulers use wake the ticker in between, and
//! it requests a poll then.
//!
//! *Protocol*
//! 1. The earliest deadline is one word. A task that sets a deadline, or has polled and finds the next one, lowers it
//!    ([`by`]), and then wakes the ticker if that sleeps for longer.
//! 2. The ticker says for how long it sleeps before it looks at the word ([`sleep_until`]). It clears the word when the
//!    deadline has come. One that is set meanwhile may be lost: then the poll comes with the next tick.
//!
//! Times are those of the system's monotonic clock, in nanoseconds. Under a random run order, where the event loops
//! have virtual time, there are no deadlines here.
use crate::base::atomics::Futex;
use crate::base::clock::getMonotonicNSec;
use crate::hec::run_order;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::LazyLock;
use std::time::Duration;

/// The earliest deadline.
static DEADLINE: AtomicU64 = AtomicU64::new(u64::MAX);
/// The end of the ticker's sleep. Before, or while the program is idle: 0.
static SLEEPS_UNTIL: AtomicU64 = AtomicU64::new(0);
static WOKEN: LazyLock<Futex> = LazyLock::new(|| Futex::new(0));

/// There is a deadline.
pub(super) fn by(deadline: u64) {
    if run_order::is_random() {
        return;
    }
    let before = DEADLINE.fetch_min(deadline, Ordering::SeqCst);
    if deadline < before && deadline < SLEEPS_UNTIL.load(Ordering::SeqCst) {
        WOKEN.swap(1, Ordering::SeqCst);
        WOKEN.wake_one();
    }
}

/// Sleeps until this time, or until there is an earlier deadline that has come. Returns true then. Only the ticker
/// calls this.
pub(super) fn sleep_until(end: u64) -> bool {
    SLEEPS_UNTIL.store(end, Ordering::SeqCst);
    loop {
        WOKEN.swap(0, Ordering::SeqCst);
        let deadline = DEADLINE.load(Ordering::SeqCst);
        let now = getMonotonicNSec();
        if now >= end || deadline <= now {
            SLEEPS_UNTIL.store(0, Ordering::SeqCst);
            if deadline <= now {
                DEADLINE.store(u64::MAX, Ordering::SeqCst);
            }
            return now < end;
        }
        WOKEN.wait(0, Some(Duration::from_nanos(deadline.min(end) - now)));
    }
}
