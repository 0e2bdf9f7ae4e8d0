//! The requests that ticks make of running threads.
//!
//! *Protocol*: a tick writes a request into `context_switch`, and makes the running thread stop at its next heap check.
//! The HEC's holder takes the request when the thread has returned to the scheduler. Both words are atomics, so a
//! signal handler may do this as well as an OS thread.
//!
//! Only the holder of a HEC polls for expired delays and ready descriptors. While any thread waits for those, every
//! tick requests a poll. So a thread that is woken waits for a tick at most, not for a time slice. If a user scheduler
//! uses the HEC, a deadline requests a poll at once (`events/early_poll.rs`).
//!
//! Under a random run order ticks make no requests: budgets end time slices (`hec/byte_budget.rs`), and the scheduler
//! polls between threads.
use crate::base::active_limit::ACTIVE_HECS;
use crate::hec;
use crate::hec::run_order;
use crate::hec::{Hec, SLICE_ENDED};
use crate::sched::{event_poll, handoff};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The first HEC: in the non-threaded way the only one.
fn first_hec() -> &'static Hec {
    // SAFETY: the HEC is made before the first tick, and only its atomics are used.
    unsafe { &*hec::address(0) }
}

/// Requests all running threads to yield. A HEC whose thread has not answered the previous request counts as blocked in
/// a foreign call, and another HEC serves its events. In the non-threaded way the running thread may be in a foreign
/// call, with no task holding the HEC.
pub fn end_all(threaded: bool) {
    if run_order::is_random() {
        return;
    }
    let mut blocked = 0;
    for no in (0..hec::count()).filter(|&no| !threaded || handoff::is_held(no)) {
        // SAFETY: accesses two atomics of a HEC that exists.
        let unanswered = end(unsafe { &*hec::address(no) });
        blocked += (unanswered == SLICE_ENDED) as usize;
        if threaded && unanswered != 0 {
            handoff::rescue(no);
        }
    }
    ACTIVE_HECS.set_blocked_in_ffi(blocked);
}

/// Requests the running thread of `h` to yield. Returns the previous request if it has not been answered, or 0.
/// Async-signal-safe.
pub(super) fn end(h: &Hec) -> u32 {
    let unanswered = h.context_switch.swap(SLICE_ENDED, Ordering::Relaxed);
    h.interrupt();
    unanswered
}

/// Requests running threads to yield to threads whose events have come, if there are any. If a HEC has not answered the
/// previous request, another one serves its events. Async-signal-safe in the non-threaded way.
pub fn request_polls(threaded: bool) {
    if run_order::is_random() {
        return;
    }
    for no in 0..hec::count() {
        if event_poll::is_expected(no) && (!threaded || handoff::is_held(no)) {
            // SAFETY: accesses two atomics of a HEC that exists.
            let answered = unsafe { &*hec::address(no) }.request_poll();
            if threaded && !answered {
                handoff::rescue(no);
            }
        }
    }
}

/// Between two ticks a deadline has come: requests polls of HECs that user schedulers use.
pub fn request_early_polls(threaded: bool) {
    if run_order::is_random() {
        return;
    }
    for no in 0..hec::count() {
        // SAFETY: accesses atomics of a HEC that exists.
        let hec = unsafe { &*hec::address(no) };
        if hec.user_slot.is_used() && event_poll::is_expected(no) && (!threaded || handoff::is_held(no)) {
            hec.request_poll();
        }
    }
}

/// For a program whose ticks do not count foreign calls that wait: the length of a time slice in nanoseconds, and below
/// when the last one ended.
static SLICE: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// From now on ticks do not count foreign calls, and slices have this length.
pub fn count_calls(slice: Duration) {
    ENDED.store(now(), Ordering::Relaxed);
    SLICE.store(slice.as_nanos() as u64, Ordering::Relaxed);
}

/// In the non-threaded way: ends the time slice. Async-signal-safe.
pub fn end_one() {
    if run_order::is_random() {
        return;
    }
    ENDED.store(now(), Ordering::Relaxed);
    end(first_hec());
}

/// The thread returns from a foreign call and is about to run: ends its time slice if that is over.
#[inline]
pub(super) fn on_call_return() {
    let slice = SLICE.load(Ordering::Relaxed);
    if slice != 0 && now().wrapping_sub(ENDED.load(Ordering::Relaxed)) >= slice {
        end_one();
    }
}

/// Nanoseconds since a point in the past. (Async-signal-safe, which `Instant` does not promise.)
fn now() -> u64 {
    // SAFETY: the clock is written to `time`.
    unsafe {
        let mut time = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}
