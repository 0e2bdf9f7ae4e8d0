//! Models of HECs that are to make enqueue upcalls when they are released.
//!
//! *Checked*: one HEC is to make the upcall for a thread that is woken, and it is made even if that HEC is released, or
//! left for a foreign call, at once.
//! *Shipped code*: `thread/ownership.rs`, `thread/spinlock.rs` and what [`crate::support::hec_world`] lists.
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::shipped::scont_protocol::Status;
use crate::support::hec_world::{HecWorld, TaskRef};
use crate::support::scont_world::Thread;
use loom::sync::Arc;

const ON_MVAR: usize = 1;

/// The name of the thread that is woken.
const WOKEN: usize = 5;

/// A thread of a user scheduler that waits in the runtime.
fn blocked() -> Arc<Thread<()>> {
    Arc::new(Thread::new(Status::running(0), ON_MVAR, ()))
}

/// The task, which holds a HEC, wakes the thread, if no other has. Returns whether it has.
fn wake(world: &'static HecWorld, me: TaskRef, t: &Thread<()>) -> bool {
    let no = world.own_slot(me).1;
    let woken = t.claim(1 + no, ON_MVAR);
    if woken {
        world.resume_user(no, WOKEN);
    }
    woken
}

#[test]
fn an_upcall_is_made_while_its_hec_is_in_a_call() {
    explore(3, || {
        HecWorld::with(1, 2, 1, |world| {
            let waker = world.tasks[0];
            let worker = world.spawn_worker(1);
            world.slot(0).acquire(waker);
            assert!(wake(world, waker, &blocked()));
            world.long_call(0, waker, 1);
            world.release_hec(waker);
            world.end(&[WOKEN], vec![worker]);
            assert!(world.is_idle());
        });
    });
}

#[test]
fn the_hec_of_one_of_two_wakers_makes_the_upcall() {
    explore(2, || {
        HecWorld::with(2, 3, 1, |world| {
            let t = blocked();
            let other = t.clone();
            let worker = world.spawn_worker(2);
            let second = world.spawn(1, move |me| {
                world.slot(1).acquire(me);
                wake(world, me, &other);
                world.release_hec(me);
            });
            let me = world.tasks[0];
            world.slot(0).acquire(me);
            wake(world, me, &t);
            world.release_hec(me);
            second.join().unwrap();
            world.end(&[WOKEN], vec![worker]);
            assert!(world.is_idle());
        });
    });
}
