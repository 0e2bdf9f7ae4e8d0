//! The scheduler's settings, as the flags choose them.
use crate::thread::stack::StackSizes;

/// Scheduling options from the flags and the way of linking; written once at start.
#[derive(Clone, Copy)]
pub struct Settings {
    pub stack: StackSizes,
    /// Several OS threads may run Haskell, one at a time for each HEC.
    pub threaded: bool,
    /// There is a ticker.
    pub ticks: bool,
}

static mut SETTINGS: Settings = Settings {
    stack: StackSizes { initial: 128, chunk: 4096, buffer: 128, max: usize::MAX },
    threaded: false,
    ticks: true,
};

pub fn settings() -> Settings {
    // SAFETY: written before the first thread is made.
    unsafe { SETTINGS }
}

/// # Safety
/// Called once at start.
pub(super) unsafe fn set(s: Settings) {
    SETTINGS = s;
}
