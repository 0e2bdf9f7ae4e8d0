//! What C and compiled code call by name: start and end of the runtime, RtsAPI, flags.
pub(crate) mod default_hooks;
mod exit_report;
pub mod flags;
pub mod fork_process;
mod lifetime;
pub mod misc;
pub mod os_threads;
pub mod rts_api;
pub mod set_capabilities;
pub mod shutdown;
pub mod startup;
pub mod threads;
