//! Parking a task: wake-ups that it has been given, and its sleep until there is one.
//!
//! *Protocol*
//! 1. A task that gives a wake-up adds it under the lock, and notifies the condition variable if the receiver sleeps.
//! 2. The receiver checks for wake-ups under the lock before it sleeps, and records there that it sleeps.
//!
//! So a wake-up that comes before it sleeps is seen, and one that comes after notifies it.
//!
//! A task may sleep elsewhere than on the condition variable ([`Parker::park_elsewhere`]). Then notifying it means to
//! call a function that ends that sleep, or the next one if it has not begun.
//!
//! *Invariant*: a check without the lock ([`Parker::has_wakeup`]) may be too early, but one that finds a wake-up is
//! right, because only the receiver takes them.
//!
//! *Checked by*: the loom models of the hand-off (`rts/tests/models/support/hec_world.rs`), which compile this file.
use crate::base::atomics::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;
use std::cell::UnsafeCell;
use std::time::Duration;

/// A wake-up: what a waiting task is given.
pub enum Wakeup<C> {
    /// The HEC of this number.
    Hec(usize),
    /// That HEC, if it is still free when the task checks.
    Check(usize),
    /// A foreign call to make.
    Call(C),
}

impl<C> Wakeup<C> {
    /// The HEC that the task is given, or sent to check.
    pub fn hec(&self) -> Option<usize> {
        match *self {
            Wakeup::Hec(no) | Wakeup::Check(no) => Some(no),
            Wakeup::Call(_) => None,
        }
    }
}

pub struct Parker<T>(UnsafeCell<Inner<T>>);

struct Inner<T> {
    list: Mutex<List<T>>,
    condvar: Condvar,
    /// The list is not empty.
    has_wakeup: AtomicBool,
}

struct List<T> {
    wakeups: Vec<T>,
    asleep: Asleep,
}

/// Where the task sleeps.
#[derive(Clone, Copy)]
enum Asleep {
    No,
    /// On the condition variable.
    Here,
    /// The function ends its sleep.
    Elsewhere(fn(usize), usize),
}

// SAFETY: as for the inner value, which is replaced only while no other OS thread exists.
unsafe impl<T: Send> Sync for Parker<T> {}
unsafe impl<T: Send> Send for Parker<T> {}

impl<T> Inner<T> {
    fn new() -> Inner<T> {
        Inner {
            list: Mutex::new(List { wakeups: Vec::new(), asleep: Asleep::No }),
            condvar: Condvar::new(),
            has_wakeup: AtomicBool::new(false),
        }
    }

    fn notify(&self, asleep: Asleep) {
        match asleep {
            Asleep::No => {}
            Asleep::Here => self.condvar.notify_one(),
            Asleep::Elsewhere(wake, at) => wake(at),
        }
    }

    // Code that holds the lock can panic only for lack of memory, which ends the program.
    fn lock(&self) -> MutexGuard<'_, List<T>> {
        unpoisoned(self.list.lock())
    }
}

impl<T> Parker<T> {
    pub fn new() -> Parker<T> {
        Parker(UnsafeCell::new(Inner::new()))
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: see `renew`.
        unsafe { &*self.0.get() }
    }

    /// Gives the task a wake-up. Any OS thread may call this.
    pub fn unpark(&self, wakeup: T) {
        let inner = self.inner();
        let mut list = inner.lock();
        list.wakeups.push(wakeup);
        inner.has_wakeup.store(true, Ordering::Release);
        let asleep = list.asleep;
        drop(list);
        inner.notify(asleep);
    }

    /// Is there a wake-up that has not been taken? Called by the task.
    pub fn has_wakeup(&self) -> bool {
        self.inner().has_wakeup.load(Ordering::Acquire)
    }

    /// Takes the latest wake-up, or sleeps until there is one. Called by the task.
    pub fn park(&self) -> T {
        let inner = self.inner();
        let mut list = inner.lock();
        loop {
            if let Some(wakeup) = list.wakeups.pop() {
                inner.has_wakeup.store(!list.wakeups.is_empty(), Ordering::Relaxed);
                return wakeup;
            }
            list.asleep = Asleep::Here;
            list = unpoisoned(inner.condvar.wait(list));
            list.asleep = Asleep::No;
        }
    }

    /// Sleeps for `time`, or until a wake-up is given or [`Parker::wake`] is called. Does not sleep if `awake` is true.
    /// Called by the task.
    pub fn park_timeout(&self, time: Duration, awake: impl FnOnce() -> bool) {
        let inner = self.inner();
        let mut list = inner.lock();
        if list.wakeups.is_empty() && !awake() {
            list.asleep = Asleep::Here;
            list = unpoisoned(inner.condvar.wait_timeout(list, time)).0;
            list.asleep = Asleep::No;
        }
    }

    /// Takes the latest wake-up. If there is none, runs `sleep`, which the function `wake`, called with `at`, ends
    /// early; it returns at once if that has been called since the last time. Called by the task.
    pub fn park_elsewhere(&self, wake: fn(usize), at: usize, sleep: impl FnOnce()) -> Option<T> {
        let inner = self.inner();
        let mut list = inner.lock();
        if list.wakeups.is_empty() {
            list.asleep = Asleep::Elsewhere(wake, at);
            drop(list);
            sleep();
            list = inner.lock();
            list.asleep = Asleep::No;
        }
        let wakeup = list.wakeups.pop();
        inner.has_wakeup.store(!list.wakeups.is_empty(), Ordering::Relaxed);
        wakeup
    }

    /// Ends the sleep of the task, if it sleeps in [`Parker::park_timeout`]. Any OS thread may call this.
    pub fn wake(&self) {
        let inner = self.inner();
        let asleep = inner.lock().asleep;
        inner.notify(asleep);
    }

    /// Drops all wake-ups and makes the lock anew, without reading either.
    /// # Safety
    /// No other OS thread uses this any more: in the child of a fork.
    pub unsafe fn renew(&self) {
        std::ptr::write(self.0.get(), Inner::new());
    }
}
