//! Polling for events in the non-threaded way without an event manager: signals, delays and descriptors. A folder above
//! handles them; the scheduler calls it between threads.
use crate::hec::Hec;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts handlers of signals that have arrived, and wakes threads whose delay has expired or whose descriptor is
/// ready. If `idle`, no thread is runnable, and it waits for such an event. Returns false if none can come.
pub type Poll = unsafe fn(hec: &mut Hec, idle: bool) -> bool;

static mut POLL: Option<Poll> = None;

/// Events are pending, or may arrive.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// # Safety
/// Called once at start.
pub unsafe fn init(poll: Poll) {
    POLL = Some(poll);
}

/// Enables or disables polling between threads. Signal handlers may call this.
pub fn set_expected(is_expected: bool) {
    EXPECTED.store(is_expected, Ordering::SeqCst);
}

pub(super) fn is_expected() -> bool {
    EXPECTED.load(Ordering::Relaxed)
}

/// Handles events, as [`Poll`] says.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub(super) unsafe fn poll(hec: &mut Hec, idle: bool) -> bool {
    POLL.is_some_and(|poll| poll(hec, idle))
}
