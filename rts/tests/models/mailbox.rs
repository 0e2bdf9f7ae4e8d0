//! Letters and calls: none is lost, whenever the holder of a HEC lets go of it or runs a thread.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::hec_world::{House, Thread, END};
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::shipped::mailbox::Mailbox;
use loom::sync::Arc;
use loom::thread;

#[test]
fn an_interrupt_stops_a_thread_that_is_about_to_run() {
    explore(3, || {
        let shared = Arc::new((Mailbox::<u8>::new(), AtomicUsize::new(END)));
        let theirs = shared.clone();
        let caller = thread::spawn(move || theirs.0.call_back(&theirs.1));
        shared.0.open(&shared.1, END);
        caller.join().unwrap();
        assert_eq!(shared.1.load(Ordering::Relaxed), 0);
        assert!(shared.0.called_back());
        assert!(!shared.0.called_back());
    });
}

#[test]
fn an_interrupted_hec_sees_the_message() {
    explore(3, || {
        let shared = Arc::new((Mailbox::<u8>::new(), AtomicUsize::new(END)));
        let theirs = shared.clone();
        let sender = thread::spawn(move || {
            theirs.0.add(1);
            theirs.0.call_back(&theirs.1);
        });
        if shared.0.called_back() {
            assert!(shared.0.any());
            assert_eq!(shared.0.take(), [1]);
        }
        sender.join().unwrap();
    });
}

#[test]
fn a_message_stops_a_running_thread() {
    explore(3, || {
        House::with(1, 1, 0, |house| {
            let me = house.tasks[0];
            house.slot(0).acquire(me);
            let sender = thread::spawn(move || house.send(0, Thread { name: 1, bound: None }));
            let message = loop {
                house.run_until_stopped(0);
                house.attend(me);
                if let Some(t) = house.pop(0) {
                    break t;
                }
            };
            house.run(message);
            house.leave(me);
            sender.join().unwrap();
            house.end(&[1], vec![]);
            assert!(house.is_quiet());
        });
    });
}

/// A letter comes while another task does this, and perhaps holds the HEC: all of the named threads run.
fn messages(names: &'static [usize], other: fn(&'static House)) {
    explore(2, move || {
        House::with(1, 3, 2, |house| {
            if names.len() == 1 {
                house.slot(0).acquire(house.tasks[0]);
            }
            let sender = thread::spawn(move || house.send(0, Thread { name: 1, bound: None }));
            let workers = [1, 2].map(|no| house.spawn_worker(no));
            other(house);
            sender.join().unwrap();
            house.end(names, workers.into());
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_message_is_read_though_the_holder_releases_the_hec() {
    messages(&[1], |house| {
        house.attend(house.tasks[0]);
        house.leave(house.tasks[0]);
    });
}

#[test]
fn messages_to_an_idle_hec_are_each_read_once() {
    messages(&[1, 2], |house| house.send(0, Thread { name: 2, bound: None }));
}
