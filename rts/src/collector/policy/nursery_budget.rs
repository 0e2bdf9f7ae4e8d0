//! The bytes that large nurseries of several HECs may have so far.
//!
//! Touching memory for the first time costs time, and the gain of a larger nursery cannot be known beforehand. The cost
//! of collections so far is known. So all nurseries together may take as many bytes as can be touched in the time that
//! collections have taken (a ski-rental rule). A program that ends early pays nothing for useless room. No program pays
//! more for its nurseries than it has paid for collections.
use crate::base::poison::unpoisoned;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// Nanoseconds to touch a byte for the first time, before it has been measured: the system clears a page.
const DEFAULT_TOUCH_NS: f64 = 0.25;

pub struct NurseryBudget {
    /// Nanoseconds that collections have taken.
    gc_ns: f64,
}

impl NurseryBudget {
    pub const fn new() -> NurseryBudget {
        NurseryBudget { gc_ns: 0.0 }
    }

    /// Returns the budget in bytes, if touching one costs `touch` nanoseconds.
    pub fn bytes(&self, touch: Option<f64>) -> usize {
        (self.gc_ns / touch.unwrap_or(DEFAULT_TOUCH_NS)) as usize
    }

    /// Records a collection of a single HEC (`alone`) or of several. For a single one [`super::nursery_trial`] weighs
    /// the cost.
    pub fn record(&mut self, c: &GcSample, alone: bool) {
        if !alone {
            self.gc_ns += c.gc_ns;
        }
    }
}

static NURSERY_BUDGET: Mutex<NurseryBudget> = Mutex::new(NurseryBudget::new());

/// Locks the state, for the collecting thread.
pub(in crate::collector) fn nursery_budget() -> MutexGuard<'static, NurseryBudget> {
    unpoisoned(NURSERY_BUDGET.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_what_can_be_touched_in_the_time_of_collections() {
        let cycle = |full| GcSample { full, allocated: 1 << 20, copied: 0, promoted: 0, mutator_ns: 1e6, gc_ns: 1e6 };
        let mut a = NurseryBudget::new();
        a.record(&cycle(false), true);
        assert_eq!(a.bytes(None), 0);
        a.record(&cycle(false), false);
        a.record(&cycle(true), false);
        assert_eq!((a.bytes(None), a.bytes(Some(2.0))), (8_000_000, 1_000_000));
    }
}
