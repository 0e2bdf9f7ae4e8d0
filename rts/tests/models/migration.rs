//! Threads given to a HEC that rests: each runs once, whatever else comes to the HEC.
use crate::explore;
use crate::hec_world::{House, TaskRef, Thread};
use crate::shipped::handoff_protocol::HandoffSlot;

/// The first HEC's holder gives one of its two threads to the second, which rests and has an idle worker, while another task
/// does this. All of the named threads run.
fn given(ran: &'static [usize], other: fn(&'static House, TaskRef)) {
    explore(2, move || {
        House::with(2, 4, 1, |house| {
            let me = house.tasks[0];
            house.slot(0).acquire(me);
            house.queue(0, 0, None);
            // Idle: it has held the HEC.
            house.slot(1).acquire(house.tasks[2]);
            unsafe { house.slot(1).join_idle(house.tasks[2], 1) };
            let other = house.spawn(1, move |me| other(house, me));
            let workers = [2, 3].map(|no| house.spawn_worker(no));
            let t = Thread { name: 1, bound: None };
            if !house.give_away(me, t) {
                house.run(t);
            }
            house.schedule(me, Some(0));
            house.attend(me);
            house.leave(me);
            other.join().unwrap();
            house.end(ran, workers.into());
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_thread_migrates_as_a_message_arrives() {
    given(&[0, 1, 2], |house, _| house.send(1, Thread { name: 2, bound: None }));
}

#[test]
fn a_thread_migrates_as_a_task_returns() {
    given(&[0, 1], |house, me| house.visit(1, me));
}

#[test]
fn a_thread_migrates_as_the_world_stops() {
    given(&[0, 1], |house, me| {
        house.slot(1).acquire(me);
        house.stop_the_world(me);
        house.leave(me);
    });
}

/// Two give to the same HEC at once.
#[test]
fn two_hecs_migrate_threads_to_one_at_once() {
    given(&[0, 1, 2], |house, _| {
        let t = Thread { name: 2, bound: None };
        if !unsafe { house.slot(1).give(|| house.queue(1, t.name, t.bound)) } {
            house.run(t);
        }
    });
}
