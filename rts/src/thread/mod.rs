//! Threads: their objects, stacks and frames, the queues they wait in, and the one door
//! through which every thread blocks and wakes.
pub mod create;
pub mod ownership;
pub mod park;
pub mod spinlock;
pub mod stack;
pub mod stack_cache;
pub mod stack_shrink;
#[cfg(test)]
mod tests;
