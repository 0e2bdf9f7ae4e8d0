//! The ground floor: atomics, the clock, configuration, fatal errors and small shared mechanisms.
//!
//! Every other folder may import it; it imports none of them.
pub mod active_limit;
pub mod adaptive_spin;
pub mod atomics;
pub mod clock;
pub mod config;
pub mod cpus;
pub mod fatal;
mod futex;
pub(crate) mod global_alloc;
pub(crate) mod once_ptr;
pub mod os_thread;
pub(crate) mod poison;
pub mod program_args;
