//! When a global collection is due: when weights are out, and a full collection of this PE leaves twice as much alive
//! as the last global one has left, and [`MIN_LIVE`] at least. What others refer to counts as alive, with all that it
//! leads to, and only a global collection can tell how much of that is garbage.
use crate::memory::fixed_blocks;
use crate::spread::run;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that may always be alive (32 MB).
const MIN_LIVE: usize = 32 << 20;

/// Bytes alive for which a cycle is due.
static LIMIT: AtomicUsize = AtomicUsize::new(MIN_LIVE);

/// A full collection has left `live` bytes in generations. The world is stopped.
pub fn after_full_collection(live: usize) {
    let Some(run) = run::current() else { return };
    let live = live + fixed_blocks::left();
    if run.cycle.is_marked() {
        LIMIT.store((2 * live).max(MIN_LIVE), Relaxed);
    } else if live > LIMIT.load(Relaxed) && run.step_without_hec(|step| step.has_given()) {
        super::request(run);
    }
}
