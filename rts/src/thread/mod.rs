//! Threads: their objects and stacks, who owns them, and the operations by which they block and resume.
pub mod create;
pub mod ownership;
pub mod park;
pub mod sched_record;
pub mod spinlock;
pub mod stack;
pub mod stack_cache;
pub mod stack_shrink;
#[cfg(test)]
mod tests;
