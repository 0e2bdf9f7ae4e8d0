//! The limit on active HECs: at most one for each core, however many HECs there are.
//!
//! Two active HECs on a core take turns. Each waits for the other while that holds a lock or does not yet stop, and
//! their nurseries evict each other from the cache.
//!
//! *Invariants*
//!
//! - Active HECs share their threads with idle ones only while a core is free for one more.
//! - A HEC that has not returned to its scheduler for a time slice does not count. It is most likely in an unsafe
//!   foreign call, which may need no core.
//! - The limit does not apply to a thread that is bound to a HEC, or that returns to it from a safe foreign call.
use crate::base::idle_count::IdleCount;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The limit, and the counts that it depends on.
pub struct ActiveLimit {
    cores: AtomicUsize,
    /// HECs that run threads, active or idle.
    all: AtomicUsize,
    pub idle: IdleCount,
    blocked_in_ffi: AtomicUsize,
    /// Other processes of the same program on this machine, with as many HECs each.
    neighbours: AtomicUsize,
}

pub static ACTIVE_HECS: ActiveLimit = ActiveLimit::new();

impl ActiveLimit {
    const fn new() -> ActiveLimit {
        let [all, idle, blocked_in_ffi, neighbours] = [const { AtomicUsize::new(0) }; 4];
        ActiveLimit { cores: AtomicUsize::new(usize::MAX), all, idle: IdleCount(idle), blocked_in_ffi, neighbours }
    }

    /// Sets the number of cores.
    pub fn set_cores(&self, n: usize) {
        self.cores.store(n, Ordering::Relaxed);
    }

    /// Sets the number of HECs that run threads.
    pub fn set_all(&self, n: usize) {
        self.all.store(n, Ordering::Relaxed);
    }

    /// Sets the number of other processes of the program on this machine.
    pub fn set_neighbours(&self, n: usize) {
        self.neighbours.store(n, Ordering::Relaxed);
    }

    /// The number of HECs that are not idle.
    pub fn busy(&self) -> usize {
        self.all.load(Ordering::Relaxed).saturating_sub(self.idle.count())
    }

    /// Sets the number of HECs that are blocked in foreign calls.
    pub fn set_blocked_in_ffi(&self, n: usize) {
        self.blocked_in_ffi.store(n, Ordering::Relaxed);
    }

    /// How many of the idle HECs may become active.
    pub fn available(&self) -> usize {
        // One read of each: HECs become active or idle at any moment.
        let (cores, all, idle) =
            (self.cores.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed), self.idle.count());
        if all <= cores {
            return idle;
        }
        idle.min((cores + self.blocked_in_ffi.load(Ordering::Relaxed)).saturating_sub(all.saturating_sub(idle)))
    }

    /// Are more HECs active than there are cores? Then a thread that spins takes a core from the thread that it waits
    /// for. Those of other processes count as active: which of them are is not known.
    pub fn oversubscribed(&self) -> bool {
        let elsewhere = self.neighbours.load(Ordering::Relaxed) * self.all.load(Ordering::Relaxed);
        self.busy() + elsewhere > self.cores.load(Ordering::Relaxed)
    }

    /// Is there a core that no HEC needs?
    pub fn has_spare_core(&self) -> bool {
        self.busy() < self.cores.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit_of(cores: usize, all: usize, idle: usize, blocked_in_ffi: usize) -> ActiveLimit {
        let c = ActiveLimit::new();
        c.set_cores(cores);
        c.set_all(all);
        (0..idle).for_each(|_| c.idle.record(true));
        c.set_blocked_in_ffi(blocked_in_ffi);
        c
    }

    #[test]
    fn all_hecs_may_be_active_with_a_core_for_each() {
        assert_eq!(limit_of(4, 4, 3, 0).available(), 3);
        assert_eq!(limit_of(2, 2, 0, 0).available(), 0);
    }

    #[test]
    fn no_more_hecs_are_active_than_cores() {
        assert_eq!(limit_of(2, 8, 8, 0).available(), 2);
        assert_eq!(limit_of(2, 8, 7, 0).available(), 1);
        assert_eq!(limit_of(2, 8, 6, 0).available(), 0);
        assert_eq!(limit_of(2, 8, 3, 0).available(), 0);
        assert!(!limit_of(2, 8, 6, 0).oversubscribed());
        assert!(limit_of(2, 8, 5, 0).oversubscribed());
        assert!(limit_of(2, 8, 7, 0).has_spare_core() && !limit_of(2, 8, 6, 0).has_spare_core());
    }

    #[test]
    fn hecs_of_other_processes_count_as_active() {
        let limit = limit_of(4, 2, 1, 0);
        limit.set_neighbours(1);
        assert!(!limit.oversubscribed());
        limit.set_neighbours(2);
        assert!(limit.oversubscribed());
        assert_eq!(limit.available(), 1);
    }

    #[test]
    fn hecs_blocked_in_foreign_calls_do_not_count() {
        assert_eq!(limit_of(2, 8, 6, 1).available(), 1);
        assert_eq!(limit_of(2, 8, 6, 2).available(), 2);
        assert_eq!(limit_of(2, 3, 1, 2).available(), 1);
    }
}
