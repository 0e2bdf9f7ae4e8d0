//! What is measured from the end of one collection to the end of the next, for those who choose sizes by it.
use crate::base::poison::unpoisoned;
use std::sync::Mutex;
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub struct GcSample {
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

/// When the last collection ended, or the program began.
static RESUMED: Mutex<Option<Instant>> = Mutex::new(None);

/// The program begins.
pub(in crate::collector) fn begin() {
    *unpoisoned(RESUMED.lock()) = Some(Instant::now());
}

/// For how long the program has run since the last collection, in nanoseconds.
pub(in crate::collector) fn run_by_now() -> f64 {
    unpoisoned(RESUMED.lock()).map_or(0.0, |resumed| nanoseconds(resumed, Instant::now()))
}

/// For how long the program ran before the collection that took from `started` to `ended`, and how long that was, in nanoseconds. Called
/// once for each collection.
pub(in crate::collector) fn times(started: Instant, ended: Instant) -> (f64, f64) {
    let resumed = unpoisoned(RESUMED.lock()).replace(ended).unwrap_or(started);
    (nanoseconds(resumed, started), nanoseconds(started, ended))
}

fn nanoseconds(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_nanos() as f64
}
