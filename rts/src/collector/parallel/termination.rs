//! Termination detection for work that several workers share.
//!
//! Each worker may take work that another offers, and only a worker that has work can make more.
//!
//! *Protocol*
//! 1. `active` counts the workers that have work or may have taken some.
//! 2. A worker offers work only while it is active. It becomes inactive only when it has nothing left to offer.
//! 3. A worker that sees an offer becomes active *before* it tries to take it. So work is never absent from what is
//!    offered and not yet counted in `active`.
//! 4. When `active` is zero, no work exists and no worker can make any: all are done.
//! 5. A worker that finds nothing spins for a while, then sleeps. It looks for the last time after it has incremented
//!    `asleep`.
//!
//! *Invariants*: no worker sleeps through an offer or the end. An offer, and the last worker's becoming inactive, come
//! before the read of `asleep`; a sleeper's increment of `asleep` comes before its last look. A sequentially consistent
//! fence separates the two on either side, so one of them sees the other.
//!
//! *Locking*: `sleep_lock` is held from the increment of `asleep` until the condition variable is waited for.
//!
//! *Checked by*: the loom models in `rts/tests/models/termination.rs`.
use crate::base::atomics::{fence, spin_loop, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;

pub struct Termination {
    active: AtomicUsize,
    asleep: AtomicUsize,
    sleep_lock: Mutex<()>,
    work_or_end: Condvar,
    /// How often a worker looks for work before it sleeps.
    spins: usize,
}

impl Termination {
    pub fn new(spins: usize) -> Termination {
        Termination {
            active: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            sleep_lock: Mutex::new(()),
            work_or_end: Condvar::new(),
            spins,
        }
    }

    /// Makes the caller a worker. The first worker enters before others can.
    pub fn enter(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns how many workers have work, or look as if they had.
    pub fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    fn sleep_lock(&self) -> MutexGuard<'_, ()> {
        unpoisoned(self.sleep_lock.lock())
    }

    /// Announces that the caller, which is active, has put work where `offered` will see it.
    pub fn notify_work(&self) {
        self.wake(Condvar::notify_one);
    }

    /// Wakes one or all sleepers, if there are any.
    fn wake(&self, notify: fn(&Condvar)) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            drop(self.sleep_lock());
            notify(&self.work_or_end);
        }
    }

    /// Finds work that another worker offers, for a worker that has none. Returns `None` when all are done; the caller
    /// is then no worker any more. `offered` looks for work, `take` tries to take some.
    pub fn seek<T>(&self, mut offered: impl FnMut() -> bool, mut take: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            if let Some(work) = take() {
                return Some(work);
            }
            if self.active.fetch_sub(1, Ordering::SeqCst) == 1 {
                self.wake(Condvar::notify_all);
                return None;
            }
            let mut tries = 0;
            while !offered() {
                if self.active.load(Ordering::SeqCst) == 0 {
                    return None;
                }
                if tries < self.spins {
                    tries += 1;
                    spin_loop();
                } else {
                    self.sleep(&mut offered);
                }
            }
            self.active.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Sleeps until work may be available, or all are done.
    fn sleep(&self, offered: &mut impl FnMut() -> bool) {
        let sleep_lock = self.sleep_lock();
        self.asleep.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !offered() && self.active.load(Ordering::SeqCst) != 0 {
            drop(self.work_or_end.wait(sleep_lock));
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}
