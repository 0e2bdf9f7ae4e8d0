//! Observation: settings, counters, messages and the ways a program ends; usable from every floor.
mod allocator;
pub mod clock;
pub mod eventlog;
pub mod fatal;
pub mod phases;
pub mod program;
pub mod settings;
pub mod stats;
mod stats_pairs;
mod stats_text;

pub use settings::{checks, hec_flags};
