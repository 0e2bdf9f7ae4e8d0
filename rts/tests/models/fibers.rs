//! A thread that leaves its fiber for a foreign call: one OS thread at a time has the fiber, and the worker that takes it up is
//! not given a HEC as well.
use crate::explore;
use crate::hec_world::House;
use crate::shipped::handoff_protocol::HandoffSlot;

const OTHER: usize = 0;
const CALLER: usize = 1;

/// A task that is in an in-call has run a thread on a fiber, which leaves for a foreign call; then it leaves, with another
/// thread on the queue.
fn leave_two_things_to_do(house: &'static House) {
    let me = house.tasks[0];
    house.leave_on_fiber(me, CALLER);
    house.queue(0, OTHER, None);
    house.leave(me);
}

#[test]
fn one_idle_worker_takes_the_fiber_and_another_the_hec() {
    explore(3, || {
        House::with(1, 3, 1, |house| {
            house.slot(0).acquire(house.tasks[1]);
            unsafe { house.slot(0).join_idle(house.tasks[1], 1) };
            house.slot(0).acquire(house.tasks[0]);
            let workers = [1, 2].map(|no| house.spawn_worker(no));
            leave_two_things_to_do(house);
            house.end(&[OTHER, CALLER], workers.into());
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_fiber_is_taken_over_while_the_world_stops() {
    explore(2, || {
        House::with(2, 4, 2, |house| {
            house.slot(0).acquire(house.tasks[0]);
            house.slot(1).acquire(house.tasks[1]);
            let stopper = house.spawn(1, move |me| {
                house.stop_the_world(me);
                house.leave(me);
            });
            let workers = [2, 3].map(|no| house.spawn_worker(no));
            leave_two_things_to_do(house);
            stopper.join().unwrap();
            house.end(&[OTHER, CALLER], workers.into());
            assert!(house.is_quiet());
        });
    });
}
