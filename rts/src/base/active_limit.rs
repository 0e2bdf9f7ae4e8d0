//! How many HECs are busy at a time: no more than there are cores, however many there may be.
//!
//! Two busy HECs on a core only take turns: each waits for the other with what it holds (a lock,
//! the world that is to be stopped), and their nurseries push each other out of the cache. So the
//! HECs that are busy share their threads with those that rest only while there is a core for one
//! more. A HEC that has not come back to its scheduler for a time slice is *stuck*, in an unsafe
//! foreign call most likely, and may well need no core: it does not count. Nor can a HEC be kept
//! from a thread that is tied to it, or that comes back to it from a safe foreign call.
use crate::hec::idle::IdleCount;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of all HECs.
pub struct ActiveLimit {
    cores: AtomicUsize,
    /// HECs that run threads, busy or not.
    all: AtomicUsize,
    pub idle: IdleCount,
    blocked_in_ffi: AtomicUsize,
}

pub static ACTIVE_HECS: ActiveLimit = ActiveLimit::new();

impl ActiveLimit {
    const fn new() -> ActiveLimit {
        let [all, idle, blocked_in_ffi] = [const { AtomicUsize::new(0) }; 3];
        ActiveLimit { cores: AtomicUsize::new(usize::MAX), all, idle: IdleCount(idle), blocked_in_ffi }
    }

    /// There are so many cores.
    pub fn set_cores(&self, n: usize) {
        self.cores.store(n, Ordering::Relaxed);
    }

    /// From now on so many HECs run threads.
    pub fn set_all(&self, n: usize) {
        self.all.store(n, Ordering::Relaxed);
    }

    /// How many of them do not rest.
    pub fn busy(&self) -> usize {
        self.all.load(Ordering::Relaxed).saturating_sub(self.idle.count())
    }

    /// So many are stuck.
    pub fn set_blocked_in_ffi(&self, n: usize) {
        self.blocked_in_ffi.store(n, Ordering::Relaxed);
    }

    /// How many of those that rest may be given something to do.
    pub fn available(&self) -> usize {
        // One look: another one comes or goes at any moment.
        let (cores, all, idle) =
            (self.cores.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed), self.idle.count());
        if all <= cores {
            return idle;
        }
        idle.min((cores + self.blocked_in_ffi.load(Ordering::Relaxed)).saturating_sub(all.saturating_sub(idle)))
    }

    /// Are more busy than there are cores? Then who waits awake keeps others from what is waited for.
    pub fn oversubscribed(&self) -> bool {
        self.busy() > self.cores.load(Ordering::Relaxed)
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
    fn all_may_be_busy_with_a_core_for_each() {
        assert_eq!(limit_of(4, 4, 3, 0).available(), 3);
        assert_eq!(limit_of(2, 2, 0, 0).available(), 0);
    }

    #[test]
    fn no_more_are_busy_than_there_are_cores() {
        assert_eq!(limit_of(2, 8, 8, 0).available(), 2);
        assert_eq!(limit_of(2, 8, 7, 0).available(), 1);
        assert_eq!(limit_of(2, 8, 6, 0).available(), 0);
        assert_eq!(limit_of(2, 8, 3, 0).available(), 0);
        assert!(!limit_of(2, 8, 6, 0).oversubscribed());
        assert!(limit_of(2, 8, 5, 0).oversubscribed());
        assert!(limit_of(2, 8, 7, 0).has_spare_core() && !limit_of(2, 8, 6, 0).has_spare_core());
    }

    #[test]
    fn who_is_stuck_does_not_count() {
        assert_eq!(limit_of(2, 8, 6, 1).available(), 1);
        assert_eq!(limit_of(2, 8, 6, 2).available(), 2);
        assert_eq!(limit_of(2, 3, 1, 2).available(), 1);
    }
}
