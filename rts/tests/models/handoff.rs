//! HECs that pass from task to task, sleep and wake: one task holds one at a time, and nobody waits in vain.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::hec_world::House;
use crate::shipped::handoff_protocol::{HandoffSlot, Task};
use loom::sync::Arc;

#[test]
fn one_task_at_a_time_holds_a_hec_and_each_acquires_it() {
    explore(2, || {
        House::with(1, 3, 0, |house| {
            let others = [(1, 2), (2, 1)]
                .map(|(no, times)| house.spawn(no, move |me| (0..times).for_each(|_| house.visit(0, me))));
            house.visit(0, house.tasks[0]);
            others.into_iter().for_each(|t| t.join().unwrap());
            assert!(house.is_quiet());
        });
    });
}

#[test]
fn a_sleeping_worker_is_woken_for_work_given_to_an_idle_hec() {
    explore(3, || {
        House::with(1, 1, 0, |house| {
            let given = Arc::new(AtomicUsize::new(0));
            let count = given.clone();
            house.slot(0).acquire(house.tasks[0]);
            let worker = house.spawn(0, move |me| {
                for done in 0..2 {
                    unsafe { house.mine(me).join_idle(me, 1) };
                    me.on_acquire(me.wait_turn());
                    assert!(count.load(Ordering::Relaxed) > done);
                    house.pop(0).expect("there is work");
                }
                house.leave(me);
            });
            // Each as soon as the HEC rests.
            for name in 0..2 {
                let fill = || {
                    house.queue(0, name, None);
                    given.fetch_add(1, Ordering::Relaxed);
                };
                while !unsafe { house.slot(0).give(fill) } {
                    crate::atomics::spin_loop();
                }
            }
            worker.join().unwrap();
            assert!(house.is_quiet());
        });
    });
}
