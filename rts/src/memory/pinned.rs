//! The blocks that pinned byte arrays are allocated in.
//!
//! *Invariants*
//!
//! - A block is retained as long as anything in it is live. So arrays of very different sizes have blocks of their own:
//!   a program that receives into buffers of some kilobytes and keeps a few bytes of each would otherwise retain whole
//!   blocks of buffers.
//! - A block that a collection retains is filled further, at whatever age it has reached. That is safe because byte
//!   arrays have no pointers.
//!
//! *Locking*: only the holder of the HEC, or the collector while the world is stopped.
use super::{Age, BLOCK_BYTES};
use crate::abi::BlockDesc;
use crate::memory::block_alloc::{run_age, Run};
use std::ptr;

/// Largest arrays of each size class, in bytes; the last class is all larger ones. Cmm allocates arrays of the first
/// class itself while the open block has room, and knows its size (`PrimByteArray.cmm`).
const CLASS_BYTES: [usize; 3] = [64, 256, 2048];
pub const CLASSES: usize = CLASS_BYTES.len() + 1;

/// Stands for the open block where there is none: it has no room.
static NO_BLOCK: BlockDesc =
    BlockDesc { start: 0, free: 0, link: 0, scan: 0, back: 0, spare: [0; 4], units: 0, head: 0, len: 0, state: 0 };

/// The class of an array of `bytes`.
pub fn class(bytes: usize) -> usize {
    CLASS_BYTES.iter().position(|&size| bytes <= size).unwrap_or(CLASS_BYTES.len())
}

/// Does every page of a block of this class contain some array's header? Then all pages are touched in any case.
pub fn fills_pages(class: usize) -> bool {
    class < CLASS_BYTES.len()
}

/// The first address at or after `at` whose byte `offset` is aligned to `align`, a power of two.
pub fn aligned(at: usize, align: usize, offset: usize) -> usize {
    at + ((at + offset).wrapping_neg() & (align - 1))
}

/// A block that has room left.
#[derive(Clone, Copy)]
pub struct OpenBlock {
    run: Option<Run>,
    /// End of what earlier cycles allocated in the block; 0 if the block was begun in this cycle.
    earlier_end: usize,
}

impl OpenBlock {
    pub const NONE: OpenBlock = OpenBlock { run: None, earlier_end: 0 };

    pub fn new(run: Run) -> OpenBlock {
        OpenBlock { run: Some(run), earlier_end: 0 }
    }

    /// The descriptor of the block, or that of a full one if there is none.
    pub fn block(&self) -> Run {
        self.run.unwrap_or(ptr::addr_of!(NO_BLOCK).cast_mut())
    }

    /// Room for `bytes`, if the block has it.
    /// # Safety
    /// The block is in use; the caller writes a whole object.
    pub unsafe fn allocate(&mut self, bytes: usize, align: usize, offset: usize) -> Option<usize> {
        let run = self.run?;
        let at = aligned((*run).free, align, offset);
        let end = at + bytes;
        (end <= (*run).start + BLOCK_BYTES).then(|| {
            (*run).free = end;
            at
        })
    }

    /// Bytes allocated in this cycle in a block that an earlier cycle began.
    /// # Safety
    /// The block is in use.
    pub unsafe fn bytes_this_cycle(&self) -> usize {
        match self.run {
            Some(run) if self.earlier_end != 0 => (*run).free - self.earlier_end,
            _ => 0,
        }
    }

    /// # Safety
    /// The block is in use.
    pub unsafe fn end_cycle(&mut self) {
        self.earlier_end = self.run.map_or(0, |run| (*run).free);
    }

    /// Forgets the block if the collection has not retained it.
    /// # Safety
    /// No run of from-space has been freed yet.
    pub unsafe fn drop_dead(&mut self) {
        if self.run.is_some_and(|run| run_age(run).is(Age::CONDEMNED)) {
            self.run = None;
        }
    }
}
