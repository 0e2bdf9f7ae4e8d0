//! Nursery chunks: the parts of nurseries, which HECs take.
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
//! 5. The collection distributes all chunks again (`nursery_distribution.rs`).
//!
//! *Invariants*
//!
//! - A HEC takes only from HECs that allocated in the last cycle. The unused chunks of an idle HEC would make the
//!   nursery larger than was planned for the caches.
//!
//! *Locking*: one lock protects all lists; filling a chunk takes far longer than taking one.
//!
//! *Checked by* `memory/tests.rs`.
use crate::base::poison::unpoisoned;
use crate::memory::block_alloc::{alloc_run, Run};
use crate::memory::{Age, BLOCK_BYTES};
use std::sync::{Mutex, MutexGuard};

pub(super) struct ChunkList {
    pub chunks: Vec<Run>,
    /// Other HECs may take from this list.
    pub open: bool,
}

// SAFETY: a chunk in a list is used only under the lock.
unsafe impl Send for ChunkList {}

pub(super) struct ChunkPool {
    /// By number of the HEC.
    pub lists: Vec<ChunkList>,
    /// Bytes of the chunks that HECs have begun in this cycle.
    pub begun_bytes: usize,
    /// Blocks in a chunk.
    pub len: usize,
    /// Chunks of the overflow area that are left in this cycle. They serve while others are late for a collection.
    pub overflow: usize,
}

static POOL: Mutex<ChunkPool> = Mutex::new(ChunkPool { lists: Vec::new(), begun_bytes: 0, len: 1, overflow: 0 });

pub(super) fn pool() -> MutexGuard<'static, ChunkPool> {
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

/// Forgets all lists. The test has freed their chunks.
#[cfg(test)]
pub(crate) fn clear() {
    pool().lists.clear();
}
