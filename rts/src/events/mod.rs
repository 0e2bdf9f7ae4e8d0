//! External events: time, descriptors and signals, and the way in for `base`'s callers (`docs/events.md`).
mod clock;
mod descriptors;
mod early_poll;
pub mod event_loop;
pub mod file_ring;
mod held_signals;
mod home;
pub mod io_manager;
mod loop_state;
pub mod poller;
pub mod seam;
pub mod selection;
pub mod shared_watcher;
pub mod signals;
#[cfg(test)]
mod tests;
pub mod ticker;
mod timeouts;
mod timer_ticks;
mod timer_wheel;
#[cfg(test)]
mod timer_wheel_tests;
mod unverified;
mod wait_nodes;
pub mod waits;
mod wheel_time;
