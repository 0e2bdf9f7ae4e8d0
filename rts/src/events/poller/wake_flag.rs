//! Makes one wake-up of several that come before the waiter has seen the first.
//!
//! *Protocol*
//!
//! 1. A waker that finds the flag down raises it and signals the descriptor on which the waiter sleeps. A waker that
//!    finds it up does nothing: a signal is there or about to come.
//! 2. The waiter that has seen the signal lowers the flag, and looks afterwards for what it may have been woken for.
//! 3. So what a waker has published before is seen: if it raised the flag, by the waiter that its signal wakes; if it
//!    found it up, by the waiter that lowers it later.
//!
//! *Checked by*: the loom models in `rts/tests/models/wake_ups.rs`, which compile this file.
//!
//! If the descriptor keeps signals until they are read, the waiter reads them before it lowers the flag. Otherwise it
//! could take a signal whose flag it leaves up.
use crate::base::atomics::{AtomicBool, Ordering};

pub struct WakeFlag(AtomicBool);

impl WakeFlag {
    pub fn new() -> WakeFlag {
        WakeFlag(AtomicBool::new(false))
    }
    /// Raises the flag. Must the waker signal?
    pub fn raise(&self) -> bool {
        // Release: what the waker has published comes before the flag. It is a read-modify-write in any case, so that
        // the waiter's exchange reads from it or from a later one.
        !self.0.swap(true, Ordering::Release)
    }
    /// Lowers the flag. Was it up?
    pub fn lower(&self) -> bool {
        // Acquire: what is read from now on includes what each waker has published that found or made the flag up.
        self.0.swap(false, Ordering::Acquire)
    }
}
