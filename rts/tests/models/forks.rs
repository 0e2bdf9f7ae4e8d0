//! A fork while others run, come and wait: the child finds what it goes on with, runs nothing of its parent's, and can use all HECs; its parent
//! goes on as if nothing had been.
use crate::explore;
use crate::hec_world::{House, Inherited, TaskRef, Thread};
use crate::shipped::handoff_protocol::HandoffSlot;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const FIRST: usize = 0;
const GIVEN: usize = 1;
const LETTER: usize = 2;

/// The holder of the second HEC, and another task, do these things as the first one's forks.
///
/// Parent and child have nothing to do with each other from the fork on: the child is run once for all that a parent can leave it, not with
/// every way that each of them can go.
fn forked(ran: &'static [usize], second: fn(&'static House, TaskRef), third: fn(&'static House, TaskRef)) {
    let children = Arc::new(Mutex::new(BTreeSet::new()));
    let found = children.clone();
    explore(3, move || {
        House::with(2, 3, 0, |parent| {
            parent.slot(0).acquire(parent.tasks[0]);
            parent.slot(1).acquire(parent.tasks[1]);
            parent.queue(0, FIRST, None);
            parent.queue(1, GIVEN, None);
            let others = [(1, second), (2, third)].map(|(no, does)| parent.spawn(no, move |me| does(parent, me)));
            let forker = parent.tasks[0];
            found.lock().unwrap().insert(parent.fork(forker));
            // If a letter comes, its thread comes last.
            parent.schedule(forker, if ran.len() > 2 { Some(LETTER) } else { Some(FIRST) });
            parent.leave(forker);
            others.into_iter().for_each(|o| o.join().unwrap());
            parent.end(ran, vec![]);
        });
    });
    let children = std::mem::take(&mut *children.lock().unwrap());
    assert!(children.len() > 1, "it makes a difference when the fork comes");
    children.into_iter().for_each(|inherited| explore(3, move || begin(&inherited)));
}

/// The child's part.
fn begin(inherited: &[Inherited]) {
    House::with(2, 3, 1, |child| {
        child.slot(0).acquire(child.tasks[0]);
        child.inherit(inherited);
        let process = child.spawn(0, move |me| {
            child.become_child(me);
            child.queue(0, FIRST, None);
            child.schedule(me, Some(FIRST));
            let t = Thread { name: GIVEN, bound: None };
            assert!(child.give_away(me, t), "the other HEC rests");
            child.stop_the_world(me);
            child.leave(me);
        });
        let worker = child.spawn_worker(2);
        process.join().unwrap();
        child.end(&[FIRST, GIVEN], vec![worker]);
        assert!(child.is_quiet());
    });
}

/// Runs what there is on its HEC, and leaves for C.
fn runs(house: &'static House, me: TaskRef) {
    house.schedule(me, Some(GIVEN));
    house.leave(me);
}

#[test]
fn a_fork_as_others_run_and_return() {
    forked(&[FIRST, GIVEN], runs, |house, me| house.visit(0, me));
}

#[test]
fn a_fork_as_another_stops_the_world() {
    forked(
        &[FIRST, GIVEN],
        |house, me| {
            house.stop_the_world(me);
            runs(house, me);
        },
        |house, me| house.visit(1, me),
    );
}

#[test]
fn a_fork_as_a_message_arrives() {
    forked(
        &[FIRST, GIVEN, LETTER],
        |house, me| {
            house.send(0, Thread { name: LETTER, bound: None });
            runs(house, me);
        },
        |_, _| (),
    );
}
