//! Models of a thread that leaves its fiber for a foreign call.
//!
//! *Checked*: one OS thread at a time has the fiber, and the worker that takes it over is not granted a HEC as well.
//! *Shipped code*: `sched/handoff/protocol.rs` and what [`crate::support::hec_world`] lists.
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::support::hec_world::HecWorld;

const OTHER: usize = 0;
const CALLER: usize = 1;

/// A task in an in-call has run a thread on a fiber, which leaves for a foreign call. Then the task releases the HEC,
/// with another thread on the queue.
fn leave_fiber_and_thread(world: &'static HecWorld) {
    let me = world.tasks[0];
    world.leave_on_fiber(me, CALLER);
    world.queue(0, OTHER, None);
    world.release_hec(me);
}

#[test]
fn one_idle_worker_takes_the_fiber_and_another_the_hec() {
    explore(3, || {
        HecWorld::with(1, 3, 1, |world| {
            world.slot(0).acquire(world.tasks[1]);
            unsafe { world.slot(0).join_idle(world.tasks[1], 1) };
            world.slot(0).acquire(world.tasks[0]);
            let workers = [1, 2].map(|no| world.spawn_worker(no));
            leave_fiber_and_thread(world);
            world.end(&[OTHER, CALLER], workers.into());
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_fiber_is_taken_over_while_the_world_stops() {
    explore(2, || {
        HecWorld::with(2, 4, 2, |world| {
            world.slot(0).acquire(world.tasks[0]);
            world.slot(1).acquire(world.tasks[1]);
            let stopper = world.spawn(1, move |me| {
                world.stop_the_world(me);
                world.release_hec(me);
            });
            let workers = [2, 3].map(|no| world.spawn_worker(no));
            leave_fiber_and_thread(world);
            stopper.join().unwrap();
            world.end(&[OTHER, CALLER], workers.into());
            assert!(world.is_idle());
        });
    });
}
