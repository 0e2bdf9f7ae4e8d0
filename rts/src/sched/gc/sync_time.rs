//! How long stopping the world takes, and the warnings of `--long-gc-sync`.
//!
//! *Protocol*
//! 1. The task that stops the world records when it began and when it had all HECs.
//! 2. Meanwhile the ticker, which runs anyway, checks whether that takes too long. Without a ticker only the end is
//!    reported.
use crate::base::clock::getProcessElapsedTime;
use crate::hec;
use crate::sched::handoff;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::OnceLock;

/// The limit and callbacks of `--long-gc-sync`. Times are in nanoseconds.
#[derive(Clone, Copy)]
pub struct Watch {
    /// Greater than zero.
    pub limit: i64,
    /// Called with a HEC that is still running, and the time for which the world has been stopping.
    pub on_slow: fn(u32, i64),
    /// Called when the world is stopped, with the time that it took.
    pub on_stopped: fn(i64),
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// When a task began to stop the world, or 0 while none does.
static BEGUN: AtomicI64 = AtomicI64::new(0);
/// How many times the limit had passed at the ticker's last warning.
static WARNED: AtomicI64 = AtomicI64::new(0);
/// The duration of the last stop.
static TOOK: AtomicI64 = AtomicI64::new(0);

/// Sets the limit and callbacks. Called once at start.
pub fn watch(w: Watch) {
    let _ = WATCH.set(w);
}

/// The calling task begins to stop the world. No other task does.
pub(in crate::sched) fn begin() {
    WARNED.store(0, Ordering::Relaxed);
    BEGUN.store(getProcessElapsedTime(), Ordering::Relaxed);
}

/// The world is stopped.
pub(in crate::sched) fn end() {
    let took = getProcessElapsedTime() - BEGUN.swap(0, Ordering::Relaxed);
    TOOK.store(took, Ordering::Relaxed);
    if let Some(w) = WATCH.get().filter(|w| took > w.limit) {
        (w.on_stopped)(took);
    }
}

/// How long stopping the world has taken, or 0 if no other task had to stop. The world is stopped.
pub(in crate::sched) fn took() -> i64 {
    TOOK.swap(0, Ordering::Relaxed)
}

/// Checks the time. Called at every tick while HECs are busy.
pub fn tick() {
    let begun = BEGUN.load(Ordering::Relaxed);
    let Some(w) = WATCH.get().filter(|_| begun != 0) else { return };
    let elapsed = getProcessElapsedTime() - begun;
    let times = elapsed / w.limit;
    if times > WARNED.swap(times, Ordering::Relaxed) {
        if let Some(no) = (0..hec::count()).find(|&no| handoff::is_awaited(no)) {
            (w.on_slow)(no as u32, elapsed);
        }
    }
}
