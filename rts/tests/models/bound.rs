//! Models of threads that are bound to a task.
//!
//! *Checked*: each bound thread reaches its task, wherever the two are, and a task is never granted two HECs.
//! *Shipped code*: `sched/handoff/protocol.rs` and what [`crate::support::hec_world`] lists.
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::support::hec_world::{HecWorld, TaskRef, Thread};

const UNBOUND: usize = 0;
const BOUND: usize = 1;

/// The task of the bound thread holds the first HEC, where an unbound one may wait. The bound thread has been woken on
/// the second HEC, whose holder then acts. There are two workers.
fn check_bound_thread(unbound: bool, second: fn(&'static HecWorld, TaskRef)) {
    explore(2, move || {
        HecWorld::with(2, 4, 2, |world| {
            let me = world.tasks[0];
            world.slot(0).acquire(me);
            world.slot(1).acquire(world.tasks[1]);
            if unbound {
                world.queue(0, UNBOUND, None);
            }
            world.queue(1, BOUND, Some(me));
            let waker = world.spawn(1, move |me| second(world, me));
            let workers = [2, 3].map(|no| world.spawn_worker(no));
            world.schedule(me, Some(BOUND));
            world.release_hec(me);
            waker.join().unwrap();
            world.end(if unbound { &[UNBOUND, BOUND] } else { &[BOUND] }, workers.into());
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_bound_thread_reaches_its_task_from_a_hec_that_is_released() {
    check_bound_thread(false, |world, me| world.release_hec(me));
}

#[test]
fn a_bound_thread_reaches_its_task_while_that_runs_another() {
    check_bound_thread(true, |world, me| world.release_hec(me));
}

#[test]
fn a_bound_thread_reaches_its_task_from_a_hec_that_is_reacquired() {
    check_bound_thread(false, |world, me| {
        world.release_hec(me);
        world.acquire_and_release(1, me);
    });
}

/// The message with a bound thread arrives as its task releases the HEC.
#[test]
fn a_bound_thread_follows_a_task_that_releases_its_hec() {
    explore(2, || {
        HecWorld::with(2, 3, 1, |world| {
            let me = world.tasks[0];
            world.slot(0).acquire(me);
            let sender = world.spawn(1, move |_| world.send(0, Thread { name: BOUND, bound: Some(world.tasks[0]) }));
            let worker = world.spawn_worker(2);
            world.schedule(me, Some(BOUND));
            world.release_hec(me);
            sender.join().unwrap();
            world.end(&[BOUND], vec![worker]);
            assert!(world.is_idle());
        });
    });
}

/// The task's thread is woken on the second HEC. The holder of that HEC leaves for a foreign call, then acquires a
/// third HEC and stops the world.
fn stop_with_third_hec(world: &'static HecWorld, me: TaskRef) {
    world.handle_requests(me);
    world.release_hec(me);
    world.slot(2).acquire(me);
    world.stop_the_world(me);
    world.release_hec(me);
}

#[test]
fn a_task_that_yields_its_hec_to_a_stopper_is_granted_no_other() {
    explore(2, || {
        HecWorld::with(3, 4, 2, |world| {
            let me = world.tasks[0];
            world.slot(0).acquire(me);
            world.slot(1).acquire(world.tasks[1]);
            world.queue(1, BOUND, Some(me));
            let waker = world.spawn(1, move |me| stop_with_third_hec(world, me));
            let workers = [2, 3].map(|no| world.spawn_worker(no));
            world.schedule(me, Some(BOUND));
            world.release_hec(me);
            waker.join().unwrap();
            world.end(&[BOUND], workers.into());
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_task_that_waits_for_a_hec_is_granted_no_other() {
    explore(1, || {
        HecWorld::with(3, 4, 2, |world| {
            let me = world.tasks[0];
            world.slot(0).acquire(world.tasks[1]);
            let waker = world.spawn(1, move |me| {
                world.release_hec(me);
                world.slot(1).acquire(me);
                stop_with_third_hec(world, me);
            });
            let workers = [2, 3].map(|no| world.spawn_worker(no));
            world.slot(0).acquire(me);
            world.send(1, Thread { name: BOUND, bound: Some(me) });
            world.schedule(me, Some(BOUND));
            world.release_hec(me);
            waker.join().unwrap();
            world.end(&[BOUND], workers.into());
            assert!(world.is_idle());
        });
    });
}
