//! The blocks that pinned byte arrays are cut from.
//!
//! A block stays as long as anything in it. A program that receives into buffers of some kilobytes and keeps a
//! few bytes of each would hold on to whole blocks of buffers, were both cut from the same block. So arrays
//! of very different sizes have blocks of their own.
//!
//! A block that a collection saves goes on being filled, at whatever age it has reached: byte arrays refer to nothing.
use super::{Age, BLOCK_BYTES};
use crate::abi::BlockDesc;
use crate::memory::block_alloc::{run_age, Run};
use std::ptr;

/// Arrays of up to so many bytes share blocks; the last class is of those larger. Of the first one Cmm knows the size, and
/// cuts them itself while there is room (`PrimByteArray.cmm`).
const SIZES: [usize; 3] = [64, 256, 2048];
pub const CLASSES: usize = SIZES.len() + 1;

/// What stands for the block where there is none.
static FULL: BlockDesc =
    BlockDesc { start: 0, free: 0, link: 0, scan: 0, back: 0, spare: [0; 4], units: 0, head: 0, len: 0, state: 0 };

/// The class of an array of `bytes`.
pub fn class(bytes: usize) -> usize {
    SIZES.iter().position(|&size| bytes <= size).unwrap_or(SIZES.len())
}

/// Has every page of a block a part of some array's header, so that all of it is touched in any case?
pub fn fills_pages(class: usize) -> bool {
    class < SIZES.len()
}

/// The first address from `at` on whose byte `offset` is aligned to `align`, a power of two.
pub fn aligned(at: usize, align: usize, offset: usize) -> usize {
    at + ((at + offset).wrapping_neg() & (align - 1))
}

/// A block that has room left.
#[derive(Clone, Copy)]
pub struct OpenBlock {
    run: Option<Run>,
    /// Where this cycle's part begins if an earlier cycle began the block; else 0.
    from: usize,
}

impl OpenBlock {
    pub const NONE: OpenBlock = OpenBlock { run: None, from: 0 };

    pub fn new(run: Run) -> OpenBlock {
        OpenBlock { run: Some(run), from: 0 }
    }

    /// Its descriptor; that of a full block if there is none.
    pub fn block(&self) -> Run {
        self.run.unwrap_or(ptr::addr_of!(FULL).cast_mut())
    }

    /// Room for `bytes`, if there is any.
    /// # Safety
    /// The block is in use; the caller writes a whole object.
    pub unsafe fn cut(&mut self, bytes: usize, align: usize, offset: usize) -> Option<usize> {
        let run = self.run?;
        let at = aligned((*run).free, align, offset);
        let end = at + bytes;
        (end <= (*run).start + BLOCK_BYTES).then(|| {
            (*run).free = end;
            at
        })
    }

    /// Bytes cut in this cycle from a block that an earlier one began.
    /// # Safety
    /// The block is in use.
    pub unsafe fn grown(&self) -> usize {
        match self.run {
            Some(run) if self.from != 0 => (*run).free - self.from,
            _ => 0,
        }
    }

    /// # Safety
    /// The block is in use.
    pub unsafe fn end_cycle(&mut self) {
        self.from = self.run.map_or(0, |run| (*run).free);
    }

    /// Forgets the block if the collection has not saved it.
    /// # Safety
    /// Nothing has been freed yet.
    pub unsafe fn drop_dead(&mut self) {
        if self.run.is_some_and(|run| run_age(run).is(Age::CONDEMNED)) {
            self.run = None;
        }
    }
}
