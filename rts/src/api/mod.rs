//! What C and compiled code call by name: start and end of the runtime, RtsAPI, flags.
mod admission;
pub(crate) mod default_hooks;
mod exit_code;
mod exit_report;
pub mod flags;
pub mod fork_process;
mod lifetime;
pub mod os_threads;
mod package_scheduler;
pub mod perform_gc;
pub mod ping;
mod remote;
pub mod rts_api;
pub mod set_capabilities;
pub mod shutdown;
pub mod spread;
pub mod startup;
pub mod threads;
