//! Threads that are bound to a task: each reaches it, wherever the two are, and the task is never given two HECs.
use crate::explore;
use crate::hec_world::{House, TaskRef, Thread};
use crate::shipped::handoff_protocol::HandoffSlot;

const UNBOUND: usize = 0;
const BOUND: usize = 1;

/// The task of the bound thread holds the first HEC, where an unbound one may wait; its own has been woken on the second, whose
/// holder then does this. There are two workers.
fn a_thread_comes_to_its_task(unbound: bool, second: fn(&'static House, TaskRef)) {
    explore(2, move || {
        House::with(2, 4, 2, |house| {
            let me = house.tasks[0];
            house.slot(0).acquire(me);
            house.slot(1).acquire(house.tasks[1]);
            if unbound {
                house.queue(0, UNBOUND, None);
            }
            house.queue(1, BOUND, Some(me));
            let waker = house.spawn(1, move |me| second(house, me));
            let workers = [2, 3].map(|no| house.spawn_worker(no));
            house.schedule(me, Some(BOUND));
            house.leave(me);
            waker.join().unwrap();
            house.end(if unbound { &[UNBOUND, BOUND] } else { &[BOUND] }, workers.into());
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_bound_thread_reaches_its_task_from_a_hec_that_is_released() {
    a_thread_comes_to_its_task(false, |house, me| house.leave(me));
}

#[test]
fn a_bound_thread_reaches_its_task_while_that_runs_another() {
    a_thread_comes_to_its_task(true, |house, me| house.leave(me));
}

#[test]
fn a_bound_thread_reaches_its_task_from_a_hec_that_is_reacquired() {
    a_thread_comes_to_its_task(false, |house, me| {
        house.leave(me);
        house.visit(1, me);
    });
}

/// The letter with a bound thread comes as its task lets go of the HEC.
#[test]
fn a_bound_thread_follows_a_task_that_releases_its_hec() {
    explore(2, || {
        House::with(2, 3, 1, |house| {
            let me = house.tasks[0];
            house.slot(0).acquire(me);
            let sender = house.spawn(1, move |_| house.send(0, Thread { name: BOUND, bound: Some(house.tasks[0]) }));
            let worker = house.spawn_worker(2);
            house.schedule(me, Some(BOUND));
            house.leave(me);
            sender.join().unwrap();
            house.end(&[BOUND], vec![worker]);
            assert!(house.is_quiet());
        });
    });
}

/// The task's thread is woken on the second HEC, whose holder leaves for a foreign call, and then holds a third one and stops the
/// world.
fn stop_with_a_third(house: &'static House, me: TaskRef) {
    house.attend(me);
    house.leave(me);
    house.slot(2).acquire(me);
    house.stop_the_world(me);
    house.leave(me);
}

#[test]
fn a_task_that_yields_its_hec_to_a_stopper_is_granted_no_other() {
    explore(2, || {
        House::with(3, 4, 2, |house| {
            let me = house.tasks[0];
            house.slot(0).acquire(me);
            house.slot(1).acquire(house.tasks[1]);
            house.queue(1, BOUND, Some(me));
            let waker = house.spawn(1, move |me| stop_with_a_third(house, me));
            let workers = [2, 3].map(|no| house.spawn_worker(no));
            house.schedule(me, Some(BOUND));
            house.leave(me);
            waker.join().unwrap();
            house.end(&[BOUND], workers.into());
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_task_that_waits_for_a_hec_is_granted_no_other() {
    explore(1, || {
        House::with(3, 4, 2, |house| {
            let me = house.tasks[0];
            house.slot(0).acquire(house.tasks[1]);
            let waker = house.spawn(1, move |me| {
                house.leave(me);
                house.slot(1).acquire(me);
                stop_with_a_third(house, me);
            });
            let workers = [2, 3].map(|no| house.spawn_worker(no));
            house.slot(0).acquire(me);
            house.send(1, Thread { name: BOUND, bound: Some(me) });
            house.schedule(me, Some(BOUND));
            house.leave(me);
            waker.join().unwrap();
            house.end(&[BOUND], workers.into());
            assert!(house.is_quiet());
        });
    });
}
