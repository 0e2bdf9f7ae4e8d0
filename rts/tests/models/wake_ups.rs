//! Models of tasks that wake a task that sleeps in a poller.
//!
//! The descriptor on which it sleeps is a short form of an eventfd: it is readable from the first signal until it is
//! read. The task drains it and lowers the flag, as `events/poller/wakeup.rs` does.
//!
//! *Shipped code*: `events/poller/wake_flag.rs`.
use crate::atomics::{AtomicBool, Condvar, Mutex, Ordering};
use crate::shipped::wake_flag::WakeFlag;
use loom::sync::Arc;
use loom::thread;

struct World {
    flag: WakeFlag,
    readable: Mutex<bool>,
    became_readable: Condvar,
    /// What the wakers publish before they wake.
    published: [AtomicBool; 2],
}

impl World {
    fn new() -> Arc<World> {
        let published = [AtomicBool::new(false), AtomicBool::new(false)];
        let (readable, became_readable) = (Mutex::new(false), Condvar::new());
        Arc::new(World { flag: WakeFlag::new(), readable, became_readable, published })
    }

    fn publish_and_wake(&self, waker: usize) {
        self.published[waker].store(true, Ordering::Relaxed);
        if self.flag.raise() {
            *self.readable.lock().unwrap() = true;
            self.became_readable.notify_one();
        }
    }

    fn sleep(&self) {
        let mut readable = self.readable.lock().unwrap();
        while !*readable {
            readable = self.became_readable.wait(readable).unwrap();
        }
    }

    /// Reads the signals, and lowers the flag.
    fn take(&self) -> bool {
        *self.readable.lock().unwrap() = false;
        self.flag.lower()
    }

    /// Sleeps until it has seen what both have published. Loom finds a dead-lock if a wake-up is lost.
    fn wait_for_both(&self) {
        while !self.published.iter().all(|published| published.load(Ordering::Relaxed)) {
            self.sleep();
            self.take();
        }
    }
}

#[test]
fn what_two_wakers_publish_is_seen() {
    crate::explore(3, || {
        let world = World::new();
        let waker = |number: usize| {
            let world = world.clone();
            thread::spawn(move || world.publish_and_wake(number))
        };
        let wakers = [waker(0), waker(1)];
        world.wait_for_both();
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
    });
}

#[test]
fn a_wake_up_before_the_sleep_ends_it() {
    crate::explore(3, || {
        let world = World::new();
        world.publish_and_wake(0);
        let late = {
            let world = world.clone();
            thread::spawn(move || world.publish_and_wake(1))
        };
        world.sleep();
        assert!(world.take(), "a signal without a wake-up");
        world.wait_for_both();
        late.join().unwrap();
    });
}
