//! Stands for `rts/src/base/atomics.rs`: loom's atomics, adapted so that loom explores all interleavings.
//!
//! Loom runs two accesses of a variable in both orders only if one of them is the last before the other with which it
//! may not be swapped. Of a variable's loads it remembers only the last. So the load by a thread that then changes the
//! variable hides the loads of all other threads, and orders in which those come second are never run (loom's issues
//! 166 and 392). So each variable here has another beside it that every access changes. That access is relaxed. It
//! makes nothing visible that the access itself does not, and makes no load newer than it may be.
use loom::sync::atomic;
pub use loom::sync::atomic::{fence, Ordering};
pub use loom::sync::{Condvar, Mutex, MutexGuard};

std::thread_local! {
    /// Iterations of waiting so far in this execution. Loom runs all its threads on one OS thread.
    static WAITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
/// Iterations of waiting that are explored. Loom would try any number; what follows is run in one way only.
const EXPLORED_WAITS: usize = 4;

/// Begins an execution.
pub fn begin() {
    WAITS.set(0);
}

pub fn spin_loop() {
    if WAITS.replace(WAITS.get() + 1) == EXPLORED_WAITS {
        loom::stop_exploring();
    }
    loom::thread::yield_now();
}

pub fn yield_now() {
    spin_loop()
}

macro_rules! atomic {
    ($name:ident, $of:ty) => {
        pub struct $name {
            value: atomic::$name,
            accesses: atomic::AtomicBool,
        }

        impl $name {
            pub fn new(value: $of) -> $name {
                $name { value: atomic::$name::new(value), accesses: atomic::AtomicBool::new(false) }
            }
            fn accessed(&self) -> &atomic::$name {
                self.accesses.swap(true, Ordering::Relaxed);
                &self.value
            }
            pub fn load(&self, order: Ordering) -> $of {
                self.accessed().load(order)
            }
            pub fn store(&self, value: $of, order: Ordering) {
                self.accessed().store(value, order)
            }
            pub fn swap(&self, value: $of, order: Ordering) -> $of {
                self.accessed().swap(value, order)
            }
            pub fn compare_exchange(
                &self,
                old: $of,
                new: $of,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$of, $of> {
                self.accessed().compare_exchange(old, new, success, failure)
            }
        }
    };
}

atomic!(AtomicBool, bool);
atomic!(AtomicU16, u16);
atomic!(AtomicU32, u32);
atomic!(AtomicUsize, usize);

impl AtomicUsize {
    pub fn fetch_add(&self, n: usize, order: Ordering) -> usize {
        self.accessed().fetch_add(n, order)
    }
    pub fn fetch_sub(&self, n: usize, order: Ordering) -> usize {
        self.accessed().fetch_sub(n, order)
    }
}

/// The system's queue of sleepers has a lock of its own, as here.
pub struct Futex {
    word: AtomicU32,
    queue: Mutex<()>,
    bell: Condvar,
}

impl Futex {
    pub fn new(value: u32) -> Futex {
        Futex { word: AtomicU32::new(value), queue: Mutex::new(()), bell: Condvar::new() }
    }
    pub fn load(&self, order: Ordering) -> u32 {
        self.word.load(order)
    }
    pub fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.word.swap(value, order)
    }
    pub fn wait(&self, expected: u32, _timeout: Option<std::time::Duration>) {
        let queue = self.queue.lock().unwrap();
        if self.word.load(Ordering::Relaxed) == expected {
            drop(self.bell.wait(queue).unwrap());
        }
    }
    pub fn wake_one(&self) {
        drop(self.queue.lock().unwrap());
        self.bell.notify_one();
    }
}

/// A case that loom alone runs in one order only.
#[test]
fn a_load_before_a_store_hides_no_other_load() {
    use std::sync::{Arc, Mutex};
    let found = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let all = found.clone();
    crate::explore(2, move || {
        let variable = loom::sync::Arc::new(AtomicUsize::new(0));
        let theirs = variable.clone();
        let other = loom::thread::spawn(move || {
            theirs.load(Ordering::Relaxed);
            theirs.store(1, Ordering::Relaxed);
        });
        found.lock().unwrap().insert(variable.load(Ordering::Relaxed));
        other.join().unwrap();
    });
    assert!(all.lock().unwrap().iter().eq(&[0, 1]));
}

pub fn zeros(n: usize) -> Box<[AtomicUsize]> {
    (0..n).map(|_| AtomicUsize::new(0)).collect()
}
