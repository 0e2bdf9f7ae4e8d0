//! Events from outside: time, descriptors, signals; and `base`'s own event manager.
mod held;
pub mod iowait;
pub mod manager;
pub mod signals;
#[cfg(test)]
mod tests;
pub mod ticker;
mod timer_ticks;
