//! Hecaton: a runtime system for GHC-compiled Haskell.
//!
//! # Map
//!
//! From the top: a folder uses those below it. What it needs from one above is given to it at start, as a function.
//!
//! | folder | what it does |
//! |---|---|
//! | [`api`] | what C calls by name: `hs_init` to `hs_exit`, `RtsAPI.h`, `forkProcess`, the `+RTS` flags |
//! | [`spread`] | a program that runs in several processes: start, transport, network task |
//! | [`events`] | the ticker, signals, polling without an event manager, the wires to `base`'s I/O manager |
//! | [`sched`] | the scheduler's loop, hand-off of HECs, sparks, load balancing, stopping the world |
//! | [`sync`] | MVars, `throwTo`, STM, detection of deadlock |
//! | [`prims`] | primitive operations on data, one concept a file; compact regions |
//! | [`eval`] | thunks, updates, black holes, synchronous and asynchronous exceptions |
//! | [`collector`] | the copying collector: tracing, parallel collection, policy, the heap checker |
//! | [`thread`] | thread objects, stacks, and `park.rs`: the one way to block and to wake a thread |
//! | [`hec`] | the HEC, its run queue, spark pool and mailbox, which HECs are idle |
//! | [`observe`] | statistics, the event log, profiles of black holes and collections |
//! | [`memory`] | the reserved address range, blocks, nurseries, generations, remembered sets |
//! | [`cluster`] | the protocols between the processes of a program |
//! | [`base`] | atomics, the clock, configuration, fatal errors |
//! | [`abi`] | what compiled code expects: layouts, info tables, registers, flags |
//!
//! `ARCHITECTURE.md` explains how they work together.
//!
//! # Vocabulary
//!
//! - **HEC** (Haskell Execution Context): what a Haskell thread needs while it runs. GHC's Capability, Go's P.
//! - **Task**: an OS thread that may hold a HEC. GHC's Task, Go's M.
//! - **TSO**: the object of a Haskell thread. Go's G.
//! - **Block**: 16 KB of the heap. **Run**: adjacent blocks that belong together.
//! - **Age**: what a block is: nursery, survivors of one collection, generation *n*.
//! - **Nursery chunk**: a part of a nursery that a HEC allocates in before it takes the next.
// Constants of the ABI keep the names that the headers give them.
#![allow(non_upper_case_globals)]
#[macro_use]
pub mod abi;
pub mod api;
pub mod base;
pub mod cluster;
pub mod collector;
pub mod eval;
pub mod events;
pub mod hec;
pub mod memory;
pub mod observe;
pub mod prims;
pub mod sched;
pub mod spread;
pub mod sync;
#[cfg(test)]
pub mod testing;
pub mod thread;
