//! Simulation of many processing elements in one process.
//!
//! The protocols of `rts/src/cluster/` are compiled here as they are shipped. They run over a simulated network with
//! delay, reordering, duplication, loss, partitions and kills, on a model of the heap. A seed decides everything, so
//! each failure can be repeated. [`checker`] has what must hold; [`simulations`] and [`marking`] are the tests.
//!
//! `HECATON_SEEDS=5000` in the environment tries more seeds than the tests do by default, and `HECATON_SEED=17` one.

#[allow(dead_code, reason = "the runtime's unit tests call more of it")]
#[path = "../../src/base/random.rs"]
mod random;

/// The path by which the shipped files find it, as in the runtime.
mod base {
    pub(crate) use crate::random;
}
#[path = "../../src/cluster/mod.rs"]
mod cluster;

mod calls;
mod checker;
mod global;
mod graph;
mod heap;
mod marking;
mod network;
mod plan;
mod program;
mod simulations;
mod world;
