//! Whether a HEC is left for short foreign calls, again and again: then whoever has been sent for to take it waits a little, for to wake
//! another OS thread at each call costs the holder more than its calls do. `seat.rs` has the protocol; nothing here decides who holds the HEC.
use super::task::TaskRef;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A call that lasts no longer is a short one.
const SHORT_CALL: Duration = Duration::from_micros(5);
/// How long, and how often, who has been sent for naps while short calls follow each other: so many at least in a nap.
const NAP: Duration = Duration::from_micros(50);
const MOST_NAPS: usize = 20;
const SHORT_CALLS: usize = 8;

/// How often a HEC has been left for a foreign call, though somebody or something waited for it.
pub struct Departures(AtomicUsize);

impl Departures {
    pub const fn new() -> Departures {
        Departures(AtomicUsize::new(0))
    }

    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits as long as short calls follow each other, or until `me` is given something. For `me`, who has been sent for.
    pub fn linger(&self, me: TaskRef) {
        let mut seen = self.0.load(Ordering::Relaxed);
        let mut since_then = || {
            let now = self.0.load(Ordering::Relaxed);
            now.wrapping_sub(std::mem::replace(&mut seen, now))
        };
        me.watch(SHORT_CALL);
        let mut calls_are_short = since_then() >= 1;
        for _ in 0..MOST_NAPS {
            if !calls_are_short || me.is_called() {
                return;
            }
            me.doze(NAP);
            calls_are_short = since_then() >= SHORT_CALLS;
        }
    }
}
