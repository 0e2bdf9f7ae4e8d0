//! What threads of the non-threaded way wait for without an event manager: signals, delays and descriptors. A floor above sees
//! to them; the scheduler asks it to between threads.
use crate::hec::Hec;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts handlers of signals that have arrived; wakes threads whose delay or descriptor is due. `idle`: nothing is runnable, so it waits for
/// such an event. False: none can come.
pub type SeeTo = unsafe fn(hec: &mut Hec, idle: bool) -> bool;

static mut SEE_TO: Option<SeeTo> = None;

/// There is something to see to, or may come to be.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// # Safety
/// Called once at start.
pub unsafe fn init(see_to: SeeTo) {
    SEE_TO = Some(see_to);
}

/// Has events seen to between threads from now on, or no longer. Signal handlers may call this.
pub fn expect(yes: bool) {
    EXPECTED.store(yes, Ordering::SeqCst);
}

pub(super) fn expected() -> bool {
    EXPECTED.load(Ordering::Relaxed)
}

/// Sees to events: as [`SeeTo`] says.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub(super) unsafe fn see_to(hec: &mut Hec, idle: bool) -> bool {
    SEE_TO.is_some_and(|see_to| see_to(hec, idle))
}
