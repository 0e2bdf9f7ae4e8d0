//! Models of the ticker that falls asleep as HECs are acquired.
//!
//! *Checked*: the ticker does not sleep while a HEC is used, or when ticks are wanted again.
//! *Shipped code*: `sched/ticker_sleep.rs`.
use crate::atomics::{AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::explore;
use crate::shipped::ticker_sleep::TickerSleep;
use loom::sync::Arc;
use loom::thread;

/// The slot of a HEC.
struct Slot {
    held: Mutex<bool>,
    taken: AtomicUsize,
}

struct World {
    ticker_sleep: TickerSleep,
    slots: [Slot; 2],
}

impl World {
    fn new() -> Arc<World> {
        let slots = [(); 2].map(|()| Slot { held: Mutex::new(false), taken: AtomicUsize::new(0) });
        Arc::new(World { ticker_sleep: TickerSleep::new(), slots })
    }

    fn acquire(&self, no: usize) {
        let slot = &self.slots[no];
        let mut held = slot.held.lock().unwrap();
        *held = true;
        slot.taken.store(slot.taken.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.ticker_sleep.taken();
    }

    fn release(&self, no: usize) {
        *self.slots[no].held.lock().unwrap() = false;
    }

    fn take_count(&self) -> usize {
        self.slots.iter().map(|slot| slot.taken.load(Ordering::Relaxed)).sum()
    }

    /// As in the ticker.
    fn sleep(&self, seen: usize) {
        let unused = || {
            let held = self.slots.iter().any(|slot| *slot.held.lock().unwrap());
            !held && self.take_count() == seen
        };
        self.ticker_sleep.sleep(unused, None);
    }
}

#[test]
fn the_ticker_wakes_when_a_hec_is_used() {
    explore(3, || {
        let world = World::new();
        let ticker = thread::spawn({
            let world = world.clone();
            move || world.sleep(0)
        });
        world.acquire(0);
        world.release(0);
        ticker.join().unwrap();
    });
}

#[test]
fn the_ticker_wakes_whichever_hec_is_used() {
    explore(2, || {
        let world = World::new();
        let ticker = thread::spawn({
            let world = world.clone();
            move || {
                world.sleep(0);
                world.sleep(1);
            }
        });
        let other = thread::spawn({
            let world = world.clone();
            move || {
                world.acquire(1);
                world.release(1);
            }
        });
        world.acquire(0);
        other.join().unwrap();
        ticker.join().unwrap();
    });
}

/// A sleep ends for another reason: its time is over (which loom does not model), or the ticker was woken needlessly.
/// The next sleep ends as the first would have.
#[test]
fn a_sleep_after_an_early_wake_ends_when_a_hec_is_used() {
    explore(3, || {
        let world = World::new();
        let ticker = thread::spawn({
            let world = world.clone();
            move || {
                while world.take_count() == 0 {
                    world.sleep(0);
                }
            }
        });
        let alarm = thread::spawn({
            let world = world.clone();
            move || world.ticker_sleep.wake()
        });
        world.acquire(0);
        world.release(0);
        alarm.join().unwrap();
        ticker.join().unwrap();
    });
}

#[test]
fn a_paused_ticker_continues_when_it_is_told() {
    explore(3, || {
        let world = World::new();
        let paused = Arc::new(AtomicBool::new(true));
        let ticker = thread::spawn({
            let (world, paused) = (world.clone(), paused.clone());
            move || {
                while paused.load(Ordering::Relaxed) {
                    world.ticker_sleep.sleep(|| paused.load(Ordering::Relaxed), None);
                }
            }
        });
        world.acquire(0);
        paused.store(false, Ordering::Relaxed);
        world.ticker_sleep.wake();
        ticker.join().unwrap();
    });
}

#[test]
fn the_ticker_of_a_child_wakes_as_its_parents_does() {
    explore(2, || {
        let world = World::new();
        let start_ticker = |seen| {
            let world = world.clone();
            thread::spawn(move || world.sleep(seen))
        };
        let ticker = start_ticker(0);
        world.acquire(0);
        world.release(0);
        ticker.join().unwrap();
        world.ticker_sleep.after_fork();
        let ticker = start_ticker(1);
        world.acquire(0);
        world.release(0);
        ticker.join().unwrap();
    });
}
