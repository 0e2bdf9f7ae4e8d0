//! How GC workers agree on which of them evacuates an object.
//!
//! *Protocol*
//! 1. *Small objects.* A worker reads the header, copies the object into its own to-space, and then exchanges the
//!    header it has read for the forwarding pointer. The loser discards its copy by resetting its allocation pointer.
//! 2. *Large objects, pinned blocks, compact regions.* A worker exchanges the age byte of the run's first block (of a
//!    region's first run) for the new age. The winner then writes the other blocks' bytes. A worker that reads a byte
//!    not yet written reaches the first one by the slow path.
//! 3. *Selector thunks.* A worker that walks a chain of selectors claims each by exchanging its header for `WHITEHOLE`.
//!    A chain that leads to another worker's claim counts as a chain without a value, and its selectors are copied as
//!    they are. A worker that *evacuates* a claimed selector waits for the outcome, which is near.
//! 4. *Static objects.* A worker exchanges the link word for the mark of this collection.
//!
//! *Invariants*
//! - Only headers in from-space change during a collection, and the spare word of selector thunks. So a copy is good if
//!   the exchange succeeds, and no other worker has seen a discarded one.
//! - A worker never waits while it holds a claim.
//! - Remembered objects may be listed twice and scavenged by two workers at once. Both find the same new addresses and
//!   write the same words.
//!
//! *Why copy first?* A worker that marked the object busy would make others wait. A discarded copy is rare. The
//! exchange is made for immutable objects too. Two copies of these would not harm the program, but stable names, weak
//! keys and the heap's size would suffer. The exchange costs little beside the cache miss on the object.
//!
//! *Checked by*: the loom models in `rts/tests/models/forwarding.rs`.
use crate::abi::WORD;
use crate::base::atomics::{spin_loop, yield_now, AtomicUsize};
use crate::collector::trace::header;
use crate::collector::trace::header::FORWARDED;
use crate::collector::trace::worker::Worker;

/// How often a worker reads the header of a selector that another one has claimed before it yields its core. The other
/// worker may be waiting for a core.
const SPINS: usize = 100;

/// Returns a word that GC workers exchange.
/// # Safety
/// `p` can be written. While it is shared, it changes through this only.
#[inline(always)]
pub(in crate::collector) unsafe fn shared<'a>(p: *const usize) -> &'a AtomicUsize {
    AtomicUsize::from_ptr(p as *mut usize)
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Reads the header of an object that may be in from-space. The target of a forwarding pointer, and of an
    /// indirection that the collector made, can then be read too.
    #[inline(always)]
    pub(in crate::collector) unsafe fn header(&self, c: *const usize) -> usize {
        if PARALLEL {
            header::load(shared(c))
        } else {
            *c
        }
    }

    /// Writes the header of an object that this worker has claimed, after all that it leads to.
    #[inline(always)]
    pub(in crate::collector) unsafe fn release(&self, c: *mut usize, header: usize) {
        header::release(shared(c), header);
    }

    /// Makes the copy at `to` replace the object at `from`, and updates the slot. Returns false if another worker was
    /// first; then nothing has happened.
    #[inline(always)]
    pub(in crate::collector) unsafe fn forward(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        to: *mut usize,
        tag: usize,
    ) -> bool {
        if PARALLEL {
            // The copied header may be another worker's claim.
            *to = header;
            if !header::exchange(shared(from), header, to as usize | FORWARDED) {
                return false;
            }
        } else {
            *from = to as usize | FORWARDED;
        }
        *slot = to as usize | tag;
        true
    }

    /// Undoes the last allocation in a step.
    #[cold]
    pub(in crate::collector) unsafe fn undo_alloc(&mut self, step: u8, words: usize) {
        self.buffers[(step & 15) as usize].free -= words * WORD;
    }

    /// Waits until the worker that has claimed a selector has written its header.
    #[cold]
    pub(in crate::collector) unsafe fn wait_for_claim(&self, c: *const usize, claimed: usize) {
        let mut tries = 0;
        while self.header(c) == claimed {
            tries += 1;
            if tries % SPINS == 0 {
                yield_now();
            } else {
                spin_loop();
            }
        }
    }
}
