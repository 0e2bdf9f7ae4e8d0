//! Where a HEC keeps its sparks: a ring of so many, which its holder fills and from which everybody takes the oldest.
//!
//! ```text
//!   holder: put   head (acquire); if there is room, the slot at tail, then tail + 1 (release)
//!   anyone: take  head (acquire), tail (acquire); if they differ, what the slot at head holds, and head + 1 in exchange
//!                 for head (release): whoever succeeds has it
//! ```
//!
//! Slots are written again only after `head` has passed them, so what was read before a successful exchange is what had been put there;
//! who read it too late has no success, for `head` never goes back. Whoever sees a `head` also sees the `tail` that it was compared
//! with, so it is never ahead of that. With the world stopped all are taken at once, and positions begin anew: most sparks of a program that makes
//! many die before the next collection, and the slots in use stay in the cache.
//!
//! Nobody but the holder ever writes `tail`, and as long as nobody takes, `head` stays in its cache as well.
//!
//! `rts/tests/models/sparks.rs` runs this file under loom, which tells what each of these orders is for, except the first: without it the holder might write
//! a slot before another has read it, and loom has reads see only what was written before.
use crate::base::atomics::{zeros, AtomicUsize, Ordering};
use std::sync::OnceLock;

/// What different cores write lies so many bytes apart. (Two lines: processors fetch them in pairs.)
#[repr(align(128))]
struct Apart(AtomicUsize);

pub struct SparkRing {
    /// Positions, from 0 up; `head..tail` is full.
    head: Apart,
    tail: Apart,
    /// A power of two of them, made for the first spark. A program that has none pays for none.
    slots: OnceLock<Box<[AtomicUsize]>>,
}

impl SparkRing {
    pub fn new() -> SparkRing {
        SparkRing { head: Apart(AtomicUsize::new(0)), tail: Apart(AtomicUsize::new(0)), slots: OnceLock::new() }
    }

    pub fn len(&self) -> usize {
        let head = self.head.0.load(Ordering::Relaxed);
        self.tail.0.load(Ordering::Relaxed).saturating_sub(head)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an address, unless there are `most` already (always the same number). Only the holder does.
    pub fn put(&self, address: usize, most: usize) -> bool {
        let tail = self.tail.0.load(Ordering::Relaxed);
        if tail - self.head.0.load(Ordering::Acquire) >= most {
            return false;
        }
        let slots = self.slots.get().unwrap_or_else(|| self.make_slots(most));
        slots[tail & (slots.len() - 1)].store(address, Ordering::Relaxed);
        self.tail.0.store(tail + 1, Ordering::Release);
        true
    }

    #[cold]
    fn make_slots(&self, most: usize) -> &Box<[AtomicUsize]> {
        self.slots.get_or_init(|| zeros(most.next_power_of_two()))
    }

    /// The oldest one.
    pub fn take(&self) -> Option<usize> {
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            if head == self.tail.0.load(Ordering::Acquire) {
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

    /// All of them, the oldest first. The world is stopped: no other thread takes any.
    pub fn take_all(&self) -> Vec<usize> {
        let Some(slots) = self.slots.get() else { return Vec::new() };
        let full = self.head.0.load(Ordering::Relaxed)..self.tail.0.load(Ordering::Relaxed);
        let all = full.map(|i| slots[i & (slots.len() - 1)].load(Ordering::Relaxed)).collect();
        self.head.0.store(0, Ordering::Relaxed);
        self.tail.0.store(0, Ordering::Relaxed);
        all
    }
}
