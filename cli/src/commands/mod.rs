//! One file per command.
pub mod bench;
mod bench_events;
mod bench_parts;
mod bench_schedulers;
mod bench_spread;
pub mod demo;
mod explore;
pub mod ghc;
pub mod installed;
pub mod mpi_shim;
pub mod run;
pub mod spread;
pub mod study;
pub mod test;
