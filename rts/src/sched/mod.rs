//! Scheduling: who holds which HEC, which thread it runs, when threads move, and when to collect.
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
/// It holds one (`slot`), and no other reference to it is in use: a call that lets others have the
/// HEC, or takes it by itself, ends the life of earlier ones.
#[inline]
pub unsafe fn hec() -> &'static mut Hec {
    &mut *task_table::current().held()
}

/// What the flags say about scheduling; written once at start.
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
