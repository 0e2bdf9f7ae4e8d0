//! Evaluation: updating and claiming thunks, waiting for black holes, exceptions, and freezing abandoned work.
pub mod atomic_modify;
#[cfg(test)]
mod atomic_modify_tests;
pub mod blackhole;
mod claim_state;
mod find_update_frame;
pub mod frames;
pub mod lazy_blackholing;
mod modify_frame;
mod mut_var;
pub mod raise;
pub mod raise_async;
#[cfg(test)]
mod raise_async_tests;
mod stack_squeeze;
#[cfg(test)]
mod tests;
pub mod thunk;
pub mod thunk_copy;
mod thunk_steal;
mod thunk_words;
pub mod unwind_hooks;
pub mod update;
pub mod wait_for_thunk;
