//! Models of HECs that pass from task to task, become idle and are woken.
//!
//! *Checked*: one task at a time holds a HEC, and no task waits for ever.
//! *Shipped code*: `sched/handoff/protocol.rs` and what [`crate::support::hec_world`] lists.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::handoff_protocol::{HandoffSlot, Task};
use crate::support::hec_world::HecWorld;
use loom::sync::Arc;

#[test]
fn one_task_at_a_time_holds_a_hec_and_each_acquires_it() {
    explore(2, || {
        HecWorld::with(1, 3, 0, |world| {
            let others = [(1, 2), (2, 1)].map(|(no, times)| {
                world.spawn(no, move |me| (0..times).for_each(|_| world.acquire_and_release(0, me)))
            });
            world.acquire_and_release(0, world.tasks[0]);
            others.into_iter().for_each(|t| t.join().unwrap());
            assert!(world.is_idle());
        });
    });
}

#[test]
fn a_sleeping_worker_is_woken_for_work_given_to_an_idle_hec() {
    explore(3, || {
        HecWorld::with(1, 1, 0, |world| {
            let given = Arc::new(AtomicUsize::new(0));
            let count = given.clone();
            world.slot(0).acquire(world.tasks[0]);
            let worker = world.spawn(0, move |me| {
                for done in 0..2 {
                    unsafe { world.own_slot(me).join_idle(me, 1) };
                    me.on_acquire(me.wait_turn());
                    assert!(count.load(Ordering::Relaxed) > done);
                    world.pop(0).expect("there is work");
                }
                world.release_hec(me);
            });
            // Each as soon as the HEC is idle.
            for name in 0..2 {
                let fill = || {
                    world.queue(0, name, None);
                    given.fetch_add(1, Ordering::Relaxed);
                };
                while !unsafe { world.slot(0).give(fill) } {
                    crate::atomics::spin_loop();
                }
            }
            worker.join().unwrap();
            assert!(world.is_idle());
        });
    });
}
