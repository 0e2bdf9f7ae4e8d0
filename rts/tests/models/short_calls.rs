//! HECs that are left for foreign calls: who comes back soon finds it as it was, and what waits for the HEC meanwhile does not do so in vain.
use crate::atomics::{AtomicBool, Ordering};
use crate::explore;
use crate::hec_world::{House, TaskRef};
use crate::shipped::handoff_protocol::HandoffSlot;
use loom::sync::Arc;

/// Takes the first HEC, where thread 1 waits then.
fn acquire_with_thread(house: &'static House, me: TaskRef) {
    house.slot(0).acquire(me);
    house.queue(0, 1, None);
}

/// Takes the first HEC, makes so many calls, and passes it on.
fn make_calls(house: &'static House, me: TaskRef, calls: usize) {
    house.slot(0).acquire(me);
    (0..calls).for_each(|_| house.call_out(0, me));
    house.leave(me);
}

#[test]
fn a_waiting_thread_runs_after_short_calls() {
    explore(3, || {
        House::with(1, 2, 1, |house| {
            let worker = house.spawn_worker(1);
            let me = house.tasks[0];
            acquire_with_thread(house, me);
            (0..2).for_each(|_| house.call_out(0, me));
            house.leave(me);
            house.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn a_thread_runs_during_a_long_call() {
    explore(3, || {
        House::with(1, 3, 1, |house| {
            let worker = house.spawn_worker(2);
            // Who comes back from a call of its own, meanwhile.
            let other = house.spawn(1, move |me| house.visit(0, me));
            let me = house.tasks[0];
            acquire_with_thread(house, me);
            house.call_out(0, me);
            house.long_call(0, me, 1);
            house.leave(me);
            other.join().unwrap();
            house.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn two_callers_on_one_hec_reacquire_it() {
    explore(3, || {
        House::with(1, 2, 0, |house| {
            let other = house.spawn(1, move |me| make_calls(house, me, 2));
            make_calls(house, house.tasks[0], 2);
            other.join().unwrap();
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn two_callers_and_a_waiting_thread() {
    explore(2, || {
        House::with(1, 3, 1, |house| {
            let worker = house.spawn_worker(2);
            let other = house.spawn(1, move |me| make_calls(house, me, 1));
            let me = house.tasks[0];
            acquire_with_thread(house, me);
            house.call_out(0, me);
            house.leave(me);
            other.join().unwrap();
            house.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn a_message_is_read_as_its_hec_is_left() {
    explore(3, || {
        House::with(1, 3, 1, |house| {
            let worker = house.spawn_worker(2);
            let sender = house.spawn(1, |_| house.send(0, crate::hec_world::Thread { name: 2, bound: None }));
            let me = house.tasks[0];
            acquire_with_thread(house, me);
            house.call_out(0, me);
            house.leave(me);
            sender.join().unwrap();
            house.end(&[1, 2], vec![worker]);
        });
    });
}

#[test]
fn the_world_is_stopped_as_a_hec_is_left() {
    explore(2, || {
        House::with(2, 3, 1, |house| {
            let worker = house.spawn_worker(2);
            let stopper = house.spawn(1, |me| {
                house.slot(1).acquire(me);
                house.stop_the_world(me);
                house.leave(me);
            });
            let me = house.tasks[0];
            acquire_with_thread(house, me);
            house.call_out(0, me);
            house.attend(me);
            house.leave(me);
            stopper.join().unwrap();
            house.end(&[1], vec![worker]);
        });
    });
}

#[test]
fn the_world_is_stopped_during_a_long_call() {
    explore(2, || {
        House::with(2, 2, 0, |house| {
            let stopped = Arc::new(AtomicBool::new(false));
            let tell = stopped.clone();
            let stopper = house.spawn(1, move |me| {
                house.slot(1).acquire(me);
                house.stop_the_world(me);
                house.leave(me);
                tell.store(true, Ordering::Relaxed);
            });
            // Who has nothing to run on its HEC gives way to the other when it comes back.
            let me = house.tasks[0];
            house.slot(0).acquire(me);
            house.call_out_until(0, me, || {
                while !stopped.load(Ordering::Relaxed) {
                    crate::atomics::spin_loop();
                }
            });
            house.leave(me);
            stopper.join().unwrap();
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_waiting_bound_thread_reaches_its_task_during_a_call() {
    explore(2, || {
        House::with(1, 3, 1, |house| {
            let worker = house.spawn_worker(2);
            let me = house.tasks[0];
            acquire_with_thread(house, me);
            let other = house.spawn(1, |me| {
                house.slot(0).acquire(me);
                house.queue(0, 2, Some(me));
                house.schedule(me, Some(2));
                house.leave(me);
            });
            (0..2).for_each(|_| house.call_out(0, me));
            house.leave(me);
            other.join().unwrap();
            house.end(&[1, 2], vec![worker]);
        });
    });
}
