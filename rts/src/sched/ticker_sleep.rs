//! The ticker's sleep while no HEC is used, or while ticks are not wanted.
//!
//! Protocol. Who takes a HEC holds the seat's lock as he writes that down and looks whether the ticker sleeps, which he then
//! [wakes](Doze::wake). The ticker says that it sleeps, and looks at every seat under its lock afterwards. Of two that have held the
//! same lock the later one sees what the earlier one wrote: the ticker sees that the HEC has been taken, or who takes it sees that the
//! ticker sleeps. So both may be told by plain words, and to take a HEC costs nothing for it.
//! Who wakes the ticker under a seat's lock takes this file's lock, so the ticker does not hold that one while it looks.
//! Others who end a sleep write down why, and [wake](Doze::wake) the ticker then: it says that it sleeps under this file's lock, and
//! looks for such reasons after that.
//! A sleep may also end because its time is over. Then the ticker goes on as if it had been woken, and looks again.
//!
//! `rts/tests/models/ticker_sleep.rs` runs this file under loom.
use crate::base::atomics::{AtomicBool, Condvar, Mutex, Ordering};
use crate::base::poison::unpoisoned;
use std::time::{Duration, Instant};

pub struct TickerSleep {
    /// For a look without the lock.
    dozing: AtomicBool,
    asleep: Mutex<bool>,
    bell: Condvar,
}

impl TickerSleep {
    pub fn new() -> TickerSleep {
        TickerSleep { dozing: AtomicBool::new(false), asleep: Mutex::new(false), bell: Condvar::new() }
    }

    /// Sleeps until a HEC is taken or somebody [wakes](Doze::wake) the ticker, but not past `end`, if `may_sleep` says so, which takes the
    /// seats' locks to find out whether HECs are unused.
    pub fn sleep(&self, may_sleep: impl FnOnce() -> bool, end: Option<Instant>) {
        *unpoisoned(self.asleep.lock()) = true;
        self.dozing.store(true, Ordering::Relaxed);
        if may_sleep() {
            let mut asleep = unpoisoned(self.asleep.lock());
            while *asleep {
                let left = end.map(|end| end.saturating_duration_since(Instant::now()));
                asleep = match left {
                    None => unpoisoned(self.bell.wait(asleep)),
                    Some(Duration::ZERO) => break,
                    Some(left) => unpoisoned(self.bell.wait_timeout(asleep, left)).0,
                };
            }
        }
        self.dozing.store(false, Ordering::Relaxed);
    }

    /// A HEC has been taken, which is written down; the seat's lock is held.
    pub fn taken(&self) {
        if self.dozing.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Ends a sleep that is, or that has been announced.
    pub fn wake(&self) {
        *unpoisoned(self.asleep.lock()) = false;
        self.bell.notify_one();
    }

    /// In the child of a fork the ticker is not there that may have slept.
    pub fn after_fork(&self) {
        self.dozing.store(false, Ordering::Relaxed);
    }

    /// Runs `f` (a fork) while nobody falls asleep or is being woken.
    pub fn with_locked<R>(&self, f: impl FnOnce() -> R) -> R {
        let _asleep = unpoisoned(self.asleep.lock());
        f()
    }
}
