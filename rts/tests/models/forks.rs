//! Models of a fork while other tasks run, arrive and wait.
//!
//! *Checked*: the child finds what it continues with, runs none of its parent's threads, and can use all HECs. The
//! parent continues as if it had not forked.
//! *Shipped code*: `sched/handoff/after_fork.rs` and what [`crate::support::hec_world`] lists.
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::support::hec_world::{HecWorld, Inherited, TaskRef, Thread};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const FIRST: usize = 0;
const MIGRATED: usize = 1;
const MESSAGE: usize = 2;

/// The holder of the second HEC, and another task, act as the first HEC's holder forks.
///
/// Parent and child are independent from the fork on. So the child is run once for each state that a parent can leave,
/// not combined with every way in which each of them can continue.
fn check_fork(ran: &'static [usize], second: fn(&'static HecWorld, TaskRef), third: fn(&'static HecWorld, TaskRef)) {
    let children = Arc::new(Mutex::new(BTreeSet::new()));
    let found = children.clone();
    explore(3, move || {
        HecWorld::with(2, 3, 0, |parent| {
            parent.slot(0).acquire(parent.tasks[0]);
            parent.slot(1).acquire(parent.tasks[1]);
            parent.queue(0, FIRST, None);
            parent.queue(1, MIGRATED, None);
            let others = [(1, second), (2, third)].map(|(no, act)| parent.spawn(no, move |me| act(parent, me)));
            let forker = parent.tasks[0];
            found.lock().unwrap().insert(parent.fork(forker));
            // If a message arrives, its thread comes last.
            parent.schedule(forker, if ran.len() > 2 { Some(MESSAGE) } else { Some(FIRST) });
            parent.release_hec(forker);
            others.into_iter().for_each(|o| o.join().unwrap());
            parent.end(ran, vec![]);
        });
    });
    let children = std::mem::take(&mut *children.lock().unwrap());
    assert!(children.len() > 1, "it makes a difference when the fork comes");
    children.into_iter().for_each(|inherited| explore(3, move || run_child(&inherited)));
}

/// Runs the child.
fn run_child(inherited: &[Inherited]) {
    HecWorld::with(2, 3, 1, |child| {
        child.slot(0).acquire(child.tasks[0]);
        child.inherit(inherited);
        let process = child.spawn(0, move |me| {
            child.become_child(me);
            child.queue(0, FIRST, None);
            child.schedule(me, Some(FIRST));
            let t = Thread { name: MIGRATED, bound: None };
            assert!(child.give_to_idle(me, t), "the other HEC is idle");
            child.stop_the_world(me);
            child.release_hec(me);
        });
        let worker = child.spawn_worker(2);
        process.join().unwrap();
        child.end(&[FIRST, MIGRATED], vec![worker]);
        assert!(child.is_idle());
    });
}

/// Runs the threads on its HEC, and leaves for C.
fn run_and_release(world: &'static HecWorld, me: TaskRef) {
    world.schedule(me, Some(MIGRATED));
    world.release_hec(me);
}

#[test]
fn a_fork_as_others_run_and_return() {
    check_fork(&[FIRST, MIGRATED], run_and_release, |world, me| world.acquire_and_release(0, me));
}

#[test]
fn a_fork_as_another_stops_the_world() {
    check_fork(
        &[FIRST, MIGRATED],
        |world, me| {
            world.stop_the_world(me);
            run_and_release(world, me);
        },
        |world, me| world.acquire_and_release(1, me),
    );
}

#[test]
fn a_fork_as_a_message_arrives() {
    check_fork(
        &[FIRST, MIGRATED, MESSAGE],
        |world, me| {
            world.send(0, Thread { name: MESSAGE, bound: None });
            run_and_release(world, me);
        },
        |_, _| (),
    );
}
