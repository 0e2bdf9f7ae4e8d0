//! How much large nurseries of several HECs may take so far.
//!
//! To touch memory for the first time costs time, and what a larger nursery will save cannot be known. What small ones have cost is known: so
//! all nurseries together may take as much as can be touched in the time that collections have taken up to now. A program that ends before
//! its collections have cost anything pays nothing for room it has no use for, and none pays more for its nurseries than it has paid for
//! collections.
use crate::base::poison::unpoisoned;
use crate::collector::policy::gc_sample::GcSample;
use std::sync::{Mutex, MutexGuard};

/// Nanoseconds to touch a byte for the first time, before it is known: the system makes a page of zeros ready.
const TOUCH: f64 = 0.25;

pub struct NurseryBudget {
    /// Nanoseconds that collections have taken.
    spent: f64,
}

impl NurseryBudget {
    pub const fn new() -> NurseryBudget {
        NurseryBudget { spent: 0.0 }
    }

    /// Bytes, if to touch one costs so much.
    pub fn bytes(&self, touch: Option<f64>) -> usize {
        (self.spent / touch.unwrap_or(TOUCH)) as usize
    }

    /// A collection has been, of a HEC that was `alone` or of several. (Of one alone the cost is weighed by `nursery_trial.rs`.)
    pub fn record(&mut self, c: &GcSample, alone: bool) {
        if !alone {
            self.spent += c.stopped;
        }
    }
}

static NURSERY_BUDGET: Mutex<NurseryBudget> = Mutex::new(NurseryBudget::new());

/// What is allowed, for the thread that collects.
pub(in crate::collector) fn nursery_budget() -> MutexGuard<'static, NurseryBudget> {
    unpoisoned(NURSERY_BUDGET.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_what_can_be_touched_in_the_time_of_collections() {
        let cycle = |full| GcSample { full, allocated: 1 << 20, copied: 0, promoted: 0, run: 1e6, stopped: 1e6 };
        let mut a = NurseryBudget::new();
        a.record(&cycle(false), true);
        assert_eq!(a.bytes(None), 0);
        a.record(&cycle(false), false);
        a.record(&cycle(true), false);
        assert_eq!((a.bytes(None), a.bytes(Some(2.0))), (8_000_000, 1_000_000));
    }
}
