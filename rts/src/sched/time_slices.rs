//! What ticks ask of the threads that run.
//!
//! A tick writes a request into `context_switch` and has the running thread stop at its next heap check; its HEC's holder takes
//! the request as it comes back to the scheduler. Both words are atomics, so a signal handler may do this as well as an OS thread.
//!
//! In the non-threaded way the holder alone looks for delays that are over and descriptors that are ready, so it is asked to at every tick
//! while anybody waits for such: who is woken waits for a tick at most, not for a time slice.
use crate::base::active_limit::ACTIVE_HECS;
use crate::hec;
use crate::hec::{Hec, POLL_EVENTS, SLICE_ENDED};
use crate::sched::{event_poll, handoff};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The first HEC: in the non-threaded way the only one.
fn the_hec() -> &'static Hec {
    // SAFETY: it has been made before the first tick, and only atomics of it are used.
    unsafe { &*hec::address(0) }
}

/// Asks all running threads to give way. A HEC whose thread has been asked before and has not yet
/// is stuck. In the non-threaded way the thread that runs may be in a foreign call, and nobody hold the HEC.
pub fn end_all(threaded: bool) {
    let mut stuck = 0;
    for no in (0..hec::count()).filter(|&no| !threaded || handoff::is_held(no)) {
        // SAFETY: two atomics of a HEC that exists.
        stuck += end(unsafe { &*hec::address(no) }) as usize;
    }
    ACTIVE_HECS.set_blocked_in_ffi(stuck);
}

/// Asks the thread that runs on `h` to give way. True if it has been asked before and has not yet. Async-signal-safe.
pub(super) fn end(h: &Hec) -> bool {
    let asked = h.context_switch.swap(SLICE_ENDED, Ordering::Relaxed);
    h.interrupt();
    asked == SLICE_ENDED
}

/// In the non-threaded way: asks the running thread to give way to those, if there are any, whose events have come. Async-signal-safe.
pub fn look_for_events() {
    if event_poll::expected() {
        let h = the_hec();
        // Another request has events looked for too.
        let _ = h.context_switch.compare_exchange(0, POLL_EVENTS, Ordering::Relaxed, Ordering::Relaxed);
        h.interrupt();
    }
}

/// Time slices of a program whose ticks do not count foreign calls that wait: how long they are, and when the last one ended, in
/// nanoseconds.
static SLICE: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// From now on ticks do not count foreign calls, and slices are so long.
pub fn count_calls(slice: Duration) {
    ENDED.store(now(), Ordering::Relaxed);
    SLICE.store(slice.as_nanos() as u64, Ordering::Relaxed);
}

/// In the non-threaded way: the time slice is over. Async-signal-safe.
pub fn end_one() {
    ENDED.store(now(), Ordering::Relaxed);
    end(the_hec());
}

/// The thread comes back from a foreign call, and is about to run: is its time over?
#[inline]
pub(super) fn call_is_over() {
    let slice = SLICE.load(Ordering::Relaxed);
    if slice != 0 && now().wrapping_sub(ENDED.load(Ordering::Relaxed)) >= slice {
        end_one();
    }
}

/// Nanoseconds since some point in the past. (Async-signal-safe, as `Instant` does not promise to be.)
fn now() -> u64 {
    // SAFETY: the clock is written to `time`.
    unsafe {
        let mut time = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}
