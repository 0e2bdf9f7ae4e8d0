//! Models of threads that migrate to an idle HEC.
//!
//! *Checked*: each thread runs once, whatever else arrives at the HEC.
//! *Shipped code*: `sched/handoff/protocol.rs` and what [`crate::support::hec_world`] lists.
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::support::hec_world::{HecWorld, TaskRef, Thread};

/// The first HEC's holder gives one of its two threads to the second HEC, which is idle and has an idle worker. Another
/// task acts meanwhile. All of the named threads run.
fn check_migration(ran: &'static [usize], other: fn(&'static HecWorld, TaskRef)) {
    explore(2, move || {
        HecWorld::with(2, 4, 1, |world| {
            let me = world.tasks[0];
            world.slot(0).acquire(me);
            world.queue(0, 0, None);
            // The worker is idle: it has held the HEC.
            world.slot(1).acquire(world.tasks[2]);
            unsafe { world.slot(1).join_idle(world.tasks[2], 1) };
            let other = world.spawn(1, move |me| other(world, me));
            let workers = [2, 3].map(|no| world.spawn_worker(no));
            let t = Thread { name: 1, bound: None };
            if !world.give_to_idle(me, t) {
                world.run(t);
            }
            world.schedule(me, Some(0));
            world.handle_requests(me);
            world.release_hec(me);
            other.join().unwrap();
            world.end(ran, workers.into());
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_thread_migrates_as_a_message_arrives() {
    check_migration(&[0, 1, 2], |world, _| world.send(1, Thread { name: 2, bound: None }));
}

#[test]
fn a_thread_migrates_as_a_task_returns() {
    check_migration(&[0, 1], |world, me| world.acquire_and_release(1, me));
}

#[test]
fn a_thread_migrates_as_the_world_stops() {
    check_migration(&[0, 1], |world, me| {
        world.slot(1).acquire(me);
        world.stop_the_world(me);
        world.release_hec(me);
    });
}

/// Two HECs give threads to the same HEC at once.
#[test]
fn two_hecs_migrate_threads_to_one_at_once() {
    check_migration(&[0, 1, 2], |world, _| {
        let t = Thread { name: 2, bound: None };
        if !unsafe { world.slot(1).give(|| world.queue(1, t.name, t.bound)) } {
            world.run(t);
        }
    });
}
