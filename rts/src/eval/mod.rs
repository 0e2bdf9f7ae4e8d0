//! Evaluation: updating and claiming thunks, exceptions, and freezing work that is abandoned.
pub mod blackhole;
pub mod frames;
pub mod freeze;
pub mod hooks;
pub mod raise;
pub mod update;
#[cfg(test)]
mod tests;
