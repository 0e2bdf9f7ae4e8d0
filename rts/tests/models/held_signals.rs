//! Models of signals that are held while the child of a fork is set up.
//!
//! *Checked*: each signal is delivered after it has arrived, and by one thread.
//! *Shipped code*: `events/held_signals.rs`.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::held_signals::Held;
use loom::sync::Arc;
use loom::thread;

const SIGNAL: i32 = 1;

struct Child {
    held: Held<usize>,
    /// How often the signal's handler has been started, and the sum of the signals' data.
    started: AtomicUsize,
    infos: AtomicUsize,
}

impl Child {
    fn new() -> Arc<Child> {
        let held = Held::new(SIGNAL as usize + 1, 0);
        held.begin();
        Arc::new(Child { held, started: AtomicUsize::new(0), infos: AtomicUsize::new(0) })
    }

    fn deliver(&self, signal: i32, info: usize) {
        assert_eq!(signal, SIGNAL);
        self.started.fetch_add(1, Ordering::Relaxed);
        self.infos.fetch_add(info, Ordering::Relaxed);
    }

    /// As the C handler.
    fn signal(&self, info: usize) {
        if !self.held.keep(SIGNAL, info, |signal, info| self.deliver(signal, info)) {
            self.deliver(SIGNAL, info);
        }
    }

    fn finish_setup(&self) {
        self.held.end(|signal, info| self.deliver(signal, info));
    }

    fn seen(&self) -> (usize, usize) {
        (self.started.load(Ordering::Relaxed), self.infos.load(Ordering::Relaxed))
    }
}

#[test]
fn a_signal_that_comes_as_the_child_gets_ready_is_delivered_once() {
    explore(3, || {
        let child = Child::new();
        let other = thread::spawn({
            let child = child.clone();
            move || child.signal(5)
        });
        child.finish_setup();
        other.join().unwrap();
        assert_eq!(child.seen(), (1, 5));
    });
}

#[test]
fn the_handler_runs_after_the_last_of_two_concurrent_signals() {
    explore(2, || {
        let child = Child::new();
        let others = [1, 2].map(|info| {
            let child = child.clone();
            thread::spawn(move || {
                let before = child.started.load(Ordering::Relaxed);
                child.signal(info);
                before
            })
        });
        child.finish_setup();
        let before = others.map(|other| other.join().unwrap());
        let (started, infos) = child.seen();
        // No handler had been started when the last signal arrived, or one more was started.
        assert!(before.iter().all(|&n| n < started), "{before:?} {started}");
        assert!(matches!((started, infos), (1, 1 | 2) | (2, 3)));
    });
}

#[test]
fn signals_held_for_an_earlier_child_are_dropped() {
    explore(2, || {
        let child = Child::new();
        child.signal(1);
        child.held.begin();
        child.signal(2);
        assert_eq!(child.seen(), (0, 0));
        child.finish_setup();
        assert_eq!(child.seen(), (1, 2));
        child.signal(4);
        assert_eq!(child.seen(), (2, 6));
    });
}
