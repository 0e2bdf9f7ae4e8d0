//! The distribution of nursery chunks (`nursery_chunks.rs`) among the HECs.
//!
//! *Locking*: chunks are distributed with the world stopped, under the lock of the lists.
//!
//! *Checked by* `memory/tests.rs`.
use crate::memory::block_alloc::{alloc_run, free_run, Run};
use crate::memory::nursery::AllocArea;
use crate::memory::nursery_chunks::{pool, ChunkList, ChunkPool};
use crate::memory::{Age, BLOCK_BYTES};

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
