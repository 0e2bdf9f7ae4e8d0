//! Models of a task that watches the events of a HEC while others acquire and release it.
//!
//! The slot is a short form of `sched/handoff/protocol.rs`: a lock, the holder, and whether a worker is on its way.
//!
//! *Shipped code*: `sched/watch.rs`.
use crate::atomics::{AtomicBool, Ordering};
use crate::shipped::watch::Watch;
use loom::sync::{Arc, Mutex};
use loom::thread;

#[derive(Default)]
struct Slot {
    held: bool,
    worker_sent: bool,
}

struct World {
    watch: Watch,
    slot: Mutex<Slot>,
    served: AtomicBool,
}

impl World {
    fn new(held: bool) -> Arc<World> {
        let slot = Mutex::new(Slot { held, worker_sent: false });
        Arc::new(World { watch: Watch::new(), slot, served: AtomicBool::new(false) })
    }

    fn acquire(&self) -> bool {
        !std::mem::replace(&mut self.slot.lock().unwrap().held, true)
    }

    fn release(&self) {
        let mut slot = self.slot.lock().unwrap();
        slot.held = false;
        slot.worker_sent |= self.watch.needs_watcher();
    }

    /// A task has added a wait to the loop, and does not hold the HEC.
    fn ensure_served(&self) {
        if self.watch.needs_watcher() {
            let mut slot = self.slot.lock().unwrap();
            slot.worker_sent |= !slot.held && self.watch.needs_watcher();
        }
    }

    fn serve(&self) {
        self.served.store(true, Ordering::Relaxed);
        self.watch.set_waits(0);
    }

    fn assert_served_or_sent(&self) {
        let sent = self.slot.lock().unwrap().worker_sent;
        assert!(sent || self.served.load(Ordering::Relaxed), "the events are left to nobody");
    }
}

#[test]
fn events_are_served_while_others_use_the_hec() {
    loom::model(|| {
        let w = World::new(true);
        w.watch.set_waits(1);
        let watcher = {
            let w = w.clone();
            thread::spawn(move || {
                assert!(w.watch.begin());
                w.release();
                // It sleeps. Events come.
                w.watch.end();
                if w.acquire() {
                    w.serve();
                    w.release();
                }
            })
        };
        if w.acquire() {
            w.release();
        }
        watcher.join().unwrap();
        w.assert_served_or_sent();
    });
}

#[test]
fn the_shared_watcher_leaves_events_to_a_worker_or_to_the_holder() {
    loom::model(|| {
        let w = World::new(true);
        w.watch.set_waits(1);
        // The holder begins the watch in the name of the shared watcher.
        assert!(w.watch.begin());
        w.release();
        let shared_watcher = {
            let w = w.clone();
            thread::spawn(move || {
                w.watch.end();
                let mut slot = w.slot.lock().unwrap();
                slot.worker_sent |= !slot.held && w.watch.needs_watcher();
            })
        };
        if w.acquire() {
            // It does not find the events, and begins no watch of its own.
            w.release();
        }
        shared_watcher.join().unwrap();
        w.assert_served_or_sent();
    });
}

#[test]
fn a_wait_that_is_added_from_elsewhere_is_noticed() {
    loom::model(|| {
        let w = World::new(true);
        let holder = {
            let w = w.clone();
            thread::spawn(move || {
                let watches = w.watch.begin();
                w.release();
                watches
            })
        };
        w.watch.set_waits(1);
        w.ensure_served();
        let watches = holder.join().unwrap();
        assert!(watches || w.slot.lock().unwrap().worker_sent, "nobody watches");
    });
}
