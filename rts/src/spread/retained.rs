//! Blocks of other processing elements (PEs) in which results of loans have come, or parts of them. Their objects are
//! this PE's, if their owner is lost, and no collection evicts them (`collect.rs`).
//!
//! *Locking*: a lock of its own, under which nothing else is taken.
use crate::abi::WORD;
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Block;
use crate::memory::address_space::{block_index, is_own};
use crate::spread::graph::Graph;
use std::collections::BTreeSet;
use std::sync::Mutex;

static BLOCKS: Mutex<BTreeSet<Block>> = Mutex::new(BTreeSet::new());

/// A graph has come that is a result, or has a part of one.
pub fn keep(graph: &Graph) {
    let extents = graph.parts().map(|parts| parts.extents).unwrap_or_default();
    let others = extents.iter().filter(|extent| !is_own(extent.address));
    let blocks = others.flat_map(|extent| block_index(extent.address)..=block_index(extent.end() - WORD));
    unpoisoned(BLOCKS.lock()).extend(blocks.map(|block| Block(block as u64)));
}

/// Has a result come in the block?
pub fn has_results(block: Block) -> bool {
    unpoisoned(BLOCKS.lock()).contains(&block)
}

/// Forgets blocks that a collection has cleared.
pub fn retain(is_left: impl Fn(Block) -> bool) {
    unpoisoned(BLOCKS.lock()).retain(|&block| is_left(block));
}
