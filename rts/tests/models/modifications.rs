//! Threads that modify one variable, each in another way (`eval/atomic_modify.rs`): no modification is lost and none counts twice.
//!
//! A value is what one modification has made of another value. The shipped code is what changes the variable; what evaluates is a short form.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::mut_var::{put_before, replace};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// The value that is there before, and that of which none is made.
const FIRST: usize = 0;

struct World {
    variable: AtomicUsize,
    /// Of which value each was made. Written by who makes it, before it is published.
    made_of: Vec<UnsafeCell<usize>>,
}

unsafe impl Sync for World {}

impl World {
    fn new(modifications: usize) -> Arc<World> {
        let made_of = (0..=modifications).map(|_| UnsafeCell::new(FIRST)).collect();
        Arc::new(World { variable: AtomicUsize::new(FIRST), made_of })
    }
    fn look(&self) -> usize {
        self.variable.load(Ordering::Acquire)
    }
    fn make(&self, new: usize, of: usize) {
        self.made_of[new].with_mut(|before| unsafe { *before = of });
    }
    fn before(&self, value: usize) -> usize {
        self.made_of[value].with(|before| unsafe { *before })
    }
    /// Lazily.
    fn defer(&self, new: usize) {
        let found = put_before(&self.variable, new, |found| self.make(new, found));
        // Whoever has it returned may look at it.
        self.before(found);
    }
    /// Evaluated first, so often at most.
    fn evaluate(&self, new: usize, tries: usize) {
        for _ in 0..tries {
            let found = self.look();
            self.make(new, found);
            if replace(&self.variable, found, new) {
                return;
            }
        }
        self.defer(new);
    }
    /// Stopped in the midst of its evaluation.
    fn put_off(&self, new: usize) {
        let found = self.look();
        self.make(new, found);
        thread::yield_now();
        if !replace(&self.variable, found, new) {
            self.defer(new);
        }
    }
    /// All that has been made of what, the latest first.
    fn history(&self) -> Vec<usize> {
        let mut all = Vec::new();
        let mut value = self.look();
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
        let eager = thread::spawn(move || a.evaluate(1, 2));
        let lazy = thread::spawn(move || b.defer(2));
        w.put_off(3);
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
            a.evaluate(1, 1);
            a.evaluate(2, 2);
        });
        w.evaluate(3, 2);
        w.put_off(4);
        other.join().unwrap();
        check(&w, 4);
        // Each thread's own are in order.
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
        let one = thread::spawn(move || a.evaluate(1, 1));
        let two = thread::spawn(move || b.defer(2));
        let seen = w.look();
        if seen != FIRST {
            let before = w.before(seen);
            assert!(before == FIRST || before == 3 - seen);
        }
        one.join().unwrap();
        two.join().unwrap();
        check(&w, 2);
    });
}
