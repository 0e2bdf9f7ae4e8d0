//! Memory: the reserved address range, its blocks, and who owns each of them.
//!
//! An address says who owns it (see `address_space.rs`): the age of any heap address is one byte in a
//! side table, found by a shift, and the descriptor of its block lies in another.
pub mod address_space;
pub mod available;
pub mod block_age;
pub mod block_alloc;
pub mod generation;
pub mod nursery;
pub mod nursery_chunks;
pub mod object_size;
mod pinned;
pub mod prefault;
pub mod pretenure;
pub mod remembered_set;
#[cfg(test)]
mod tests;

pub use crate::memory::address_space::{age_of, in_heap, BLOCK_BYTES, BLOCK_LOG, BLOCK_WORDS};
pub use crate::memory::block_age::Age;
pub use crate::memory::block_alloc::{alloc_run, free_run, Run};
pub use generation::{blocks_of, heap, used_by, Heap, Used};

/// Objects of more words than this get a run of blocks of their own and are never copied.
pub const LARGE_OBJECT_WORDS: usize = BLOCK_WORDS / 2;
