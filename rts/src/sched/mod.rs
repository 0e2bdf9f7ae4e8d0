//! Scheduling: who holds the HEC, which thread it runs, and when it collects.
pub mod collect;
pub mod finalize;
pub mod incall;
pub mod run;
pub mod schedule;
pub mod suspend;
pub mod task;
#[cfg(test)]
mod tests;

use crate::hec::Hec;
use crate::thread::stack::StackSizes;
use std::ptr;

static mut HEC: Hec = Hec::new(0);

/// Makes the first HEC known.
/// # Safety
/// Called once, before any Haskell runs.
pub unsafe fn make_first_hec() {
    crate::hec::add(hec());
    crate::hec::enabled_capabilities.store(1, std::sync::atomic::Ordering::Relaxed);
}

/// The HEC.
/// # Safety
/// The calling OS thread holds it (`task`), or no Haskell runs yet; atomics may be used by all.
#[inline(always)]
pub unsafe fn hec() -> &'static mut Hec {
    &mut *ptr::addr_of_mut!(HEC)
}

/// What the flags say about scheduling; written once at start.
#[derive(Clone, Copy)]
pub struct Settings {
    pub stack: StackSizes,
    /// Several OS threads may run Haskell, one at a time for each HEC.
    pub threaded: bool,
}

static mut SETTINGS: Settings = Settings {
    stack: StackSizes { initial: 128, chunk: 4096, buffer: 128, max: usize::MAX },
    threaded: false,
};

pub fn settings() -> Settings {
    // SAFETY: written before the first thread is made.
    unsafe { SETTINGS }
}

/// # Safety
/// Called once at start.
pub unsafe fn init(s: Settings) {
    SETTINGS = s;
}
