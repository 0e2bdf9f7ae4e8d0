//! Observation: counters, messages and the ways a program ends; usable from every floor.
pub mod fatal;
