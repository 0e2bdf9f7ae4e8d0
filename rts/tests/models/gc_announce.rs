//! HECs hear of a collection: one of them does it, or looks again whether to.
use crate::atomics::{AtomicBool, AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::announce::{Announcement, Hears};
use crate::shipped::mailbox::Mailbox;
use loom::thread;

struct Hec {
    heard: AtomicBool,
    held: AtomicBool,
    post: Mailbox<()>,
    limit: AtomicUsize,
}

#[derive(Clone, Copy)]
struct HecRef(&'static Hec);

impl Hears for HecRef {
    fn heard(self) -> &'static AtomicBool {
        &self.0.heard
    }
    fn is_held(self) -> bool {
        self.0.held.load(Ordering::Relaxed)
    }
    fn call_back(self) {
        self.0.post.call_back(&self.0.limit);
    }
}

/// So many HECs, which are held, and an announcement. Nothing is freed: loom's objects are as many in each run.
fn world(n: usize) -> (&'static Announcement, Vec<HecRef>) {
    let hec = |_| {
        let [heard, held] = [false, true].map(AtomicBool::new);
        HecRef(Box::leak(Box::new(Hec { heard, held, post: Mailbox::new(), limit: AtomicUsize::new(1) })))
    };
    (Box::leak(Box::new(Announcement(AtomicBool::new(false)))), (0..n).map(hec).collect())
}

/// Whether HEC number `me` is the last to hear.
fn hears(a: &Announcement, hecs: &[HecRef], me: usize) -> bool {
    a.is_last(hecs[me], hecs.iter().enumerate().filter(|&(no, _)| no != me).map(|(_, &h)| h))
}

/// As all have heard, one collects, or one comes back and finds that it is to.
fn all_hear(n: usize) {
    let (a, hecs) = world(n);
    let hear = |me: usize| {
        let hecs = hecs.clone();
        thread::spawn(move || hears(a, &hecs, me))
    };
    let others: Vec<_> = (1..n).map(hear).collect();
    let mut collects = hears(a, &hecs, 0);
    for other in others {
        collects |= other.join().unwrap();
    }
    let called: Vec<usize> = (0..n).filter(|&no| hecs[no].0.post.called_back()).collect();
    assert!(a.is_made() && (collects || called.iter().any(|&no| hears(a, &hecs, no))));
    a.is_over(hecs.iter().copied());
    assert!(!a.is_made() && !hears(a, &hecs, 0));
}

#[test]
fn two_hecs_see_the_announcement_at_once() {
    explore(3, || all_hear(2));
}

#[test]
fn three_hecs_see_the_announcement_at_once() {
    explore(2, || all_hear(3));
}

#[test]
fn idle_hecs_are_not_waited_for() {
    explore(3, || {
        let (a, hecs) = world(2);
        hecs[1].0.held.store(false, Ordering::Relaxed);
        assert!(hears(a, &hecs, 0) && !hecs[1].0.post.called_back());
    });
}
