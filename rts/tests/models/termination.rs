//! Models of termination detection for shared work.
//!
//! *Checked*: all work is done, and all workers come to an end.
//! *Shipped code*: `collector/parallel/termination.rs`.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::termination::Termination;
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;

/// Pieces of work. Each says how many further pieces it makes.
struct Queue {
    pieces: Mutex<Vec<usize>>,
    /// Read without the lock, so it may be outdated.
    len: AtomicUsize,
}

impl Queue {
    fn new() -> Queue {
        Queue { pieces: Mutex::new(Vec::new()), len: AtomicUsize::new(0) }
    }
    fn push(&self, piece: usize) {
        let mut pieces = self.pieces.lock().unwrap();
        pieces.push(piece);
        self.len.store(pieces.len(), Ordering::Relaxed);
    }
    fn pop(&self) -> Option<usize> {
        let mut pieces = self.pieces.lock().unwrap();
        let piece = pieces.pop();
        self.len.store(pieces.len(), Ordering::Relaxed);
        piece
    }
    fn looks_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }
}

struct Work {
    termination: Termination,
    queues: Vec<Queue>,
    done: AtomicUsize,
}

impl Work {
    fn new(workers: usize, spins: usize) -> Work {
        Work {
            termination: Termination::new(spins),
            queues: (0..workers).map(|_| Queue::new()).collect(),
            done: AtomicUsize::new(0),
        }
    }

    fn share_piece(&self, me: usize, piece: usize) {
        self.queues[me].push(piece);
        self.termination.notify_work();
    }

    fn perform(&self, me: usize, piece: usize) {
        (0..piece).for_each(|_| self.share_piece(me, 0));
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Finds a piece that another worker offers, if there is one.
    fn seek(&self, me: usize) -> Option<usize> {
        let others = || (0..self.queues.len()).filter(move |&i| i != me);
        self.termination
            .seek(|| others().any(|i| !self.queues[i].looks_empty()), || others().find_map(|i| self.queues[i].pop()))
    }

    /// Works until all is done.
    fn drain(&self, me: usize) {
        loop {
            loop {
                let own = self.queues[me].pop();
                let Some(piece) = own else { break };
                self.perform(me, piece);
            }
            match self.seek(me) {
                Some(piece) => self.perform(me, piece),
                None => return,
            }
        }
    }
}

/// The first worker has the pieces, and the others arrive at any time.
fn check_sharing(workers: usize, spins: usize, pieces: &'static [usize]) {
    let work = Arc::new(Work::new(workers, spins));
    work.termination.enter();
    let helpers: Vec<_> = (1..workers)
        .map(|me| {
            let work = work.clone();
            thread::spawn(move || {
                work.termination.enter();
                work.drain(me);
            })
        })
        .collect();
    pieces.iter().for_each(|&piece| work.share_piece(0, piece));
    work.drain(0);
    // Nothing is left when the first one returns, though helpers may still be leaving.
    let all = pieces.len() + pieces.iter().sum::<usize>();
    assert_eq!(work.done.load(Ordering::Relaxed), all);
    for helper in helpers {
        helper.join().unwrap();
    }
    assert_eq!(work.done.load(Ordering::Relaxed), all);
}

#[test]
fn two_workers_share_the_work() {
    explore(3, || check_sharing(2, 0, &[0, 0]));
}

#[test]
fn work_makes_work() {
    explore(2, || check_sharing(2, 0, &[2]));
}

#[test]
fn three_workers_share_the_work() {
    explore(2, || check_sharing(3, 0, &[1, 0]));
}

/// A worker that offers a piece may rely on another, idle one to take it.
#[test]
fn no_worker_sleeps_through_an_offer() {
    explore(3, || {
        let work = Arc::new(Work::new(2, 0));
        let taken = Arc::new(Notify::new());
        work.termination.enter();
        let (theirs, takes) = (work.clone(), taken.clone());
        let helper = thread::spawn(move || {
            theirs.termination.enter();
            let piece = theirs.seek(1);
            assert!(piece.is_some(), "the other is active until it is taken");
            takes.notify();
        });
        work.share_piece(0, 0);
        taken.wait();
        helper.join().unwrap();
    });
}
