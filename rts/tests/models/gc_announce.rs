//! Models of HECs that see the announcement of a collection.
//!
//! *Checked*: one of them collects, or is interrupted and finds that it must.
//! *Shipped code*: `sched/gc/announce.rs` and `hec/mailbox.rs`.
use crate::atomics::{AtomicBool, AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::announce::{AnnounceTarget, Announcement};
use crate::shipped::mailbox::Mailbox;
use loom::thread;

struct Hec {
    has_seen_gc: AtomicBool,
    held: AtomicBool,
    mailbox: Mailbox<()>,
    limit: AtomicUsize,
}

#[derive(Clone, Copy)]
struct HecRef(&'static Hec);

impl AnnounceTarget for HecRef {
    fn has_seen_gc(self) -> &'static AtomicBool {
        &self.0.has_seen_gc
    }
    fn is_held(self) -> bool {
        self.0.held.load(Ordering::Relaxed)
    }
    fn request_return(self) {
        self.0.mailbox.request_return(&self.0.limit);
    }
}

/// Makes `n` HECs, which are held, and an announcement. Nothing is freed: loom's objects are the same in each run.
fn world(n: usize) -> (&'static Announcement, Vec<HecRef>) {
    let hec = |_| {
        let [has_seen_gc, held] = [false, true].map(AtomicBool::new);
        HecRef(Box::leak(Box::new(Hec { has_seen_gc, held, mailbox: Mailbox::new(), limit: AtomicUsize::new(1) })))
    };
    (Box::leak(Box::new(Announcement(AtomicBool::new(false)))), (0..n).map(hec).collect())
}

/// Is HEC number `me` the last to see the announcement?
fn is_last_to_see(a: &Announcement, hecs: &[HecRef], me: usize) -> bool {
    a.is_last(hecs[me], hecs.iter().enumerate().filter(|&(no, _)| no != me).map(|(_, &h)| h))
}

/// When all have seen it, one collects, or one is interrupted and finds that it must.
fn check_all_see(n: usize) {
    let (a, hecs) = world(n);
    let hear = |me: usize| {
        let hecs = hecs.clone();
        thread::spawn(move || is_last_to_see(a, &hecs, me))
    };
    let others: Vec<_> = (1..n).map(hear).collect();
    let mut collects = is_last_to_see(a, &hecs, 0);
    for other in others {
        collects |= other.join().unwrap();
    }
    let interrupted: Vec<usize> = (0..n).filter(|&no| hecs[no].0.mailbox.take_return_request()).collect();
    assert!(a.is_active() && (collects || interrupted.iter().any(|&no| is_last_to_see(a, &hecs, no))));
    a.clear(hecs.iter().copied());
    assert!(!a.is_active() && !is_last_to_see(a, &hecs, 0));
}

#[test]
fn two_hecs_see_the_announcement_at_once() {
    explore(3, || check_all_see(2));
}

#[test]
fn three_hecs_see_the_announcement_at_once() {
    explore(2, || check_all_see(3));
}

#[test]
fn idle_hecs_are_not_waited_for() {
    explore(3, || {
        let (a, hecs) = world(2);
        hecs[1].0.held.store(false, Ordering::Relaxed);
        assert!(is_last_to_see(a, &hecs, 0) && !hecs[1].0.mailbox.take_return_request());
    });
}
