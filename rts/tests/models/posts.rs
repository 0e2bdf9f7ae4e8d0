//! Letters and calls: none is lost, whenever the holder of a HEC lets go of it or runs a thread.
use crate::explore;
use crate::post::Post;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

const END: usize = 100;

#[test]
fn a_call_stops_a_thread_that_is_about_to_run() {
    explore(3, || {
        let shared = Arc::new((Post::<u8>::new(), AtomicUsize::new(END)));
        let theirs = shared.clone();
        let caller = thread::spawn(move || theirs.0.call_back(&theirs.1));
        shared.0.open(&shared.1, END);
        caller.join().unwrap();
        assert_eq!(shared.1.load(Ordering::Relaxed), 0);
        assert!(shared.0.called_back());
        assert!(!shared.0.called_back());
    });
}

/// A HEC with its seat, as `sched/seat.rs` has them: is it held?
struct Hec {
    post: Post<u8>,
    limit: AtomicUsize,
    held: Mutex<bool>,
    read: Mutex<Vec<u8>>,
}

impl Hec {
    /// What a holder does between threads until it has nothing to do, and then lets go.
    fn schedule(&self) {
        loop {
            self.post.called_back();
            if self.post.any() {
                let letters = self.post.take();
                self.read.lock().unwrap().extend(letters);
            }
            self.post.open(&self.limit, END);
            let mut held = self.held.lock().unwrap();
            if !self.post.any() {
                *held = false;
                return;
            }
        }
    }

    /// As `seat::deliver`.
    fn send(&self, letter: u8) {
        self.post.add(letter);
        let mut held = self.held.lock().unwrap();
        if *held {
            drop(held);
            return self.post.call_back(&self.limit);
        }
        *held = true;
        drop(held);
        self.schedule();
    }
}

fn letters(held: bool, preemptions: usize) {
    explore(preemptions, move || {
        let hec = Arc::new(Hec {
            post: Post::new(),
            limit: AtomicUsize::new(END),
            held: Mutex::new(held),
            read: Mutex::new(Vec::new()),
        });
        let theirs = hec.clone();
        let sender = thread::spawn(move || theirs.send(1));
        if held {
            hec.schedule();
        } else {
            hec.send(2);
        }
        sender.join().unwrap();
        assert!(!*hec.held.lock().unwrap() && !hec.post.any());
        let mut read = hec.read.lock().unwrap();
        read.sort();
        assert_eq!(*read, if held { vec![1] } else { vec![1, 2] });
    });
}

#[test]
fn a_letter_is_read_though_the_holder_lets_go() {
    letters(true, 3);
}

#[test]
fn letters_to_a_hec_that_rests_are_each_read_once() {
    letters(false, 3);
}
