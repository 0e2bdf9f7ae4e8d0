//! The ticker's sleep while no HEC is used, or while ticks are not wanted.
//!
//! *Protocol.*
//!
//! 1. The ticker announces its sleep in one word and then looks whether it may sleep. It takes each slot's lock for that.
//! 2. A task that takes a HEC records that under the slot's lock and then reads the word. If the ticker sleeps, the task
//!    [wakes](TickerSleep::wake) it. Of two that have held the same lock the later one sees what the earlier one wrote. So the ticker sees
//!    that the HEC has been taken, or the task sees that the ticker sleeps, and taking a HEC costs a plain load.
//! 3. Any other waker records its reason first and then [wakes](TickerSleep::wake) the ticker. Both sides exchange the word, so
//!    one of the two exchanges comes first. If the waker's does, the ticker sees the reason when it looks; otherwise the waker
//!    finds the ticker asleep and wakes it.
//! 4. A sleep may also end because its time is over. Then the ticker goes on as if it had been woken, and looks again.
//!
//! *Locking.* None: [`wake`](TickerSleep::wake) is async-signal-safe, and a fork leaves nothing behind but the word.
//!
//! *Checked by* `rts/tests/models/ticker_sleep.rs`, which runs this file under loom.
use crate::base::atomics::{Futex, Ordering};
use std::time::{Duration, Instant};

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;

pub struct TickerSleep {
    state: Futex,
}

impl TickerSleep {
    pub fn new() -> TickerSleep {
        TickerSleep { state: Futex::new(AWAKE) }
    }

    /// Sleeps until a HEC is taken or somebody [wakes](TickerSleep::wake) the ticker, but not past `end`, if `may_sleep` says so, which takes
    /// the slots' locks to find out whether HECs are unused.
    pub fn sleep(&self, may_sleep: impl FnOnce() -> bool, end: Option<Instant>) {
        self.state.swap(ASLEEP, Ordering::AcqRel);
        if may_sleep() {
            while self.state.load(Ordering::Acquire) == ASLEEP {
                let left = end.map(|end| end.saturating_duration_since(Instant::now()));
                if left == Some(Duration::ZERO) {
                    break;
                }
                self.state.wait(ASLEEP, left);
            }
        }
        // An exchange, so that what earlier wakers wrote is seen after the next one too.
        self.state.swap(AWAKE, Ordering::AcqRel);
    }

    /// A HEC has been taken, which is written down; the slot's lock is held.
    pub fn taken(&self) {
        if self.state.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    /// Ends a sleep that is, or that has been announced. Async-signal-safe.
    pub fn wake(&self) {
        if self.state.swap(AWAKE, Ordering::AcqRel) == ASLEEP {
            self.state.wake_one();
        }
    }

    /// In the child of a fork the ticker is not there that may have slept.
    pub fn after_fork(&self) {
        self.state.swap(AWAKE, Ordering::AcqRel);
    }
}
