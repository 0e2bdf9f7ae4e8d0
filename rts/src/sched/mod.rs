//! Scheduling: who holds which HEC, which thread it runs, when threads move, and when to collect.
mod announce;
pub mod collect;
mod departures;
mod doze;
pub mod events;
pub mod fiber;
pub mod finalize;
mod foresight;
mod forking;
pub mod gc_events;
pub mod gc_sync;
pub mod incall;
pub mod lock;
mod passing;
pub mod roll;
pub mod run;
pub mod schedule;
pub mod seat;
mod seating;
pub mod share;
pub mod slices;
pub mod spark;
mod standby;
mod stopping;
pub mod suspend;
pub mod switch;
pub mod task;
#[cfg(test)]
mod tests;
mod turns;
pub mod world;

use crate::hec::Hec;
use crate::thread::stack::StackSizes;

/// The HEC that the calling OS thread holds.
/// # Safety
/// It holds one (`seat`), and no other reference to it is in use: a call that lets others have the
/// HEC, or takes it by itself, ends the life of earlier ones.
#[inline]
pub unsafe fn hec() -> &'static mut Hec {
    &mut *roll::me().held()
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
