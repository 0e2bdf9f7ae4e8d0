//! Models of a HEC that becomes idle as another gets work to give away.
//!
//! *Checked*: the HEC with work returns to its scheduler to give it away.
//! *Shipped code*: `hec/idle.rs`, `base/idle_count.rs` and `hec/mailbox.rs`.
use crate::atomics::{AtomicBool, AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::idle::{before_run, notify_idle, work_added, WorkSource};
use crate::shipped::idle_count::IdleCount;
use crate::shipped::mailbox::Mailbox;
use crate::support::hec_world::END;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Where a running thread stops when it is time to balance the load.
const SOON: usize = END / 2;

struct Hec {
    limit: AtomicUsize,
    mailbox: Mailbox<()>,
    waiting: AtomicUsize,
    idle: AtomicBool,
    /// The lock of its slot.
    lock: Mutex<()>,
}

impl WorkSource for Hec {
    fn has_work(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
    fn limit(&self) -> &AtomicUsize {
        &self.limit
    }
}

struct World {
    idle_count: IdleCount,
    hecs: Vec<Hec>,
    /// How many HECs may be busy.
    cores: usize,
}

impl World {
    /// Makes HECs that are all busy, with nothing to give away.
    fn new(hecs: usize, cores: usize) -> Arc<World> {
        let hec = |_| Hec {
            limit: AtomicUsize::new(0),
            mailbox: Mailbox::new(),
            waiting: AtomicUsize::new(0),
            idle: AtomicBool::new(false),
            lock: Mutex::new(()),
        };
        Arc::new(World { idle_count: IdleCount(AtomicUsize::new(0)), hecs: (0..hecs).map(hec).collect(), cores })
    }

    /// As `ActiveLimit::available`.
    fn has_room(&self) -> bool {
        let idle_count = self.idle_count.count();
        idle_count.min((self.cores + idle_count).saturating_sub(self.hecs.len())) > 0
    }

    /// As `hec::set_idle`.
    fn set_idle(&self, no: usize, idle: bool) {
        let _held = self.hecs[no].lock.lock().unwrap();
        self.hecs[no].idle.store(idle, Ordering::Relaxed);
        self.idle_count.record(idle);
        if idle {
            notify_idle(|| self.has_room(), self.hecs.iter().enumerate().filter(|(i, _)| *i != no).map(|(_, h)| h));
        }
    }

    /// Gives work away between two threads of the first HEC, as in `balance::distribute` and `spark::wake_idle_hecs`.
    /// Returns how often a HEC had become idle, and whether something could not be given away for the moment.
    fn distribute(&self) -> (usize, bool) {
        let hec = &self.hecs[0];
        let seen = self.idle_count.transitions();
        let mut later = false;
        for other in self.hecs[1..].iter().filter(|h| h.idle.load(Ordering::Relaxed)) {
            if !hec.has_work() || !self.has_room() {
                break;
            }
            let Ok(_held) = other.lock.try_lock() else {
                later = true;
                continue;
            };
            if other.idle.swap(false, Ordering::Relaxed) {
                self.idle_count.record(false);
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
        hec.mailbox.open(&hec.limit, if later { SOON } else { END });
        before_run(hec, &self.idle_count, seen, || self.has_room());
    }

    /// As `park::Claim::resume`.
    fn add_work(&self) {
        let first = self.add(1) == 1;
        work_added(&self.hecs[0], first, || self.has_room(), || SOON);
    }

    /// Verifies that the first HEC has no work to give away for which it does not return.
    fn verify(&self) {
        let hec = &self.hecs[0];
        let idle = hec.limit.load(Ordering::Relaxed) == END;
        assert!(
            !(idle && self.has_room() && hec.has_work()),
            "a HEC is idle while its neighbour has work to give away"
        );
    }
}

/// The first HEC's holder acts while each of the others becomes idle.
fn together(others: usize, cores: usize, first: fn(&World)) {
    explore(3, move || {
        let w = World::new(1 + others, cores);
        let others: Vec<_> = (1..=others)
            .map(|no| {
                let w = w.clone();
                thread::spawn(move || w.set_idle(no, true))
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
        w.before_run(w.distribute());
        w.add_work();
        w.add_work();
    });
}

#[test]
fn a_thread_is_about_to_run_as_another_hec_becomes_idle() {
    together(1, 2, |w| {
        w.add(1);
        w.before_run(w.distribute());
    });
}

#[test]
fn two_hecs_become_idle_where_one_may_run() {
    together(2, 2, |w| {
        w.before_run(w.distribute());
        w.add_work();
    });
}

#[test]
fn work_is_added_again_after_all_was_taken() {
    together(1, 2, |w| {
        w.add(1);
        w.before_run(w.distribute());
        // The thread ends, and the one that waited runs and makes another.
        w.add(usize::MAX);
        w.before_run(w.distribute());
        w.add_work();
    });
}

/// An idle HEC is given work, and becomes idle again.
#[test]
fn a_hec_that_was_given_work_becomes_idle_again() {
    explore(3, || {
        let w = World::new(2, 2);
        w.set_idle(1, true);
        let other = {
            let w = w.clone();
            thread::spawn(move || {
                w.set_idle(1, false);
                w.set_idle(1, true);
            })
        };
        w.add(1);
        w.before_run(w.distribute());
        other.join().unwrap();
        w.verify();
    });
}
