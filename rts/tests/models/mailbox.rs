//! Models of messages to a HEC and of interrupts.
//!
//! *Checked*: none is lost, whenever the holder releases the HEC or runs a thread.
//! *Shipped code*: `hec/mailbox.rs` and what [`crate::support::hec_world`] lists.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::shipped::mailbox::Mailbox;
use crate::support::hec_world::{HecWorld, Thread, END};
use loom::sync::Arc;
use loom::thread;

#[test]
fn an_interrupt_stops_a_thread_that_is_about_to_run() {
    explore(3, || {
        let shared = Arc::new((Mailbox::<u8>::new(), AtomicUsize::new(END)));
        let theirs = shared.clone();
        let caller = thread::spawn(move || theirs.0.request_return(&theirs.1));
        shared.0.open(&shared.1, END);
        caller.join().unwrap();
        assert_eq!(shared.1.load(Ordering::Relaxed), 0);
        assert!(shared.0.take_return_request());
        assert!(!shared.0.take_return_request());
    });
}

#[test]
fn an_interrupted_hec_sees_the_message() {
    explore(3, || {
        let shared = Arc::new((Mailbox::<u8>::new(), AtomicUsize::new(END)));
        let theirs = shared.clone();
        let sender = thread::spawn(move || {
            theirs.0.add(1);
            theirs.0.request_return(&theirs.1);
        });
        if shared.0.take_return_request() {
            assert!(shared.0.any());
            assert_eq!(shared.0.take(), [1]);
        }
        sender.join().unwrap();
    });
}

#[test]
fn a_message_stops_a_running_thread() {
    explore(3, || {
        HecWorld::with(1, 1, 0, |world| {
            let me = world.tasks[0];
            world.slot(0).acquire(me);
            let sender = thread::spawn(move || world.send(0, Thread { name: 1, bound: None }));
            let message = loop {
                world.run_until_stopped(0);
                world.handle_requests(me);
                if let Some(t) = world.pop(0) {
                    break t;
                }
            };
            world.run(message);
            world.release_hec(me);
            sender.join().unwrap();
            world.end(&[1], vec![]);
            assert!(world.is_idle());
        });
    });
}

/// A message arrives while another task acts, and perhaps holds the HEC. All of the named threads run.
fn messages(names: &'static [usize], other: fn(&'static HecWorld)) {
    explore(2, move || {
        HecWorld::with(1, 3, 2, |world| {
            if names.len() == 1 {
                world.slot(0).acquire(world.tasks[0]);
            }
            let sender = thread::spawn(move || world.send(0, Thread { name: 1, bound: None }));
            let workers = [1, 2].map(|no| world.spawn_worker(no));
            other(world);
            sender.join().unwrap();
            world.end(names, workers.into());
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_message_is_read_though_the_holder_releases_the_hec() {
    messages(&[1], |world| {
        world.handle_requests(world.tasks[0]);
        world.release_hec(world.tasks[0]);
    });
}

#[test]
fn messages_to_an_idle_hec_are_each_read_once() {
    messages(&[1, 2], |world| world.send(0, Thread { name: 2, bound: None }));
}
