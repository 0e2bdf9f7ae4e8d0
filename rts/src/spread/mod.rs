//! One program over many processing elements (PEs): processes, each with its own heap, after `docs/distribution.md`.
//!
//! | file | what it does |
//! |---|---|
//! | `membership.rs` | which PE of how many this process is |
//! | `mpi_job.rs` | the same, if an MPI launcher has started it |
//! | `transport/` | messages between two PEs |
//! | `start.rs` | the handshake before any Haskell runs |
//! | `build_id.rs` | what tells one executable from another |
//! | `network_task.rs` | the OS thread that receives messages |
//! | `inbox.rs` | messages that wait for a HEC |
//! | `retained.rs` | blocks of others that are not evicted |
//! | `run.rs` | the protocols of this PE, with their lock |
//! | `heap.rs` | the heap as the protocols see it |
//! | `absent_objects.rs` | waiting for absent objects |
//! | `readers.rs` | waking those that wait, and serving own objects |
//! | `lenient_loans.rs` | loans of thunks that may never be needed |
//! | `loans.rs` | thunks that other PEs evaluate |
//! | `placed.rs` | placed calls that wait |
//! | `results.rs` | values of borrowed thunks |
//! | `parts.rs` | parts of results, and how to find them again |
//! | `calls.rs` | actions that other PEs perform |
//! | `kept.rs` | threads and thunks that protocols name |
//! | `exceptions.rs` | why an object is not there |
//! | `steals.rs` | when an idle PE asks others for work |
//! | `steal_timer.rs` | when it may ask again |
//! | `counts.rs`, `traffic.rs` | what each PE has done, for `-s` |
//! | `event_log.rs` | the event log of all PEs |
//! | `at_rest.rs` | what is done for another PE with the world stopped |
//! | `ping.rs` | answers to pings |
//! | `export.rs`, `memo.rs` | fixed addresses of local objects |
//! | `cell.rs` | what is at a fixed address |
//! | `global_gc/` | collections over all PEs |
//! | `collect.rs` | which fixed objects a full collection keeps |
//! | `travel.rs`, `constructors.rs` | which objects may travel, and what must go with them |
//! | `stays.rs` | what a user is told of objects that may not |
//! | `thunk_kind.rs`, `fields.rs` | what code says about its thunks and objects |
//! | `thunk_census.rs` | all thunks of the program, for a test |
//! | `pack.rs`, `graph.rs` | from local objects to packets |
//! | `install.rs`, `packet.rs` | from packets to objects |
//! | `rehearsal.rs` | all of that within one process, for tests of compiled programs |
//! | `packing_rate.rs` | how fast packing and installing are |
//! | `remote_objects.rs` | what stands elsewhere for MVars, TVars, threads and weak pointers |
//! | `statics.rs` | static objects that fixed ones refer to |
//! | `why_fetch.rs` | which objects are fetched most |
mod absent_objects;
mod at_rest;
pub mod build_id;
pub mod calls;
pub mod cell;
pub mod collect;
mod constructors;
pub mod counts;
pub mod event_log;
pub mod exceptions;
pub mod export;
mod fields;
pub mod global_gc;
pub mod graph;
pub mod heap;
pub mod inbox;
pub mod install;
pub mod kept;
mod lenient_loans;
mod loans;
pub mod membership;
mod memo;
mod mpi_job;
pub mod network_task;
pub mod pack;
mod packet;
pub mod packing_rate;
pub mod parts;
pub mod ping;
mod placed;
mod program;
pub mod readers;
pub mod rehearsal;
pub mod remote_objects;
pub mod results;
mod retained;
pub mod run;
pub mod start;
mod statics;
pub mod stays;
pub mod steal_timer;
pub mod steals;
#[cfg(test)]
mod tests;
mod thunk_census;
mod thunk_kind;
mod traffic;
pub mod transport;
pub mod travel;
pub mod why_fetch;
