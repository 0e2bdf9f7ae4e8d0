//! Whether a HEC is left for short foreign calls, again and again: then whoever has been sent for to take it waits a little, for to wake
//! another OS thread at each call costs the holder more than its calls do. `mod.rs` has the protocol; nothing here decides who holds the HEC.
use crate::sched::call_predictor::SHORT;
use crate::sched::task::TaskRef;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A call that lasts no longer is a very short one.
const VERY_SHORT: Duration = Duration::from_micros(5);
/// How long, and how often, who has been sent for naps while very short calls follow each other: so many at least in a nap.
const NAP: Duration = Duration::from_micros(50);
const MAX_NAPS: usize = 20;
const CALLS: usize = 8;
/// One call of so many is a sample.
const SAMPLE: usize = 16;

/// How often a HEC has been left for a foreign call, though somebody or something waited for it: twice that, and one more if the last
/// call is expected to be short.
pub struct ShortCalls(AtomicUsize);

impl ShortCalls {
    pub const fn new() -> ShortCalls {
        ShortCalls(AtomicUsize::new(0))
    }

    /// It is left for a call that is expected to be short, or not. True if who lingers for the last one should do so no longer. Called under
    /// the seat's lock.
    pub fn count(&self, short: bool) -> bool {
        let was_short = self.is_short();
        self.0.store((self.so_far() + 1) << 1 | short as usize, Ordering::Relaxed);
        was_short && !short
    }

    /// Should this call be observed, though it is expected to be short? To observe one takes longer than many a call.
    pub fn is_sample(&self) -> bool {
        self.so_far() % SAMPLE == 0
    }

    fn so_far(&self) -> usize {
        self.0.load(Ordering::Relaxed) >> 1
    }

    /// Is the last call expected to be short?
    fn is_short(&self) -> bool {
        self.0.load(Ordering::Relaxed) & 1 != 0
    }

    /// Waits as long as calls are expected to be short, or very short ones follow each other, or until `me` is given something. For `me`,
    /// who has been sent for.
    pub fn await_short_call(&self, me: TaskRef) {
        if self.is_short() {
            return me.park_timeout(SHORT, || !self.is_short());
        }
        let mut seen = self.so_far();
        let mut since_then = || {
            let now = self.so_far();
            now.wrapping_sub(std::mem::replace(&mut seen, now))
        };
        me.watch(VERY_SHORT);
        let mut calls_follow = since_then() >= 1;
        for _ in 0..MAX_NAPS {
            if !calls_follow || me.is_called() {
                return;
            }
            me.park_timeout(NAP, || false);
            calls_follow = since_then() >= CALLS;
        }
    }
}
