//! Models of threads that modify one variable in different ways (`eval/atomic_modify.rs`).
//!
//! A value stands for the modification that made it of another value. Evaluation is a short form.
//!
//! *Checked*: no modification is lost, and none counts twice.
//! *Shipped code*: `eval/mut_var.rs`.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::mut_var::{prepend, replace};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// The initial value, which no modification has made.
const FIRST: usize = 0;

struct World {
    variable: AtomicUsize,
    /// The value of which each was made. Written before the new value is published.
    made_of: Vec<UnsafeCell<usize>>,
}

unsafe impl Sync for World {}

impl World {
    fn new(modifications: usize) -> Arc<World> {
        let made_of = (0..=modifications).map(|_| UnsafeCell::new(FIRST)).collect();
        Arc::new(World { variable: AtomicUsize::new(FIRST), made_of })
    }
    fn read(&self) -> usize {
        self.variable.load(Ordering::Acquire)
    }
    fn make(&self, new: usize, of: usize) {
        self.made_of[new].with_mut(|before| unsafe { *before = of });
    }
    fn before(&self, value: usize) -> usize {
        self.made_of[value].with(|before| unsafe { *before })
    }
    /// Modifies lazily.
    fn modify_lazily(&self, new: usize) {
        let found = prepend(&self.variable, new, |found| self.make(new, found));
        // The caller may look at the value that it is given.
        self.before(found);
    }
    /// Evaluates the new value first, with at most `tries` attempts.
    fn modify_eagerly(&self, new: usize, tries: usize) {
        for _ in 0..tries {
            let found = self.read();
            self.make(new, found);
            if replace(&self.variable, found, new) {
                return;
            }
        }
        self.modify_lazily(new);
    }
    /// Modifies by a thread that is stopped during the evaluation.
    fn modify_stopped(&self, new: usize) {
        let found = self.read();
        self.make(new, found);
        thread::yield_now();
        if !replace(&self.variable, found, new) {
            self.modify_lazily(new);
        }
    }
    /// Returns all modifications, the latest first.
    fn history(&self) -> Vec<usize> {
        let mut all = Vec::new();
        let mut value = self.read();
        while value != FIRST {
            all.push(value);
            assert!(all.len() < self.made_of.len(), "made of itself: {all:?}");
            value = self.before(value);
        }
        all
    }
}

fn check(w: &World, modifications: usize) {
    let mut all = w.history();
    all.sort();
    assert_eq!(all, (1..=modifications).collect::<Vec<_>>());
}

#[test]
fn lazy_eager_and_stopped_modifications_are_all_kept() {
    explore(3, || {
        let w = World::new(3);
        let (a, b) = (w.clone(), w.clone());
        let eager = thread::spawn(move || a.modify_eagerly(1, 2));
        let lazy = thread::spawn(move || b.modify_lazily(2));
        w.modify_stopped(3);
        eager.join().unwrap();
        lazy.join().unwrap();
        check(&w, 3);
    });
}

#[test]
fn modifications_of_one_thread_stay_in_order() {
    explore(3, || {
        let w = World::new(4);
        let a = w.clone();
        let other = thread::spawn(move || {
            a.modify_eagerly(1, 1);
            a.modify_eagerly(2, 2);
        });
        w.modify_eagerly(3, 2);
        w.modify_stopped(4);
        other.join().unwrap();
        check(&w, 4);
        // Modifications of each thread are in order.
        let all = w.history();
        let at = |value| all.iter().position(|&v| v == value).unwrap();
        assert!(at(2) < at(1) && at(4) < at(3));
    });
}

#[test]
fn a_reader_sees_what_a_value_is_made_of() {
    explore(3, || {
        let w = World::new(2);
        let (a, b) = (w.clone(), w.clone());
        let one = thread::spawn(move || a.modify_eagerly(1, 1));
        let two = thread::spawn(move || b.modify_lazily(2));
        let seen = w.read();
        if seen != FIRST {
            let before = w.before(seen);
            assert!(before == FIRST || before == 3 - seen);
        }
        one.join().unwrap();
        two.join().unwrap();
        check(&w, 2);
    });
}
