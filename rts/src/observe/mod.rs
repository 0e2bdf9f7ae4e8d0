//! Observation: statistics, the event log, profiles of black holes and of collections.
pub mod blackhole_profile;
pub mod eventlog;
pub mod gc_phases;
pub mod stats;
pub mod symbolize;

pub use crate::base::config::{checks, settings_now};
