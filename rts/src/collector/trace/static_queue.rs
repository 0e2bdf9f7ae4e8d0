//! A queue of static objects that have been reached and are being prefetched.
//!
//! Examining a static object misses the cache twice: at the object, then at its info table. A full collection examines
//! all that are reachable, a hundred thousand in `ghc`.
//!
//! *Protocol*
//! 1. A reached object waits in one queue while it is prefetched, then in a second one while its info table is.
//! 2. Objects reached again shortly afterwards (`[]`, `True`) are recognised and not queued again.
//!
//! *Checked by*: the unit test below.
use crate::abi::{Closure, WORD};
use crate::collector::trace::prefetch;

/// How many others are reached while an object or an info table is prefetched.
const DEPTH: usize = 16;
/// Entries of the table of recently reached objects. A power of two.
const RECENT: usize = 128;
/// The words of an info table that are read end this many bytes before the code.
const INFO_TABLE_BYTES: usize = 2 * WORD;

/// A queue of fixed length, in which places may be empty (0).
struct Queue {
    places: [usize; DEPTH],
    at: usize,
}

impl Queue {
    const EMPTY: Queue = Queue { places: [0; DEPTH], at: 0 };

    /// Adds an entry and returns the one added `DEPTH` entries before.
    #[inline(always)]
    fn exchange(&mut self, new: usize) -> usize {
        self.at = (self.at + 1) % DEPTH;
        std::mem::replace(&mut self.places[self.at], new)
    }
}

pub(in crate::collector) struct StaticQueue {
    recent: [usize; RECENT],
    objects: Queue,
    tables: Queue,
    waiting: usize,
}

impl StaticQueue {
    pub const EMPTY: StaticQueue =
        StaticQueue { recent: [0; RECENT], objects: Queue::EMPTY, tables: Queue::EMPTY, waiting: 0 };

    /// Adds an untagged static object, and returns an object to be examined now, if any.
    /// # Safety
    /// It is a static object.
    #[inline(always)]
    pub unsafe fn push(&mut self, c: Closure) -> Option<Closure> {
        let entry = &mut self.recent[c.0 / (2 * WORD) % RECENT];
        if std::mem::replace(entry, c.0) == c.0 {
            return None;
        }
        prefetch::for_reading(c.0);
        self.waiting += 1;
        self.advance(c.0)
    }

    /// Returns a queued object without adding another; `None` if the queue is empty.
    /// # Safety
    /// All objects that were added are static objects.
    pub unsafe fn next(&mut self) -> Option<Closure> {
        while self.waiting > 0 {
            let next = self.advance(0);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Moves the queues on by one place, adding `new` (0 for none).
    #[inline(always)]
    unsafe fn advance(&mut self, new: usize) -> Option<Closure> {
        let fetched = self.objects.exchange(new);
        if fetched != 0 {
            prefetch::for_reading(Closure(fetched).info().0.wrapping_sub(INFO_TABLE_BYTES));
        }
        let next = self.tables.exchange(fetched);
        self.waiting -= (next != 0) as usize;
        (next != 0).then_some(Closure(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_leaves_the_queue_once_and_in_order() {
        let objects: Vec<[usize; 2]> = vec![[0; 2]; 5 * RECENT];
        let mut queue = StaticQueue::EMPTY;
        let all: Vec<usize> = objects.iter().map(|o| o.as_ptr() as usize).collect();
        let mut seen = Vec::new();
        // SAFETY: the memory is readable, as if these were static objects.
        unsafe {
            assert!(queue.next().is_none());
            for (i, &c) in all.iter().enumerate() {
                seen.extend(queue.push(Closure(c)).map(|c| c.0));
                assert!(queue.push(Closure(c)).is_none());
                assert_eq!(seen.len(), (i + 1).saturating_sub(2 * DEPTH));
            }
            while let Some(c) = queue.next() {
                seen.push(c.0);
            }
        }
        assert_eq!(seen, all);
    }
}
