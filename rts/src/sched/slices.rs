//! What ticks ask of the threads that run.
//!
//! A tick writes a request into `context_switch` and has the running thread stop at its next heap check; its HEC's holder takes
//! the request as it comes back to the scheduler. Both words are atomics, so a signal handler may do this as well as an OS thread.
use super::seat;
use crate::crowd::CROWD;
use crate::hec::{self, Hec, TIME_IS_UP};
use std::sync::atomic::Ordering;

/// Asks all running threads to give way. A HEC whose thread has been asked before and has not yet
/// is stuck. In the non-threaded way the thread that runs may be in a foreign call, and nobody hold the HEC.
pub fn end_all(threaded: bool) {
    let mut stuck = 0;
    for no in (0..hec::count()).filter(|&no| !threaded || seat::is_held(no)) {
        // SAFETY: two atomics of a HEC that exists.
        stuck += end(unsafe { &*hec::address(no) }) as usize;
    }
    CROWD.set_stuck(stuck);
}

/// Asks the thread that runs on `h` to give way. True if it has been asked before and has not yet.
fn end(h: &Hec) -> bool {
    let asked = h.context_switch.swap(TIME_IS_UP, Ordering::Relaxed);
    h.interrupt();
    asked == TIME_IS_UP
}
