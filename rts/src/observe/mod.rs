//! Observation: settings, counters, messages and the ways a program ends; usable from every floor.
pub mod blackhole_profile;
pub mod eventlog;
pub mod gc_phases;
pub mod stats;
mod symbolize;

pub use crate::base::config::{checks, settings_now};
