//! The heap's memory: the reserved address range, its blocks, and what each block is used for.
//!
//! *Invariants*
//!
//! - An address determines the use of its block (`address_space.rs`). The age of a heap address is one byte in a side
//!   table, found by a shift. The block's descriptor lies in a second table.
pub mod address_space;
pub mod available;
pub mod block_age;
pub mod block_alloc;
pub mod exits;
pub mod fixed_blocks;
pub mod generation;
pub mod nursery;
pub mod nursery_chunks;
pub mod nursery_distribution;
pub mod object_size;
mod pinned;
pub mod prefault;
pub mod pretenure;
pub mod remembered_set;
pub mod slices;
#[cfg(test)]
mod tests;

pub use crate::memory::address_space::{age_of, in_heap, BLOCK_BYTES, BLOCK_LOG, BLOCK_WORDS};
pub use crate::memory::block_age::Age;
pub use crate::memory::block_alloc::{alloc_run, free_run, Run};
pub use generation::{blocks_of, heap, used_by, Heap, Used};

/// Words of the largest small object. A larger object gets a run of blocks of its own and is never copied. Half a
/// block, so that at most half of a block stays empty behind its last object.
pub const LARGE_OBJECT_WORDS: usize = BLOCK_WORDS / 2;
