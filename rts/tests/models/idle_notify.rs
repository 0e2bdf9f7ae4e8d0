//! A HEC comes to rest as another comes to have something to give: that one comes back to its scheduler for it.
use crate::atomics::{AtomicBool, AtomicUsize, Ordering};
use crate::explore;
use crate::hec_world::END;
use crate::shipped::idle::{before_run, notify_idle, work_added, IdleCount, WorkSource};
use crate::shipped::mailbox::Mailbox;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Where a running thread stops when it is time to share.
const SOON: usize = END / 2;

struct Hec {
    limit: AtomicUsize,
    post: Mailbox<()>,
    waiting: AtomicUsize,
    rests: AtomicBool,
    /// Its seat's.
    lock: Mutex<()>,
}

impl WorkSource for Hec {
    fn has_something(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
    fn limit(&self) -> &AtomicUsize {
        &self.limit
    }
}

struct World {
    resting: IdleCount,
    hecs: Vec<Hec>,
    /// So many HECs may be busy.
    cores: usize,
}

impl World {
    /// All are busy, with nothing to give.
    fn new(hecs: usize, cores: usize) -> Arc<World> {
        let hec = |_| Hec {
            limit: AtomicUsize::new(0),
            post: Mailbox::new(),
            waiting: AtomicUsize::new(0),
            rests: AtomicBool::new(false),
            lock: Mutex::new(()),
        };
        Arc::new(World { resting: IdleCount(AtomicUsize::new(0)), hecs: (0..hecs).map(hec).collect(), cores })
    }

    /// As `ActiveLimit::room`.
    fn has_room(&self) -> bool {
        let resting = self.resting.count();
        resting.min((self.cores + resting).saturating_sub(self.hecs.len())) > 0
    }

    /// As `hec::rests`.
    fn rests(&self, no: usize, yes: bool) {
        let _held = self.hecs[no].lock.lock().unwrap();
        self.hecs[no].rests.store(yes, Ordering::Relaxed);
        self.resting.one(yes);
        if yes {
            notify_idle(|| self.has_room(), self.hecs.iter().enumerate().filter(|(i, _)| *i != no).map(|(_, h)| h));
        }
    }

    /// Between threads of the first HEC, as `share::share` and `spark::share`: how often one had come to rest, and whether something
    /// could not be given for the moment.
    fn looks(&self) -> (usize, bool) {
        let hec = &self.hecs[0];
        let seen = self.resting.times();
        let mut later = false;
        for other in self.hecs[1..].iter().filter(|h| h.rests.load(Ordering::Relaxed)) {
            if !hec.has_something() || !self.has_room() {
                break;
            }
            let Ok(_held) = other.lock.try_lock() else {
                later = true;
                continue;
            };
            if other.rests.swap(false, Ordering::Relaxed) {
                self.resting.one(false);
                self.add(usize::MAX);
            }
        }
        (seen, later)
    }

    fn add(&self, n: usize) -> usize {
        let waiting = &self.hecs[0].waiting;
        let now = waiting.load(Ordering::Relaxed).wrapping_add(n);
        waiting.store(now, Ordering::Relaxed);
        now
    }

    /// As `Hec::open_nursery`.
    fn before_run(&self, (seen, later): (usize, bool)) {
        let hec = &self.hecs[0];
        hec.post.open(&hec.limit, if later { SOON } else { END });
        before_run(hec, &self.resting, seen, || self.has_room());
    }

    /// As `door::Claim::go_on`.
    fn makes(&self) {
        let first = self.add(1) == 1;
        work_added(&self.hecs[0], first, || self.has_room(), || SOON);
    }

    /// In the end the first HEC has not something to give that it does not come back for.
    fn verify(&self) {
        let hec = &self.hecs[0];
        let idle = hec.limit.load(Ordering::Relaxed) == END;
        assert!(
            !(idle && self.has_room() && hec.has_something()),
            "a HEC rests for want of work, and its neighbour has some"
        );
    }
}

/// The first HEC's holder does this while each of the others comes to rest.
fn together(others: usize, cores: usize, first: fn(&World)) {
    explore(3, move || {
        let w = World::new(1 + others, cores);
        let others: Vec<_> = (1..=others)
            .map(|no| {
                let w = w.clone();
                thread::spawn(move || w.rests(no, true))
            })
            .collect();
        first(&w);
        others.into_iter().for_each(|o| o.join().unwrap());
        w.verify();
    });
}

#[test]
fn work_is_added_as_another_hec_becomes_idle() {
    together(1, 2, |w| {
        w.before_run(w.looks());
        w.makes();
        w.makes();
    });
}

#[test]
fn a_thread_is_about_to_run_as_another_hec_becomes_idle() {
    together(1, 2, |w| {
        w.add(1);
        w.before_run(w.looks());
    });
}

#[test]
fn two_hecs_become_idle_where_one_may_run() {
    together(2, 2, |w| {
        w.before_run(w.looks());
        w.makes();
    });
}

#[test]
fn work_is_added_again_after_all_was_taken() {
    together(1, 2, |w| {
        w.add(1);
        w.before_run(w.looks());
        // The thread ends, and the one that waited runs and makes another.
        w.add(usize::MAX);
        w.before_run(w.looks());
        w.makes();
    });
}

/// One that rests is given something, and comes to rest again.
#[test]
fn a_hec_that_was_given_work_becomes_idle_again() {
    explore(3, || {
        let w = World::new(2, 2);
        w.rests(1, true);
        let other = {
            let w = w.clone();
            thread::spawn(move || {
                w.rests(1, false);
                w.rests(1, true);
            })
        };
        w.add(1);
        w.before_run(w.looks());
        other.join().unwrap();
        w.verify();
    });
}
