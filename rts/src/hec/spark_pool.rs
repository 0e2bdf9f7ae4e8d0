//! The spark pool of a HEC: a ring buffer that its holder fills. Any HEC takes the oldest spark, and the holder also
//! the newest. It is the deque of Chase and Lev (SPAA 2005), but does not grow.
//!
//! *Protocol*
//! ```text
//!   holder: put          load head (acquire); if there is room, write the slot at tail, then tail + 1 (release)
//!   anyone: take         load head (acquire); fence; load tail (acquire); if there is a spark, read the slot at head,
//!                        then exchange head for head + 1 (release); a HEC whose exchange succeeds has the spark
//!   holder: take_newest  tail - 1; fence; load head; if that is below, the spark is the holder's; if it is equal,
//!                        exchange head as others do; in any case but the first put tail back
//! ```
//!
//! *Invariants*
//! - A slot that `head` may reach is written again only after `head` has passed it. So a value read before a successful
//!   exchange is the one that was put there. A HEC that reads too late fails, because `head` never decreases.
//! - The fences are sequentially consistent: of the holder that takes the newest spark, and a thief that could take the
//!   same one, at least one sees what the other has written. So they both exchange `head`, or the thief sees no spark.
//! - A HEC that sees a value of `head` also sees the `tail` with which it was compared. So `head` passes `tail` by one
//!   at most, and only while the holder takes the newest.
//! - While the world is stopped all sparks are taken at once, and positions restart at 0. Most sparks of a program that
//!   makes many die before the next collection, and the slots in use stay in the cache.
//! - Only the holder writes `tail`. While no other HEC takes sparks, `head` stays in the holder's cache as well.
//!
//! *Checked by*: the loom models in `rts/tests/models/sparks.rs`, which compile this file. They show that each ordering
//! is needed, except the first. Without that one the holder might write a slot before another HEC has read it, and loom
//! lets reads see only earlier writes.
use crate::base::atomics::{fence, zeros, AtomicUsize, Ordering};
use std::sync::OnceLock;

/// Aligned to two cache lines of 64 bytes, which processors fetch in pairs, so that different cores write to different
/// lines.
#[repr(align(128))]
struct CachePadded(AtomicUsize);

pub struct SparkRing {
    /// Positions that only increase; `head..tail` is in use.
    head: CachePadded,
    tail: CachePadded,
    /// A power of two of slots, made for the first spark, so that a program without sparks pays nothing.
    slots: OnceLock<Box<[AtomicUsize]>>,
}

impl SparkRing {
    pub fn new() -> SparkRing {
        SparkRing {
            head: CachePadded(AtomicUsize::new(0)),
            tail: CachePadded(AtomicUsize::new(0)),
            slots: OnceLock::new(),
        }
    }

    /// The number of sparks, as a hint: other HECs may take some at the same time.
    pub fn len(&self) -> usize {
        let head = self.head.0.load(Ordering::Relaxed);
        self.tail.0.load(Ordering::Relaxed).saturating_sub(head)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an address, unless there are `most` already. `most` is the same in all calls. Only the holder calls this.
    pub fn put(&self, address: usize, most: usize) -> bool {
        let tail = self.tail.0.load(Ordering::Relaxed);
        if tail - self.head.0.load(Ordering::Acquire) >= most {
            return false;
        }
        let slots = self.slots.get().map_or_else(|| self.make_slots(most), |slots| &**slots);
        slots[tail & (slots.len() - 1)].store(address, Ordering::Relaxed);
        self.tail.0.store(tail + 1, Ordering::Release);
        true
    }

    #[cold]
    fn make_slots(&self, most: usize) -> &[AtomicUsize] {
        self.slots.get_or_init(|| zeros(most.next_power_of_two()))
    }

    /// Takes the oldest spark.
    pub fn take(&self) -> Option<usize> {
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            fence(Ordering::SeqCst);
            if head >= self.tail.0.load(Ordering::Acquire) {
                return None;
            }
            let slots = self.slots.get()?;
            let address = slots[head & (slots.len() - 1)].load(Ordering::Relaxed);
            match self.head.0.compare_exchange(head, head + 1, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return Some(address),
                Err(now) => head = now,
            }
        }
    }

    /// Takes the newest spark. Only the holder calls this.
    pub fn take_newest(&self) -> Option<usize> {
        let slots = self.slots.get()?;
        let tail = self.tail.0.load(Ordering::Relaxed);
        let newest = tail.checked_sub(1)?;
        self.tail.0.store(newest, Ordering::Release);
        fence(Ordering::SeqCst);
        let head = self.head.0.load(Ordering::Acquire);
        let address = slots[newest & (slots.len() - 1)].load(Ordering::Relaxed);
        if head < newest {
            return Some(address);
        }
        let is_taken =
            head == newest && self.head.0.compare_exchange(head, tail, Ordering::Release, Ordering::Relaxed).is_ok();
        self.tail.0.store(tail, Ordering::Release);
        is_taken.then_some(address)
    }

    /// Takes all sparks, the oldest first. The world is stopped: no other HEC takes any.
    pub fn take_all(&self) -> Vec<usize> {
        let Some(slots) = self.slots.get() else { return Vec::new() };
        let full = self.head.0.load(Ordering::Relaxed)..self.tail.0.load(Ordering::Relaxed);
        let all = full.map(|i| slots[i & (slots.len() - 1)].load(Ordering::Relaxed)).collect();
        self.head.0.store(0, Ordering::Relaxed);
        self.tail.0.store(0, Ordering::Relaxed);
        all
    }
}
