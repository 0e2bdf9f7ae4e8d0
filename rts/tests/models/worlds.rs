//! Stopping the world with several HECs: each who stops it has all of them alone, and everybody else goes on afterwards.
use crate::explore;
use crate::hec_world::{House, TaskRef};
use crate::shipped::handoff_protocol::HandoffSlot;

/// Each of the first `n` tasks holds the HEC of its number.
fn holders(house: &'static House, n: usize) {
    (0..n).for_each(|no| house.slot(no).acquire(house.tasks[no]));
}

#[test]
fn two_tasks_stop_the_world_while_others_come_and_go() {
    explore(3, || {
        House::with(2, 3, 0, |house| {
            holders(house, 2);
            let stops = move |me| {
                house.stop_the_world(me);
                house.leave(me);
            };
            let other = house.spawn(1, stops);
            let visitor = house.spawn(2, move |me| house.visit(1, me));
            stops(house.tasks[0]);
            other.join().unwrap();
            visitor.join().unwrap();
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn three_tasks_stop_the_world() {
    explore(2, || {
        House::with(3, 3, 0, |house| {
            holders(house, 3);
            let stops = move |me| {
                house.stop_the_world(me);
                house.leave(me);
            };
            let others = [1, 2].map(|no| house.spawn(no, stops));
            stops(house.tasks[0]);
            others.into_iter().for_each(|t| t.join().unwrap());
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_running_thread_is_stopped_and_continues() {
    explore(3, || {
        House::with(2, 2, 0, |house| {
            holders(house, 2);
            let stopper = house.spawn(1, move |me| {
                house.stop_the_world(me);
                house.leave(me);
            });
            let me = house.tasks[0];
            while !house.attend(me) {
                house.run_until_stopped(0);
            }
            house.leave(me);
            stopper.join().unwrap();
            assert!(house.is_quiet());
        });
    });
}

/// The first HEC's holder stops the world if it is idle; the second rests and is visited, the third's holder does as it likes.
fn only_if_idle(third: fn(&'static House, TaskRef)) {
    explore(3, move || {
        House::with(3, 4, 0, |house| {
            house.slot(0).acquire(house.tasks[0]);
            house.slot(2).acquire(house.tasks[2]);
            let other = house.spawn(2, move |me| third(house, me));
            let visitor = house.spawn(3, move |me| house.visit(1, me));
            house.stop_the_world_if_idle(house.tasks[0]);
            house.leave(house.tasks[0]);
            other.join().unwrap();
            visitor.join().unwrap();
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_failed_idle_stop_releases_what_it_took() {
    only_if_idle(|house, me| house.leave(me));
}

#[test]
fn an_idle_stop_and_a_busy_stop_both_complete() {
    only_if_idle(|house, me| {
        house.stop_the_world(me);
        house.leave(me);
    });
}
