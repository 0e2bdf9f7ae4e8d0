//! Scheduling: which task holds which HEC, which thread it runs, when threads move, and when to collect.
pub mod balance;
mod call_predictor;
pub mod context_switch;
pub mod event_poll;
pub mod fiber;
pub mod gc;
pub mod handoff;
pub mod in_call;
pub mod interrupt;
pub mod safe_call;
pub mod schedule;
pub mod spark;
pub mod stg_run;
pub mod stop_world;
mod stop_world_protocol;
pub mod task;
mod task_parker;
pub mod task_table;
#[cfg(test)]
mod tests;
mod ticker_sleep;
pub mod time_slices;

use crate::hec::Hec;
use crate::thread::stack::StackSizes;

/// The HEC that the calling OS thread holds.
/// # Safety
/// The calling OS thread holds one, and no other reference to it is in use. A call that releases or acquires a HEC ends
/// the life of earlier references.
#[inline]
pub unsafe fn hec() -> &'static mut Hec {
    &mut *task_table::current().held()
}

/// Scheduling options from the flags and the way of linking; written once at start.
#[derive(Clone, Copy)]
pub struct Settings {
    pub stack: StackSizes,
    /// Several OS threads may run Haskell, one at a time for each HEC.
    pub threaded: bool,
}

static mut SETTINGS: Settings =
    Settings { stack: StackSizes { initial: 128, chunk: 4096, buffer: 128, max: usize::MAX }, threaded: false };

pub fn settings() -> Settings {
    // SAFETY: written before the first thread is made.
    unsafe { SETTINGS }
}

/// # Safety
/// Called once at start.
pub unsafe fn init(s: Settings) {
    SETTINGS = s;
}
