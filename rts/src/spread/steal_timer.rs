//! When this processing element may ask others for work again.
use crate::cluster::ids::Micros;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Instead of a time: a request is under way.
const ASKED: Micros = Micros::MAX;

/// Written under the element's lock, and by the network task while it is its turn to ask.
#[derive(Default)]
pub struct StealTimer {
    /// When the network task asks; 0 if a HEC may ask at once.
    next: AtomicU64,
    /// A HEC has said that it has nothing to run since the network task has looked.
    is_wanted: AtomicBool,
}

impl StealTimer {
    /// A HEC has nothing to run. True if it may ask at once.
    pub fn want(&self) -> bool {
        // Before the look at the time: the network task reads them in the other order.
        self.is_wanted.store(true, Ordering::SeqCst);
        self.next.load(Ordering::SeqCst) == 0
    }

    /// When the network task has to look.
    pub fn deadline(&self) -> Option<Micros> {
        let next = self.next.load(Ordering::SeqCst);
        (next != 0 && next != ASKED).then_some(next)
    }

    /// The network task looks: from now on a HEC may ask at once. True if one has said that it has nothing to run.
    pub fn take_wanted(&self) -> bool {
        self.next.store(0, Ordering::SeqCst);
        self.is_wanted.swap(false, Ordering::SeqCst)
    }

    /// A request is under way.
    pub fn set_asked(&self) {
        self.next.store(ASKED, Ordering::SeqCst);
    }

    pub fn set_next(&self, time: Micros) {
        self.next.store(time, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hec_asks_only_if_nobody_waits() {
        let timer = StealTimer::default();
        assert!(timer.want() && timer.deadline().is_none());
        timer.set_asked();
        assert!(!timer.want() && timer.deadline().is_none());
        timer.set_next(7);
        assert!(!timer.want());
        assert_eq!(timer.deadline(), Some(7));
        assert!(timer.take_wanted() && !timer.take_wanted());
        assert!(timer.want());
    }
}
