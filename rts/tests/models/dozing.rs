//! The ticker falls asleep as HECs are taken: it must not sleep while one is used.
use crate::atomics::{AtomicUsize, Mutex, Ordering};
use crate::doze::Doze;
use crate::explore;
use loom::sync::Arc;
use loom::thread;

/// A HEC's seat.
struct Seat {
    held: Mutex<bool>,
    taken: AtomicUsize,
}

struct World {
    doze: Doze,
    seats: [Seat; 2],
}

impl World {
    fn new() -> Arc<World> {
        let seats = [(); 2].map(|()| Seat { held: Mutex::new(false), taken: AtomicUsize::new(0) });
        Arc::new(World { doze: Doze::new(), seats })
    }

    fn take(&self, no: usize) {
        let seat = &self.seats[no];
        let mut held = seat.held.lock().unwrap();
        *held = true;
        seat.taken.store(seat.taken.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.doze.taken();
    }

    fn leave(&self, no: usize) {
        *self.seats[no].held.lock().unwrap() = false;
    }

    /// As in the ticker.
    fn sleep(&self, seen: usize) {
        self.doze.sleep(|| {
            let held = self.seats.iter().any(|seat| *seat.held.lock().unwrap());
            !held && self.seats.iter().map(|seat| seat.taken.load(Ordering::Relaxed)).sum::<usize>() == seen
        });
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
        world.take(0);
        world.leave(0);
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
                world.take(1);
                world.leave(1);
            }
        });
        world.take(0);
        other.join().unwrap();
        ticker.join().unwrap();
    });
}

#[test]
fn the_ticker_wakes_beside_a_fork_and_in_the_child() {
    explore(2, || {
        let world = World::new();
        let falls_asleep = |seen| {
            let world = world.clone();
            thread::spawn(move || world.sleep(seen))
        };
        let ticker = falls_asleep(0);
        world.doze.with_locked(|| ());
        world.take(0);
        world.leave(0);
        ticker.join().unwrap();
        world.doze.after_fork();
        let ticker = falls_asleep(1);
        world.take(0);
        world.leave(0);
        ticker.join().unwrap();
    });
}
