//! The clock of the event loops: the system's monotonic one, or virtual time under a random run order
//! (`hec/byte_budget.rs`). Unit tests stop it and move it by hand.
use crate::base::clock::getMonotonicNSec;
use crate::hec::byte_budget::virtual_time;

/// The time in nanoseconds.
pub fn nanoseconds() -> u64 {
    #[cfg(test)]
    if let Some(time) = by_hand::time() {
        return time;
    }
    virtual_time::now().unwrap_or_else(|| getMonotonicNSec())
}

#[cfg(test)]
pub mod by_hand {
    use super::getMonotonicNSec;
    use crate::events::event_loop;
    use crate::testing::world::World;
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        static TIME: Cell<Option<u64>> = const { Cell::new(None) };
    }

    pub fn time() -> Option<u64> {
        TIME.get()
    }

    /// The clock of this OS thread, stopped while this lives.
    pub struct StoppedClock(());

    impl StoppedClock {
        /// All loops are new, and belong to the world.
        pub fn new(_world: &World) -> StoppedClock {
            TIME.set(Some(getMonotonicNSec()));
            StoppedClock::renew_loops();
            StoppedClock(())
        }
        pub fn advance(&self, by: Duration) {
            TIME.set(TIME.get().map(|time| time + by.as_nanos() as u64));
        }
        fn renew_loops() {
            // SAFETY: the world's lock excludes other tests that use loops.
            unsafe { event_loop::after_fork() }
        }
    }

    impl Drop for StoppedClock {
        fn drop(&mut self) {
            TIME.set(None);
            // Their wheels are ahead of the clock now.
            StoppedClock::renew_loops();
        }
    }
}
