//! Hecaton: a runtime system for GHC-compiled Haskell.
// Constants of the contract keep the names that the headers give them.
#![allow(non_upper_case_globals)]
#[macro_use]
pub mod contract;
pub mod crowd;
pub mod atomics;
pub mod boundary;
pub mod collector;
pub mod eagerness;
pub mod eval;
pub mod events;
pub mod hec;
mod made_once;
pub mod memory;
pub mod observe;
pub mod offers;
pub mod os_thread;
pub mod lead;
pub mod pace;
pub mod post;
pub mod prims;
pub mod sched;
mod spark_ring;
pub mod sync;
#[cfg(test)]
mod test_world;
pub mod thread;
mod unpoisoned;
