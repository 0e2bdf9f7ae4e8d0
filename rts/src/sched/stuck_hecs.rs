//! HECs that cannot serve their own events: a thread there is in an unsafe foreign call, or in a loop that does not
//! allocate, and does not return to the scheduler.
//!
//! *Protocol*
//! 1. The ticker finds that a thread has not answered a request for a whole tick. If events have come for its HEC, it
//!    [notes](note) the HEC, and gets a task for another HEC (`handoff::rescue`).
//! 2. Any holder of a HEC that polls for events takes the note and serves the events of the HEC noted. No HEC owns the
//!    threads that wait ([`crate::thread::park`]), so those it wakes run on its own HEC, unless they are pinned.
//!
//! The stuck HEC may return at any time and serve the same events: the lock of its event loop orders the two.
use crate::hec;
use crate::hec::MAX_HECS;
use std::sync::atomic::{AtomicBool, Ordering};

static NOTED: [AtomicBool; MAX_HECS] = [const { AtomicBool::new(false) }; MAX_HECS];
/// A HEC may be noted.
static ANY: AtomicBool = AtomicBool::new(false);

/// HEC `no` has events that it cannot serve.
pub(super) fn note(no: usize) {
    NOTED[no].store(true, Ordering::Relaxed);
    ANY.store(true, Ordering::Release);
}

/// Is a HEC noted?
pub(super) fn any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// Takes the numbers of all HECs that are noted.
pub(super) fn take() -> impl Iterator<Item = usize> {
    let any = any() && ANY.swap(false, Ordering::Acquire);
    (0..if any { hec::count() } else { 0 }).filter(|&no| NOTED[no].swap(false, Ordering::Relaxed))
}

/// In the child of a fork, where no thread runs.
pub(super) fn after_fork() {
    take().for_each(drop);
}
