//! Models of HECs that are left for short foreign calls.
//!
//! *Checked*: a task that returns soon finds its HEC as it was, and what waits for the HEC meanwhile gets it.
//! *Shipped code*: `sched/handoff/protocol.rs` and what [`crate::support::hec_world`] lists.
use crate::atomics::{AtomicBool, Ordering};
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::support::hec_world::{HecWorld, TaskRef};
use loom::sync::Arc;

/// Acquires the first HEC, where thread 1 then waits.
fn acquire_with_thread(world: &'static HecWorld, me: TaskRef) {
    world.slot(0).acquire(me);
    world.queue(0, 1, None);
}

/// Acquires the first HEC, makes this many calls, and releases it.
fn make_calls(world: &'static HecWorld, me: TaskRef, calls: usize) {
    world.slot(0).acquire(me);
    (0..calls).for_each(|_| world.call_out(0, me));
    world.release_hec(me);
}

#[test]
fn a_waiting_thread_runs_after_short_calls() {
    explore(3, || {
        HecWorld::with(1, 2, 1, |world| {
            let worker = world.spawn_worker(1);
            let me = world.tasks[0];
            acquire_with_thread(world, me);
            (0..2).for_each(|_| world.call_out(0, me));
            world.release_hec(me);
            world.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn a_thread_runs_during_a_long_call() {
    explore(3, || {
        HecWorld::with(1, 3, 1, |world| {
            let worker = world.spawn_worker(2);
            // It returns from a call of its own meanwhile.
            let other = world.spawn(1, move |me| world.acquire_and_release(0, me));
            let me = world.tasks[0];
            acquire_with_thread(world, me);
            world.call_out(0, me);
            world.long_call(0, me, 1);
            world.release_hec(me);
            other.join().unwrap();
            world.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn two_callers_on_one_hec_reacquire_it() {
    explore(3, || {
        HecWorld::with(1, 2, 0, |world| {
            let other = world.spawn(1, move |me| make_calls(world, me, 2));
            make_calls(world, world.tasks[0], 2);
            other.join().unwrap();
            assert!(world.is_idle());
        });
    });
}

#[test]
fn two_callers_and_a_waiting_thread() {
    explore(2, || {
        HecWorld::with(1, 3, 1, |world| {
            let worker = world.spawn_worker(2);
            let other = world.spawn(1, move |me| make_calls(world, me, 1));
            let me = world.tasks[0];
            acquire_with_thread(world, me);
            world.call_out(0, me);
            world.release_hec(me);
            other.join().unwrap();
            world.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn a_message_is_read_as_its_hec_is_left() {
    explore(3, || {
        HecWorld::with(1, 3, 1, |world| {
            let worker = world.spawn_worker(2);
            let sender = world.spawn(1, |_| world.send(0, crate::support::hec_world::Thread { name: 2, bound: None }));
            let me = world.tasks[0];
            acquire_with_thread(world, me);
            world.call_out(0, me);
            world.release_hec(me);
            sender.join().unwrap();
            world.end(&[1, 2], vec![worker]);
        });
    });
}

#[test]
fn the_world_is_stopped_as_a_hec_is_left() {
    explore(2, || {
        HecWorld::with(2, 3, 1, |world| {
            let worker = world.spawn_worker(2);
            let stopper = world.spawn(1, |me| {
                world.slot(1).acquire(me);
                world.stop_the_world(me);
                world.release_hec(me);
            });
            let me = world.tasks[0];
            acquire_with_thread(world, me);
            world.call_out(0, me);
            world.handle_requests(me);
            world.release_hec(me);
            stopper.join().unwrap();
            world.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn the_world_is_stopped_during_a_long_call() {
    explore(2, || {
        HecWorld::with(2, 2, 0, |world| {
            let stopped = Arc::new(AtomicBool::new(false));
            let set_stopped = stopped.clone();
            let stopper = world.spawn(1, move |me| {
                world.slot(1).acquire(me);
                world.stop_the_world(me);
                world.release_hec(me);
                set_stopped.store(true, Ordering::Relaxed);
            });
            // A task with nothing to run on its HEC yields to the other when it returns.
            let me = world.tasks[0];
            world.slot(0).acquire(me);
            world.call_out_until(0, me, || {
                while !stopped.load(Ordering::Relaxed) {
                    crate::atomics::spin_loop();
                }
            });
            world.release_hec(me);
            stopper.join().unwrap();
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_waiting_bound_thread_reaches_its_task_during_a_call() {
    explore(2, || {
        HecWorld::with(1, 3, 1, |world| {
            let worker = world.spawn_worker(2);
            let me = world.tasks[0];
            acquire_with_thread(world, me);
            let other = world.spawn(1, |me| {
                world.slot(0).acquire(me);
                world.queue(0, 2, Some(me));
                world.schedule(me, Some(2));
                world.release_hec(me);
            });
            (0..2).for_each(|_| world.call_out(0, me));
            world.release_hec(me);
            other.join().unwrap();
            world.end(&[1, 2], vec![worker]);
        });
    });
}
