//! Models of stopping the world with several HECs.
//!
//! *Checked*: each task that stops the world has all HECs alone, and all others continue afterwards.
//! *Shipped code*: `sched/stop_world_protocol.rs` and what [`crate::support::hec_world`] lists.
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::support::hec_world::{HecWorld, TaskRef};

/// Has each of the first `n` tasks acquire the HEC of its number.
fn holders(world: &'static HecWorld, n: usize) {
    (0..n).for_each(|no| world.slot(no).acquire(world.tasks[no]));
}

#[test]
fn two_tasks_stop_the_world_while_others_come_and_go() {
    explore(3, || {
        HecWorld::with(2, 3, 0, |world| {
            holders(world, 2);
            let stop = move |me| {
                world.stop_the_world(me);
                world.release_hec(me);
            };
            let other = world.spawn(1, stop);
            let visitor = world.spawn(2, move |me| world.acquire_and_release(1, me));
            stop(world.tasks[0]);
            other.join().unwrap();
            visitor.join().unwrap();
            assert!(world.is_idle());
        });
    });
}

#[test]
fn three_tasks_stop_the_world() {
    explore(2, || {
        HecWorld::with(3, 3, 0, |world| {
            holders(world, 3);
            let stop = move |me| {
                world.stop_the_world(me);
                world.release_hec(me);
            };
            let others = [1, 2].map(|no| world.spawn(no, stop));
            stop(world.tasks[0]);
            others.into_iter().for_each(|t| t.join().unwrap());
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_running_thread_is_stopped_and_continues() {
    explore(3, || {
        HecWorld::with(2, 2, 0, |world| {
            holders(world, 2);
            let stopper = world.spawn(1, move |me| {
                world.stop_the_world(me);
                world.release_hec(me);
            });
            let me = world.tasks[0];
            while !world.handle_requests(me) {
                world.run_until_stopped(0);
            }
            world.release_hec(me);
            stopper.join().unwrap();
            assert!(world.is_idle());
        });
    });
}

/// The first HEC's holder stops the world if it is idle. The second HEC is idle and is visited; the third's holder
/// acts.
fn check_idle_stop(third: fn(&'static HecWorld, TaskRef)) {
    explore(3, move || {
        HecWorld::with(3, 4, 0, |world| {
            world.slot(0).acquire(world.tasks[0]);
            world.slot(2).acquire(world.tasks[2]);
            let other = world.spawn(2, move |me| third(world, me));
            let visitor = world.spawn(3, move |me| world.acquire_and_release(1, me));
            world.stop_the_world_if_idle(world.tasks[0]);
            world.release_hec(world.tasks[0]);
            other.join().unwrap();
            visitor.join().unwrap();
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_failed_idle_stop_releases_what_it_took() {
    check_idle_stop(|world, me| world.release_hec(me));
}

#[test]
fn an_idle_stop_and_a_busy_stop_both_complete() {
    check_idle_stop(|world, me| {
        world.stop_the_world(me);
        world.release_hec(me);
    });
}
