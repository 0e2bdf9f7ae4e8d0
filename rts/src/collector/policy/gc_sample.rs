//! The measurements of one cycle, from the end of one collection to the end of the next.
use crate::base::poison::unpoisoned;
use std::sync::Mutex;
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub struct GcSample {
    /// The collection at the end was a full one.
    pub full: bool,
    /// Bytes allocated in nurseries, bytes that the collection copied, and bytes by which old generations have grown.
    pub allocated: usize,
    pub copied: usize,
    pub promoted: usize,
    /// Nanoseconds for which the program ran, and for which the collection stopped it.
    pub mutator_ns: f64,
    pub gc_ns: f64,
}

/// The end of the last collection, or the start of the program.
static RESUMED: Mutex<Option<Instant>> = Mutex::new(None);

/// Starts the measurement, at the start of the program.
pub(in crate::collector) fn init() {
    *unpoisoned(RESUMED.lock()) = Some(Instant::now());
}

/// Returns for how many nanoseconds the program has run since the last collection.
pub(in crate::collector) fn mutator_ns_so_far() -> f64 {
    unpoisoned(RESUMED.lock()).map_or(0.0, |resumed| nanoseconds(resumed, Instant::now()))
}

/// Ends the cycle of a collection that took from `started` to `ended`. Returns for how many nanoseconds the program ran
/// before it, and how many the collection took. Called once for each collection.
pub(in crate::collector) fn end_cycle(started: Instant, ended: Instant) -> (f64, f64) {
    let resumed = unpoisoned(RESUMED.lock()).replace(ended).unwrap_or(started);
    (nanoseconds(resumed, started), nanoseconds(started, ended))
}

fn nanoseconds(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_nanos() as f64
}
