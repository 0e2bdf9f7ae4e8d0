//! Basic mechanisms that all folders share: atomics, the clock, configuration, fatal errors.
//!
//! *Invariants*
//!
//! - Every other folder may import this one. It imports none of them but `abi`, whose layouts it reads, and two
//!   exceptions: `active_limit.rs` counts idle HECs with `hec::idle::IdleCount`, and `fatal.rs` flushes the event log.
pub mod active_limit;
pub mod adaptive_spin;
pub mod atomics;
pub mod clock;
pub mod config;
pub mod cpus;
pub mod fatal;
mod futex;
pub(crate) mod global_alloc;
pub mod idle_count;
pub(crate) mod once_ptr;
pub mod os_thread;
pub(crate) mod poison;
pub mod program_args;
pub mod random;
