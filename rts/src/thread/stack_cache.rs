//! Chunks of threads that have ended, for new ones.
//!
//! Most of what a short thread allocates is its first chunk. When it ends, the next thread that
//! needs a chunk of that size may have it, if it lies in a nursery: so a series of such threads
//! uses one chunk, which stays in the caches, and fills the nursery with little else than threads.
//! The chunk of an older generation is left alone, and a collection ends the offer: what is not in
//! use then is garbage like everything else.
//!
//! A thread object that is still known must have a stack. The ended ones share an empty chunk.
use crate::abi::layout::*;
use crate::abi::{Stack, Tso};
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::memory::{age_of, Age};
use crate::thread::stack::make_chunk;

/// A HEC's chunks for new threads, good until the next collection.
#[derive(Default)]
pub struct SpareChunks {
    /// All of the size of a thread's first chunk.
    chunks: Vec<Stack>,
    /// What threads have whose chunks are on offer.
    empty: Option<Stack>,
}

impl SpareChunks {
    pub const fn new() -> SpareChunks {
        SpareChunks { chunks: Vec::new(), empty: None }
    }

    /// A chunk with room for just so many words, to be made anew.
    /// # Safety
    /// What [`offer`] has taken is of this cycle.
    #[inline]
    pub unsafe fn take(&mut self, words: usize) -> Option<Stack> {
        let right = self.chunks.last()?.obj().size as usize == words;
        self.chunks.pop_if(|_| right)
    }

    /// Forgets all. Called at each collection.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.empty = None;
    }
}

/// Offers the chunk of a thread that has ended, if it is of the size `words`.
/// # Safety
/// The thread is ours, nobody will ask for its result, and no exception is raised in it.
pub unsafe fn offer(hec: &mut Hec, t: Tso, words: usize) {
    let stack = t.obj().stackobj;
    if age_of(stack.0) != Age::NURSERY || stack.obj().size as usize != words {
        return;
    }
    let empty = match hec.spare_chunks.empty {
        Some(empty) => empty,
        None => make_chunk(hec.allocate(SIZEOF_StgStack / 8), 0),
    };
    hec.spare_chunks.empty = Some(empty);
    hec.spare_chunks.chunks.push(stack);
    dirty_tso(&mut hec.remembered, t);
    t.obj().stackobj = empty;
    t.obj().tot_stack_size = 0;
}
