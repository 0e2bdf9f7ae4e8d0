//! What a collection is asked for, and what came of it.
use crate::abi::{Closure, Tso};
use crate::memory::Used;
use crate::observe::gc_phases::PhaseCosts;

/// What is asked for. More is collected if a generation has reached its limit.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub generation: usize,
    /// Nobody can run: find out which threads never will.
    pub deadlock: bool,
}

impl Request {
    pub const MINOR: Request = Request { generation: 0, deadlock: false };
    pub const MAJOR: Request = Request { generation: usize::MAX, deadlock: false };
}

/// What came of a collection.
#[derive(Default, Debug)]
pub struct Outcome {
    /// The oldest generation that was collected.
    pub generation: usize,
    pub major: bool,
    /// Threads that nothing refers to: each needs an exception, or it is lost for good.
    pub resurrected: Vec<Tso>,
    /// Weak pointers whose keys have died. Before anything else runs, the caller must take
    /// their finalizers out, which are kept just now, and make them `DEAD_WEAK`: they have lost their keys, and those without
    /// finalizers in C their values.
    pub dead_weaks: Vec<Closure>,
    pub copied_words: usize,
    /// What large objects, which stay where they are, had to be looked at.
    pub scanned_bytes: usize,
    /// Those of the words copied that had survived one collection before.
    pub aged_words: usize,
    /// Those that had been promoted before.
    pub promoted_words: usize,
    /// What all generations hold, those not collected included; after a full collection all of it is alive.
    pub live: Used,
    /// The bytes of their blocks that hold nothing.
    pub slop: usize,
    /// A full collection has left more alive than the limit on the heap allows.
    pub over_limit: bool,
    /// A young one has left more in use than that: only a full one tells how much of it is alive. The caller has it follow at once.
    pub full_is_due: bool,
    /// GC threads that took part.
    pub threads: usize,
    /// The most that one of them copied, and the part of all that was evenly shared.
    pub max_copied_words: usize,
    pub balanced_words: usize,
    pub phases: PhaseCosts,
    /// How many nanoseconds after the call the first helper was there, if one came.
    pub helper_late: Option<f64>,
    /// The part of the work that helpers did, if any were called.
    pub helped: Option<f64>,
}

impl Outcome {
    /// Rates how evenly the work was shared, from what each thread copied. Up to an even share
    /// each is *useful*; one thread alone does `1/n` of the work usefully, which counts as
    /// nothing, so that the balanced part is between none (serial) and all (perfect).
    pub(super) fn balance(&mut self, copied: &[usize]) {
        let (n, all) = (copied.len(), self.copied_words);
        self.max_copied_words = copied.iter().copied().max().unwrap_or(0);
        if n > 1 {
            let useful: usize = copied.iter().map(|&c| (n * c).min(all)).sum();
            self.balanced_words = useful.saturating_sub(all) / (n - 1);
        }
    }
}
