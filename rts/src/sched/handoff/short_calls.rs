//! Waiting for short foreign calls: delays a task that has been sent to check a HEC.
//!
//! If a HEC is left for short foreign calls again and again, waking another OS thread at each call costs the holder
//! more than the calls do. So the task that has been sent to check waits a little. `mod.rs` has the protocol; nothing
//! here decides which task holds the HEC.
use crate::sched::call_predictor::MAX_SHORT_CALL;
use crate::sched::task::TaskRef;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The longest call that is very short: such calls are over before another task could run a thread.
const MAX_VERY_SHORT_CALL: Duration = Duration::from_micros(5);
/// How long the task naps each time while very short calls follow each other.
const NAP: Duration = Duration::from_micros(50);
/// The most naps, so that the task takes the HEC after a millisecond at the latest.
const MAX_NAPS: usize = 20;
/// The least number of calls during a nap for which very short calls count as following each other.
const MIN_CALLS_PER_NAP: usize = 8;
/// One call in this many is timed although its duration is predicted. Timing takes longer than many a call.
const SAMPLE_PERIOD: usize = 16;

/// The number of times that a HEC has been left for a foreign call while a task waited for it or work waited on it.
/// Stored twice as large, plus 1 if the last call is predicted to be short.
pub struct ShortCalls(AtomicUsize);

impl ShortCalls {
    pub const fn new() -> ShortCalls {
        ShortCalls(AtomicUsize::new(0))
    }

    /// The HEC is left for a call; `short` if the call is predicted to be short. Returns true if a task that waits for
    /// the previous call should stop waiting. Called under the slot's lock.
    pub fn record(&self, short: bool) -> bool {
        let was_short = self.is_short();
        self.0.store((self.calls_so_far() + 1) << 1 | short as usize, Ordering::Relaxed);
        was_short && !short
    }

    /// Should this call be timed, even if its duration is predicted?
    pub fn is_sample(&self) -> bool {
        self.calls_so_far().is_multiple_of(SAMPLE_PERIOD)
    }

    fn calls_so_far(&self) -> usize {
        self.0.load(Ordering::Relaxed) >> 1
    }

    /// Is the last call predicted to be short?
    fn is_short(&self) -> bool {
        self.0.load(Ordering::Relaxed) & 1 != 0
    }

    /// Waits while calls are predicted to be short or very short calls follow each other, or until `me` is given a
    /// wake-up. Called by `me`, which has been sent to check.
    pub fn await_short_call(&self, me: TaskRef) {
        if self.is_short() {
            return me.park_timeout(MAX_SHORT_CALL, || !self.is_short());
        }
        let mut seen = self.calls_so_far();
        let mut since_then = || {
            let now = self.calls_so_far();
            now.wrapping_sub(std::mem::replace(&mut seen, now))
        };
        me.spin_for(MAX_VERY_SHORT_CALL);
        let mut calls_follow = since_then() >= 1;
        for _ in 0..MAX_NAPS {
            if !calls_follow || me.has_wakeup() {
                return;
            }
            me.park_timeout(NAP, || false);
            calls_follow = since_then() >= MIN_CALLS_PER_NAP;
        }
    }
}
