//! What a task has been given, and its sleep until there is something.
//!
//! Protocol. Whoever gives something adds it under the lock and rings if the task sleeps; the task looks
//! under the lock before it sleeps, and says there that it does. So what comes before it sleeps is
//! seen, what comes after rings. A look without the lock ([`Parker::any`]) may come too early; one that
//! finds something is right, for only the task takes.
use crate::base::atomics::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;
use std::cell::UnsafeCell;
use std::time::Duration;

/// What a waiting task is given.
pub enum Wakeup<C> {
    /// The HEC of this number.
    Hec(usize),
    /// That HEC, if it is still free.
    Look(usize),
    /// A foreign call to make.
    Call(C),
}

pub struct Parker<T>(UnsafeCell<Inner<T>>);

struct Inner<T> {
    list: Mutex<List<T>>,
    bell: Condvar,
    /// There is something on the list.
    any: AtomicBool,
}

struct List<T> {
    given: Vec<T>,
    asleep: bool,
}

// SAFETY: as for what is within, which is only replaced when nobody else is there.
unsafe impl<T: Send> Sync for Parker<T> {}
unsafe impl<T: Send> Send for Parker<T> {}

impl<T> Inner<T> {
    fn new() -> Inner<T> {
        Inner {
            list: Mutex::new(List { given: Vec::new(), asleep: false }),
            bell: Condvar::new(),
            any: AtomicBool::new(false),
        }
    }

    // Nothing that holds the lock can panic but for want of memory, which ends the program.
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

    /// Gives the task something. Any OS thread may do so.
    pub fn unpark(&self, it: T) {
        let inner = self.inner();
        let mut list = inner.lock();
        list.given.push(it);
        inner.any.store(true, Ordering::Release);
        let asleep = list.asleep;
        drop(list);
        if asleep {
            inner.bell.notify_one();
        }
    }

    /// Has something been given that has not been taken? For the task.
    pub fn any(&self) -> bool {
        self.inner().any.load(Ordering::Acquire)
    }

    /// Takes what was given last, or sleeps until something is. For the task.
    pub fn park(&self) -> T {
        let inner = self.inner();
        let mut list = inner.lock();
        loop {
            if let Some(it) = list.given.pop() {
                inner.any.store(!list.given.is_empty(), Ordering::Relaxed);
                return it;
            }
            list.asleep = true;
            list = unpoisoned(inner.bell.wait(list));
            list.asleep = false;
        }
    }

    /// Sleeps for so long, or until something is given or it is nudged; not if there is cause to be awake. For the task.
    pub fn park_timeout(&self, time: Duration, awake: impl FnOnce() -> bool) {
        let inner = self.inner();
        let mut list = inner.lock();
        if list.given.is_empty() && !awake() {
            list.asleep = true;
            list = unpoisoned(inner.bell.wait_timeout(list, time)).0;
            list.asleep = false;
        }
    }

    /// If the task dozes: there is cause to be awake. Any OS thread may call this.
    pub fn wake(&self) {
        let inner = self.inner();
        if inner.lock().asleep {
            inner.bell.notify_one();
        }
    }

    /// Forgets what there is, without looking at it.
    /// # Safety
    /// No other OS thread is left that uses it: in the child of a fork.
    pub unsafe fn renew(&self) {
        std::ptr::write(self.0.get(), Inner::new());
    }
}
