//! What is measured from the end of one collection to the end of the next, for those who choose sizes by it.
use crate::unpoisoned::unpoisoned;
use std::sync::Mutex;
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// The collection at its end was a full one.
    pub full: bool,
    /// Bytes allocated in nurseries, that the collection has copied, and by which old generations have grown.
    pub allocated: usize,
    pub copied: usize,
    pub promoted: usize,
    /// Nanoseconds that the program ran, and that it was stopped.
    pub run: f64,
    pub stopped: f64,
}

/// When the last collection ended.
static ENDED: Mutex<Option<Instant>> = Mutex::new(None);

/// For how long the program ran before the collection that took from `started` to `ended`, and how long that was, in nanoseconds. Called
/// once for each collection.
pub(super) fn times(started: Instant, ended: Instant) -> (f64, f64) {
    let resumed = unpoisoned(ENDED.lock()).replace(ended).unwrap_or(started);
    let nanoseconds = |from: Instant, to: Instant| to.saturating_duration_since(from).as_nanos() as f64;
    (nanoseconds(resumed, started), nanoseconds(started, ended))
}
