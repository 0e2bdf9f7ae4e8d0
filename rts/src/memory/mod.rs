//! Memory: the reserved address range, its blocks, and who owns each of them.
//!
//! An address says who owns it (see `space.rs`): the age of any heap address is one byte in a
//! side table, found by a shift, and the descriptor of its block lies in another.
pub mod age;
pub mod ahead;
pub mod available;
pub mod barrier;
pub mod blocks;
pub mod generation;
pub mod nursery;
pub mod object;
pub mod pieces;
mod pinned;
pub mod pretenured;
pub mod remember;
pub mod space;
#[cfg(test)]
mod tests;

pub use age::Age;
pub use blocks::{alloc_run, free_run, Run};
pub use generation::{blocks_of, heap, used_by, Heap, Used};
pub use space::{age_of, in_heap, BLOCK_BYTES, BLOCK_LOG, BLOCK_WORDS};

/// Objects of more words than this get a run of blocks of their own and are never copied.
pub const LARGE_OBJECT_WORDS: usize = BLOCK_WORDS / 2;
