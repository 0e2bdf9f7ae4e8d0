//! Stack chunks of finished threads, for reuse by the next threads of the HEC (`thread/stack_cache.rs`).
use crate::abi::Stack;

/// A HEC's chunks for new threads, valid until the next collection.
#[derive(Default)]
pub struct SpareChunks {
    /// Chunks of the size of a thread's first chunk.
    pub chunks: Vec<Stack>,
    /// The empty chunk of the threads whose chunks are cached.
    pub empty: Option<Stack>,
}

impl SpareChunks {
    pub const fn new() -> SpareChunks {
        SpareChunks { chunks: Vec::new(), empty: None }
    }

    /// Takes a chunk with room for exactly `words`, to be initialised again.
    /// # Safety
    /// No collection has happened since `thread/stack_cache.rs` added the chunk.
    #[inline]
    pub unsafe fn take(&mut self, words: usize) -> Option<Stack> {
        let fits = self.chunks.last()?.obj().size as usize == words;
        self.chunks.pop_if(|_| fits)
    }

    /// Empties the cache. Called at each collection.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.empty = None;
    }
}
