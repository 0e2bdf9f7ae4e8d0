//! Cache of the first stack chunks of finished threads, for new threads.
//!
//! Most of what a short-lived thread allocates is its first chunk. When it finishes, the next thread that needs a chunk
//! of that size may use it again. So a series of such threads uses one chunk, which stays in the processor's caches,
//! and the nursery fills only with thread objects.
//!
//! *Invariants*
//! - Only chunks in a nursery are cached. A chunk of an older generation is left alone.
//! - A collection empties the cache; chunks that are unused then are garbage.
//! - A thread object that is still reachable must have a stack. The finished threads whose chunks are cached share an
//!   empty chunk.
//!
//! *Checked by*: the unit tests in `rts/src/thread/tests.rs`.
use crate::abi::layout::*;
use crate::abi::Tso;
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::memory::{age_of, Age};
use crate::thread::stack::make_chunk;

/// Caches the chunk of a thread that has finished, if it has the size `words`.
/// # Safety
/// This HEC owns the thread, no caller asks for its result, and no exception is raised in it.
pub unsafe fn add(hec: &mut Hec, t: Tso, words: usize) {
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
