//! Polling for events in the non-threaded way without an event manager: signals, delays and descriptors. A folder above
//! handles them; the scheduler calls it between threads.
use crate::hec::Hec;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts handlers of signals that have arrived, and wakes threads whose delay has expired or whose descriptor is
/// ready. If `idle`, no thread is runnable, and it waits for such an event. Returns false if none can come.
pub type SeeTo = unsafe fn(hec: &mut Hec, idle: bool) -> bool;

static mut SEE_TO: Option<SeeTo> = None;

/// Events are pending, or may arrive.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// # Safety
/// Called once at start.
pub unsafe fn init(see_to: SeeTo) {
    SEE_TO = Some(see_to);
}

/// Enables or disables polling between threads. Signal handlers may call this.
pub fn expect(yes: bool) {
    EXPECTED.store(yes, Ordering::SeqCst);
}

pub(super) fn expected() -> bool {
    EXPECTED.load(Ordering::Relaxed)
}

/// Handles events, as [`SeeTo`] says.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub(super) unsafe fn see_to(hec: &mut Hec, idle: bool) -> bool {
    SEE_TO.is_some_and(|see_to| see_to(hec, idle))
}
