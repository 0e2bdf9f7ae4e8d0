//! When is shared work done? Each of the workers may find work in what the others offer, and
//! only a worker that has some can make more.
//!
//! `active` counts the workers that have work or may have taken some. A worker offers work only
//! while it is active, and stops being active only when it has nothing to offer any more. So
//! when the count is zero there is nothing anywhere, and nobody can make more: all are done. A
//! worker that sees an offer becomes active *before* it takes it: the offer cannot be gone from
//! one and not yet counted with the other.
//!
//! A worker that finds nothing looks around for a while, then sleeps. Its last look comes after
//! it has counted itself in `asleep`; an offer is made, or the last one stops being active, before `asleep` is read. With a full
//! fence between the two on either side, one sees the other: neither an offer nor the end is slept through.
use crate::base::atomics::{fence, spin_loop, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;

pub struct Termination {
    active: AtomicUsize,
    asleep: AtomicUsize,
    bed: Mutex<()>,
    awaken: Condvar,
    /// How often a worker looks around before it sleeps.
    patience: usize,
}

impl Termination {
    pub fn new(patience: usize) -> Termination {
        Termination {
            active: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            bed: Mutex::new(()),
            awaken: Condvar::new(),
            patience,
        }
    }

    /// The caller is a worker from now on. The first one enters before the others can.
    pub fn enter(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
    }

    /// Workers that have something to do, or look as if they had.
    pub fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    fn bed(&self) -> MutexGuard<'_, ()> {
        unpoisoned(self.bed.lock())
    }

    /// Says that the caller, who is active, has just put work where `offered` will see it.
    pub fn offer(&self) {
        self.wake(Condvar::notify_one);
    }

    /// Has one or all of those look again who sleep, if any do.
    fn wake(&self, notify: fn(&Condvar)) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            drop(self.bed());
            notify(&self.awaken);
        }
    }

    /// Work that another one offers, for a worker that has none: `None` when all are done, and
    /// the caller is no worker any more. `offered` looks, `take` tries to take.
    pub fn seek<T>(&self, mut offered: impl FnMut() -> bool, mut take: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            if let Some(work) = take() {
                return Some(work);
            }
            if self.active.fetch_sub(1, Ordering::SeqCst) == 1 {
                self.wake(Condvar::notify_all);
                return None;
            }
            let mut looks = 0;
            while !offered() {
                if self.active.load(Ordering::SeqCst) == 0 {
                    return None;
                }
                if looks < self.patience {
                    looks += 1;
                    spin_loop();
                } else {
                    self.sleep(&mut offered);
                }
            }
            self.active.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Sleeps until there may be something to do, or all are done.
    fn sleep(&self, offered: &mut impl FnMut() -> bool) {
        let bed = self.bed();
        self.asleep.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !offered() && self.active.load(Ordering::SeqCst) != 0 {
            drop(self.awaken.wait(bed));
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}
