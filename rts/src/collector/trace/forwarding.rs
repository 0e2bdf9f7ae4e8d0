//! How GC threads agree on who saves an object.
//!
//! *Small objects.* A GC thread reads the header, copies the object into its own to-space, and
//! then exchanges the header it has read for the forwarding address. Nothing in from-space but
//! headers ever changes during a collection (and the spare word of selector thunks), so the
//! copy is good if the exchange succeeds. If it fails somebody else was first, and the copy is
//! taken back by resetting the allocation pointer: nobody has seen it. To copy first and claim
//! then, rather than to mark the object as busy, means that no thread ever waits for another,
//! at the price of a copy thrown away when two meet, which is rare. The exchange is made for
//! immutable objects too. Two copies of these would do no harm to the program, but stable
//! names, weak keys and the heap's size would suffer, and the exchange costs little beside the
//! cache miss on the object.
//!
//! *Large objects, pinned blocks, compact regions.* The age byte of the run's first block (of a
//! region's first run) is exchanged for the new age; who succeeds writes the others' bytes. A
//! reader that sees a byte not yet written comes to the first one by the slow path.
//!
//! *Selector thunks.* A thread that walks a chain of them claims each by exchanging its header
//! for `WHITEHOLE`. It never waits while it holds a claim: a chain that leads to somebody's
//! claim is a chain without a value, for this time, and its selectors are copied as they are.
//! Who *evacuates* a claimed one holds no claims and waits for the outcome, which is near.
//!
//! *Static objects.* The link word is exchanged for this collection's mark.
//!
//! Remembered objects may be listed twice and be scanned by two threads at once. Both then find
//! the same new addresses and write the same words.
use crate::abi::WORD;
use crate::base::atomics::{spin_loop, yield_now, AtomicUsize};
use crate::collector::trace::evacuate::FORWARDED;
use crate::collector::trace::header;
use crate::collector::trace::worker::Worker;

/// How often a thread looks at a selector that another one has claimed before it lets others
/// run: it may be waiting for a thread that has no core.
const LOOKS: usize = 100;

/// A word that GC threads exchange.
/// # Safety
/// `p` can be written, and while it is shared is changed through this only.
#[inline(always)]
pub(in crate::collector) unsafe fn shared<'a>(p: *const usize) -> &'a AtomicUsize {
    AtomicUsize::from_ptr(p as *mut usize)
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// The header of an object that may be in from-space. What a forwarding address leads to,
    /// and what an indirection made by the collector refers to, can then be read too.
    #[inline(always)]
    pub(in crate::collector) unsafe fn header(&self, c: *const usize) -> usize {
        if PARALLEL {
            header::load(shared(c))
        } else {
            *c
        }
    }

    /// Writes the header of an object that this thread has claimed, after all that it leads to.
    #[inline(always)]
    pub(in crate::collector) unsafe fn release(&self, c: *mut usize, header: usize) {
        header::release(shared(c), header);
    }

    /// Makes the copy at `to` what becomes of the object at `from`, and updates the slot. False
    /// if another thread was first: then nothing has happened.
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
            // What was copied may be somebody's claim.
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

    /// Takes back the last allocation in a step.
    #[cold]
    pub(in crate::collector) unsafe fn take_back(&mut self, step: u8, words: usize) {
        self.buffers[(step & 15) as usize].free -= words * WORD;
    }

    /// Waits until the thread that has claimed a selector has decided what becomes of it.
    #[cold]
    pub(in crate::collector) unsafe fn wait_for_claim(&self, c: *const usize, claimed: usize) {
        let mut looks = 0;
        while self.header(c) == claimed {
            looks += 1;
            if looks % LOOKS == 0 {
                yield_now();
            } else {
                spin_loop();
            }
        }
    }
}
