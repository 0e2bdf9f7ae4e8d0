//! The request that starts a collection, and its outcome.
use crate::abi::{Closure, Tso};
use crate::memory::Used;
use crate::observe::gc_phases::PhaseCosts;

/// What the caller asks for. More is collected if a generation has reached its limit.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub generation: usize,
    /// No thread can run: find the threads that never will.
    pub deadlock: bool,
    /// Other processes collect at the same time, and all trace for each other.
    pub global: bool,
}

impl Request {
    pub const MINOR: Request = Request { generation: 0, deadlock: false, global: false };
    pub const MAJOR: Request = Request { generation: usize::MAX, deadlock: false, global: false };
    pub const GLOBAL: Request = Request { global: true, ..Request::MAJOR };
}

/// The outcome of a collection.
#[derive(Default, Debug)]
pub struct Outcome {
    /// The oldest generation that was collected.
    pub generation: usize,
    pub major: bool,
    /// Unreachable threads. Each needs an exception, or it is lost for good.
    pub resurrected: Vec<Tso>,
    /// Weak pointers with dead keys. The collection has kept their finalizers alive, has cleared their keys, and has
    /// cleared the values of those without C finalizers. Before anything else runs, the caller must take the
    /// finalizers out and turn the weak pointers into `DEAD_WEAK`.
    pub dead_weaks: Vec<Closure>,
    pub copied_words: usize,
    /// Bytes of large objects that were scavenged in place.
    pub scanned_bytes: usize,
    /// Those of the copied words that had survived one collection before.
    pub aged_words: usize,
    /// Those of the copied words that had been promoted before.
    pub promoted_words: usize,
    /// What all generations hold, including those not collected. After a full collection all of it is alive.
    pub live: Used,
    /// Bytes of the generations' blocks that hold nothing.
    pub slop: usize,
    /// This full collection has left more alive than the limit on the heap allows.
    pub over_limit: bool,
    /// This minor collection has left more in use than the limit allows. Only a full collection can tell how much of it
    /// is alive, so the caller must run one at once.
    pub full_is_due: bool,
    /// The number of GC workers that took part.
    pub threads: usize,
    /// The most that one worker copied, and the part of all copied words that was evenly shared.
    pub max_copied_words: usize,
    pub balanced_words: usize,
    pub phases: PhaseCosts,
    /// Nanoseconds from the call for helpers to the arrival of the first, if one came.
    pub helper_delay: Option<f64>,
    /// The fraction of the work that helpers did, if any were called.
    pub helped: Option<f64>,
}

impl Outcome {
    /// Rates how evenly the work was shared, from what each worker copied. Up to an even share, each worker's part is
    /// *useful*. One worker alone does `1/n` of the work usefully, which counts as nothing. So the balanced part is
    /// between none (serial) and all (perfect).
    pub(super) fn balance(&mut self, copied: &[usize]) {
        let (n, all) = (copied.len(), self.copied_words);
        self.max_copied_words = copied.iter().copied().max().unwrap_or(0);
        if n > 1 {
            let useful: usize = copied.iter().map(|&c| (n * c).min(all)).sum();
            self.balanced_words = useful.saturating_sub(all) / (n - 1);
        }
    }
}
