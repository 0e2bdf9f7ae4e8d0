//! External events: time, descriptors and signals, and the connection to `base`'s event manager.
mod held_signals;
pub mod io_manager;
pub mod io_poll;
pub mod signals;
#[cfg(test)]
mod tests;
pub mod ticker;
mod timer_ticks;
