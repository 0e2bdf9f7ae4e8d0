//! Threads: their objects, stacks and frames, the queues they wait in, and the one door
//! through which every thread blocks and wakes.
pub mod create;
pub mod door;
pub mod lock;
pub mod ownership;
pub mod patience;
pub mod place;
pub mod queue;
pub mod shrunk;
pub mod spare;
pub mod stack;
#[cfg(test)]
mod tests;
