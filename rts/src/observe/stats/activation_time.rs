//! How long activations of user schedulers take: the time of `switch` transactions and of upcalls. It is measured if
//! `+RTS --internal-counters` asks for it, because each measurement reads the clock twice.
use crate::base::clock::getMonotonicNSec;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_MEASURED: AtomicBool = AtomicBool::new(false);

/// The times of all HECs are measured from now on.
pub fn measure() {
    IS_MEASURED.store(true, Ordering::Relaxed);
}

#[inline]
fn is_measured() -> bool {
    IS_MEASURED.load(Ordering::Relaxed)
}

/// Nanoseconds that activations have taken on one HEC, and when the current one began, or 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActivationTime {
    total: u64,
    began: u64,
}

impl ActivationTime {
    /// An activation begins on the HEC, or goes on.
    #[inline]
    pub fn begin(&mut self) {
        if is_measured() && self.began == 0 {
            self.began = getMonotonicNSec();
        }
    }

    /// The HEC does something else from now on.
    #[inline]
    pub fn end(&mut self) {
        if self.began != 0 {
            self.total += getMonotonicNSec() - self.began;
            self.began = 0;
        }
    }

    /// The total, if it is measured.
    pub fn total(&self) -> Option<u64> {
        is_measured().then_some(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_between_begin_and_end() {
        let mut time = ActivationTime::default();
        measure();
        for _ in 0..2 {
            let before = time.total;
            time.begin();
            let began = time.began;
            while getMonotonicNSec() == began {}
            time.begin();
            assert_eq!(time.began, began);
            time.end();
            let after = time.total;
            time.end();
            assert!(after > before && time.total() == Some(after));
        }
    }
}
