//! The ticker's sleep while no HEC is used, or while ticks are not wanted.
//!
//! *Protocol*
//! ```text
//!                announce: state = ASLEEP
//!     AWAKE ---------------------------------> ANNOUNCED
//!       ^ ^                                      |    | may_sleep is true, and the state is still ASLEEP
//!       | +--------------------------------------+    v
//!       |    may_sleep is false, or wake()         SLEEPING
//!       +---------------------------------------------+
//!            wake(), or the end of the time
//! ```
//! 1. The ticker announces its sleep in one word, and then checks whether it may sleep. It takes each slot's lock for
//!    that.
//! 2. A task that takes a HEC records that under the slot's lock, and then reads the word. If the ticker sleeps, the
//!    task [wakes](TickerSleep::wake) it.
//! 3. Any other waker records its reason first, and then wakes the ticker.
//! 4. If a sleep ends because its time is over, the ticker behaves as if it had been woken, and checks again.
//!
//! *Invariants*
//! - Of two tasks that have held the same lock, the later one sees what the earlier one wrote. So the ticker sees that
//!   the HEC has been taken, or the task that takes it sees that the ticker sleeps. Taking a HEC costs a plain load.
//! - The ticker and any other waker both exchange the word, and one exchange comes first. If it is the waker's, the
//!   ticker sees the reason when it checks. Otherwise the waker finds the ticker asleep and wakes it.
//!
//! *Locking*: none. [`wake`](TickerSleep::wake) is async-signal-safe, and a fork leaves only the word behind.
//!
//! *Checked by*: the loom models in `rts/tests/models/ticker_sleep.rs`, which compile this file.
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

    /// Sleeps until a HEC is taken or the ticker is [woken](TickerSleep::wake), but not past `end`, and only if
    /// `may_sleep` is true. `may_sleep` takes the slots' locks to check that no HEC is used.
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
        // An exchange, so that the ticker also sees what earlier wakers wrote.
        self.state.swap(AWAKE, Ordering::AcqRel);
    }

    /// A HEC has been taken and that is recorded; the caller holds the lock of its slot.
    pub fn taken(&self) {
        if self.state.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    /// Ends a sleep that has begun or has been announced. Async-signal-safe.
    pub fn wake(&self) {
        if self.state.swap(AWAKE, Ordering::AcqRel) == ASLEEP {
            self.state.wake_one();
        }
    }

    /// Resets the word in the child of a fork, where the parent's ticker does not exist.
    pub fn after_fork(&self) {
        self.state.swap(AWAKE, Ordering::AcqRel);
    }
}
