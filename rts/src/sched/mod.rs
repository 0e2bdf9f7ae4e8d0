//! Scheduling: which task holds which HEC, which thread it runs, when threads move, and when to collect.
pub mod balance;
pub mod bound_threads;
mod call_predictor;
pub mod context_switch;
mod eject;
pub mod event_poll;
pub mod fiber;
pub mod gc;
pub mod handoff;
pub mod in_call;
pub mod interrupt;
pub mod lenient;
pub mod packets;
pub mod safe_call;
pub mod schedule;
mod settings;
pub mod spark;
mod starvation;
pub mod stg_run;
pub mod stop_world;
mod stop_world_protocol;
mod stuck_hecs;
pub mod task;
mod task_parker;
pub mod task_table;
#[cfg(test)]
mod tests;
mod ticker_sleep;
pub mod time_slices;
mod watch;

pub use settings::{settings, Settings};
pub use task_table::hec;

/// # Safety
/// Called once at start.
pub unsafe fn init(s: Settings) {
    settings::set(s);
    task_table::run_workers_by(schedule::worker_loop);
}
