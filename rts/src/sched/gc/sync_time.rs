//! How long it takes until the world stands still, and what `--long-gc-sync` wants to hear of that.
//!
//! Who stops the world notes when it began and when it had all HECs. Meanwhile the ticker, which runs anyway, looks whether that
//! takes too long; where there is no ticker, only the end is told.
use crate::base::clock::getProcessElapsedTime;
use crate::hec;
use crate::sched::handoff;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::OnceLock;

/// Who wants to hear. Times are in nanoseconds.
#[derive(Clone, Copy)]
pub struct Watch {
    /// More than nothing.
    pub limit: i64,
    /// The world has been stopping for so long, and this HEC goes on.
    pub waits: fn(u32, i64),
    /// It stood still after so long.
    pub has_waited: fn(i64),
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// When somebody began to stop the world; 0 while nobody does.
static BEGUN: AtomicI64 = AtomicI64::new(0);
/// How many times the limit has passed when the ticker last told.
static TOLD: AtomicI64 = AtomicI64::new(0);
/// What it took last.
static TOOK: AtomicI64 = AtomicI64::new(0);

/// Called once at start.
pub fn watch(w: Watch) {
    let _ = WATCH.set(w);
}

/// The calling task, and no other, stops the world.
pub(in crate::sched) fn begin() {
    TOLD.store(0, Ordering::Relaxed);
    BEGUN.store(getProcessElapsedTime(), Ordering::Relaxed);
}

/// The world stands still.
pub(in crate::sched) fn end() {
    let took = getProcessElapsedTime() - BEGUN.swap(0, Ordering::Relaxed);
    TOOK.store(took, Ordering::Relaxed);
    if let Some(w) = WATCH.get().filter(|w| took > w.limit) {
        (w.has_waited)(took);
    }
}

/// How long it has taken to stop the world, which stands still; nothing where there was nobody to stop.
pub(in crate::sched) fn took() -> i64 {
    TOOK.swap(0, Ordering::Relaxed)
}

/// Called at every tick while HECs are busy.
pub fn tick() {
    let begun = BEGUN.load(Ordering::Relaxed);
    let Some(w) = WATCH.get().filter(|_| begun != 0) else { return };
    let waits = getProcessElapsedTime() - begun;
    let times = waits / w.limit;
    if times > TOLD.swap(times, Ordering::Relaxed) {
        if let Some(no) = (0..hec::count()).find(|&no| handoff::is_awaited(no)) {
            (w.waits)(no as u32, waits);
        }
    }
}
