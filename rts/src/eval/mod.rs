//! Evaluation: updating and claiming thunks, exceptions, and freezing work that is abandoned.
pub mod blackhole;
pub mod frames;
pub mod freeze;
mod heap;
pub mod hooks;
pub mod modify;
#[cfg(test)]
mod freeze_tests;
#[cfg(test)]
mod modify_tests;
mod next_update;
pub mod pause;
pub mod raise;
mod squeeze;
mod steal;
#[cfg(test)]
mod tests;
pub mod thunk;
pub mod update;
mod variable;
