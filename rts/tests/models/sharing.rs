//! Shared work: all of it is done, and all who do it come to an end.
use crate::explore;
use crate::quiet::Quiet;
use crate::atomics::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Pieces of work: each says how many further ones it makes.
type Queue = Mutex<Vec<usize>>;

struct Work {
    quiet: Quiet,
    queues: Vec<Queue>,
    done: AtomicUsize,
}

impl Work {
    fn new(workers: usize, patience: usize) -> Work {
        Work {
            quiet: Quiet::new(patience),
            queues: (0..workers).map(|_| Mutex::new(Vec::new())).collect(),
            done: AtomicUsize::new(0),
        }
    }

    fn offer(&self, me: usize, piece: usize) {
        self.queues[me].lock().unwrap().push(piece);
        self.quiet.offer();
    }

    fn perform(&self, me: usize, piece: usize) {
        (0..piece).for_each(|_| self.offer(me, 0));
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Works until all is done.
    fn drain(&self, me: usize) {
        let others = || (0..self.queues.len()).filter(move |&i| i != me);
        loop {
            loop {
                let own = self.queues[me].lock().unwrap().pop();
                let Some(piece) = own else { break };
                self.perform(me, piece);
            }
            let found = self.quiet.seek(
                || others().any(|i| !self.queues[i].lock().unwrap().is_empty()),
                || others().find_map(|i| self.queues[i].lock().unwrap().pop()),
            );
            match found {
                Some(piece) => self.perform(me, piece),
                None => return,
            }
        }
    }
}

/// The first worker has the pieces, the others come when they come.
fn share(workers: usize, patience: usize, pieces: &'static [usize]) {
    let work = Arc::new(Work::new(workers, patience));
    work.quiet.enter();
    let helpers: Vec<_> = (1..workers)
        .map(|me| {
            let work = work.clone();
            thread::spawn(move || {
                work.quiet.enter();
                work.drain(me);
            })
        })
        .collect();
    pieces.iter().for_each(|&piece| work.offer(0, piece));
    work.drain(0);
    // Nothing is left when the first one returns, though helpers may still be on their way out.
    let all = pieces.len() + pieces.iter().sum::<usize>();
    assert_eq!(work.done.load(Ordering::Relaxed), all);
    for helper in helpers {
        helper.join().unwrap();
    }
    assert_eq!(work.done.load(Ordering::Relaxed), all);
}

#[test]
fn two_share_what_there_is() {
    explore(3, || share(2, 0, &[0, 0]));
}

#[test]
fn work_makes_work() {
    explore(2, || share(2, 0, &[2]));
}

#[test]
fn three_share() {
    explore(2, || share(3, 0, &[1, 0]));
}
