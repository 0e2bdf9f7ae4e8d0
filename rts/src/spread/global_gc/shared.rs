//! What the OS threads of a processing element (PE) share of its cycle.
use crate::base::poison::unpoisoned;
use crate::cluster::cycle::Cycles;
use crate::cluster::ids::Pe;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};

pub struct Shared {
    cycles: Mutex<Cycles>,
    pub(super) changed: Condvar,
    /// FLUSH has been sent, and END has not come. Written under the element's lock.
    pub(super) is_flushed: AtomicBool,
}

impl Shared {
    pub fn new(me: Pe, count: u16) -> Shared {
        let (cycles, changed) = (Mutex::new(Cycles::new(me, count)), Condvar::new());
        Shared { cycles, changed, is_flushed: AtomicBool::new(false) }
    }

    pub(super) fn cycles(&self) -> MutexGuard<'_, Cycles> {
        unpoisoned(self.cycles.lock())
    }

    /// Do computation messages wait for the end of a cycle? Under the element's lock.
    pub fn is_flushed(&self) -> bool {
        self.is_flushed.load(Relaxed)
    }

    /// How many cycles have come to their end.
    pub fn completed(&self) -> u64 {
        self.cycles().completed()
    }

    /// Is the collection that ends part of a cycle that has not been given up? Then all PEs have marked.
    pub fn is_marked(&self) -> bool {
        self.cycles().is_marked()
    }

    /// Must the network task receive, however much waits? From BEGIN to the end.
    pub fn must_receive(&self) -> bool {
        self.cycles().is_under_way()
    }
}
