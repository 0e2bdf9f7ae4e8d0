//! Nursery chunks: the parts of nurseries, and their distribution among HECs.
//!
//! The HEC that fills its nursery first stops all others for a collection, although they may have room left. So
//! nurseries are divided into chunks that HECs can take from each other.
//!
//! *Protocol*
//!
//! 1. A HEC allocates in one chunk. The rest of its share is in its list.
//! 2. When the chunk is full, the HEC takes the next one from its own list.
//! 3. When its list is empty, it takes a chunk from the longest list.
//! 4. When all lists are empty, a collection is due. A HEC that waits for others to notice takes chunks from the
//!    overflow area.
//! 5. The collection distributes all chunks again.
//!
//! *Invariants*
//!
//! - A HEC takes only from HECs that allocated in the last cycle. The unused chunks of an idle HEC would make the
//!   nursery larger than was planned for the caches.
//!
//! *Locking*: one lock protects all lists; filling a chunk takes far longer than taking one. Chunks are distributed
//! with the world stopped.
//!
//! *Checked by* `memory/tests.rs`.
use crate::base::poison::unpoisoned;
use crate::memory::block_alloc::{alloc_run, free_run, Run};
use crate::memory::nursery::AllocArea;
use crate::memory::{Age, BLOCK_BYTES};
use std::sync::{Mutex, MutexGuard};

struct ChunkList {
    chunks: Vec<Run>,
    /// Other HECs may take from this list.
    open: bool,
}

// SAFETY: a chunk in a list is used only under the lock.
unsafe impl Send for ChunkList {}

struct ChunkPool {
    /// By number of the HEC.
    lists: Vec<ChunkList>,
    /// Bytes of the chunks that HECs have begun in this cycle.
    begun_bytes: usize,
    /// Blocks in a chunk.
    len: usize,
    /// Chunks of the overflow area that are left in this cycle. They serve while others are late for a collection.
    overflow: usize,
}

static POOL: Mutex<ChunkPool> = Mutex::new(ChunkPool { lists: Vec::new(), begun_bytes: 0, len: 1, overflow: 0 });

fn pool() -> MutexGuard<'static, ChunkPool> {
    unpoisoned(POOL.lock())
}

/// An empty chunk for HEC `no`, if there is one for it.
pub(super) fn take(no: usize) -> Option<Run> {
    let ChunkPool { lists, begun_bytes, .. } = &mut *pool();
    let own = lists.get_mut(no)?.chunks.pop();
    let chunk = own.or_else(|| lists.iter_mut().filter(|s| s.open).max_by_key(|s| s.chunks.len())?.chunks.pop())?;
    // SAFETY: a chunk in a list is in use.
    *begun_bytes += unsafe { (*chunk).len as usize } * BLOCK_BYTES;
    Some(chunk)
}

/// An empty chunk of the overflow area, if one is left.
pub(super) fn take_overflow() -> Option<Run> {
    let ChunkPool { len, overflow, .. } = &mut *pool();
    *overflow = overflow.checked_sub(1)?;
    // SAFETY: it becomes part of a nursery.
    unsafe { alloc_run(*len, Age::NURSERY) }
}

/// Bytes of the chunks that HECs have begun since the last distribution.
pub fn bytes_taken() -> usize {
    pool().begun_bytes
}

/// Gives each nursery `bytes` bytes in chunks of `chunk` bytes, both rounded up to whole units. Reuses its own chunks
/// first. Returns false if memory is exhausted: then some areas may have no chunk.
/// # Safety
/// The world is stopped, or the areas are new. The areas are empty except for `allocated_before`.
pub unsafe fn distribute(areas: &mut [&mut AllocArea], bytes: usize, chunk: usize) -> bool {
    let len = chunk.div_ceil(BLOCK_BYTES).max(1);
    let share = bytes.div_ceil(len * BLOCK_BYTES).max(1);
    let ChunkPool { lists, begun_bytes, len: chunk_blocks, overflow } = &mut *pool();
    (*chunk_blocks, *overflow) = (len, areas.len() * share / 2);
    *begun_bytes = areas.len() * len * BLOCK_BYTES;
    let mut over: Vec<Run> = Vec::new();
    for area in areas.iter_mut() {
        if lists.len() <= area.no {
            lists.resize_with(area.no + 1, || ChunkList { chunks: Vec::new(), open: false });
        }
        let list = &mut lists[area.no];
        list.open = area.was_used;
        let own = &mut list.chunks;
        area.release_runs(own);
        own.retain(|&run| {
            let is_right_size = (*run).len as usize == len;
            if !is_right_size {
                free_run(run);
            }
            is_right_size
        });
        // The first ones have been unused for longest.
        let surplus = own.len().saturating_sub(share);
        over.extend(own.drain(..surplus));
    }
    for area in areas.iter_mut() {
        let own = &mut lists[area.no].chunks;
        while own.len() < share {
            match over.pop().or_else(|| alloc_run(len, Age::NURSERY)) {
                Some(run) => own.push(run),
                None => return false,
            }
        }
        area.run = own.pop().expect("a share is one chunk at least");
        if !area.add_run_for_refusal() {
            return false;
        }
    }
    over.into_iter().for_each(|run| free_run(run));
    true
}

/// Forgets all lists. The test has freed their chunks.
#[cfg(test)]
pub(crate) fn clear() {
    pool().lists.clear();
}
