//! What starts and watches the processing elements (PEs) of `hecaton spread`.
//!
//! | file | what it does |
//! |---|---|
//! | `launch.rs` | starts the PEs of this machine |
//! | `watch.rs` | passes on outputs and signals, and ends the run |
//! | `whole_lines.rs` | lines of several processes that do not run into each other |
//! | `hosts.rs` | the list of hosts |
//! | `remote.rs` | starts an agent on each host |
//! | `agent.rs` | starts the PEs of a host for a launcher elsewhere |
//! | `assignment.rs`, `frames.rs` | what agents are told |
//! | `pipe.rs` | a pipe that is written as far as it takes |
pub mod agent;
mod assignment;
mod frames;
pub mod hosts;
pub mod launch;
mod pipe;
pub mod remote;
pub mod watch;
mod whole_lines;
