//! Static objects that have been met and are not looked at yet.
//!
//! To look at one misses the cache twice, at the object and then at its info table, and a full collection looks at
//! every one that can be reached: a hundred thousand of ghc's. So who is met waits in a queue while the object is
//! fetched, and in a second one while its info table is. Those that are met again and again (`[]`, `True`) do not wait
//! each time.
use crate::abi::{Closure, WORD};
use crate::collector::trace::prefetch;

/// How many others are met while an object or an info table is fetched.
const DEPTH: usize = 16;
/// How many that were met lately are known again. A power of two.
const LATELY: usize = 128;
/// What is read of an info table lies so far before the code that it belongs to.
const TABLE_BYTES: usize = 2 * WORD;

/// First in, first out; as many as there are places, of which some may be empty (0).
struct Queue {
    places: [usize; DEPTH],
    at: usize,
}

impl Queue {
    const EMPTY: Queue = Queue { places: [0; DEPTH], at: 0 };

    /// The one that has waited for so many others, for the new one.
    #[inline(always)]
    fn exchange(&mut self, new: usize) -> usize {
        self.at = (self.at + 1) % DEPTH;
        std::mem::replace(&mut self.places[self.at], new)
    }
}

pub(in crate::collector) struct StaticQueue {
    lately: [usize; LATELY],
    objects: Queue,
    tables: Queue,
    waiting: usize,
}

impl StaticQueue {
    pub const NOBODY: StaticQueue =
        StaticQueue { lately: [0; LATELY], objects: Queue::EMPTY, tables: Queue::EMPTY, waiting: 0 };

    /// An untagged static object is met. The one that is to be looked at now, if any.
    /// # Safety
    /// It is one.
    #[inline(always)]
    pub unsafe fn push(&mut self, c: Closure) -> Option<Closure> {
        let known = &mut self.lately[c.0 / (2 * WORD) % LATELY];
        if std::mem::replace(known, c.0) == c.0 {
            return None;
        }
        prefetch::to_read(c.0);
        self.waiting += 1;
        self.go_on(c.0)
    }

    /// One that waits, though nobody is met; None if nobody does.
    /// # Safety
    /// As for [`StaticQueue::push`], of all that have been met.
    pub unsafe fn next(&mut self) -> Option<Closure> {
        while self.waiting > 0 {
            let next = self.go_on(0);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    #[inline(always)]
    unsafe fn go_on(&mut self, new: usize) -> Option<Closure> {
        let fetched = self.objects.exchange(new);
        if fetched != 0 {
            prefetch::to_read(Closure(fetched).info().0.wrapping_sub(TABLE_BYTES));
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
        let objects: Vec<[usize; 2]> = vec![[0; 2]; 5 * LATELY];
        let mut coming = StaticQueue::NOBODY;
        let all: Vec<usize> = objects.iter().map(|o| o.as_ptr() as usize).collect();
        let mut seen = Vec::new();
        // SAFETY: as if they were static objects.
        unsafe {
            assert!(coming.next().is_none());
            for (i, &c) in all.iter().enumerate() {
                seen.extend(coming.push(Closure(c)).map(|c| c.0));
                assert!(coming.push(Closure(c)).is_none());
                assert_eq!(seen.len(), (i + 1).saturating_sub(2 * DEPTH));
            }
            while let Some(c) = coming.next() {
                seen.push(c.0);
            }
        }
        assert_eq!(seen, all);
    }
}
