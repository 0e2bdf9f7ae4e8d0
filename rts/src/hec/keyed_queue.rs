//! The threads of a named queue that is served by priority: a heap by (key, arrival).
//!
//! The highest key is next, and of several threads with it the one that has waited longest. A thread with a low key
//! starves while others with higher keys run. That is the order's intent: one in which threads age is a scheduler of
//! the package.
use crate::abi::Tso;
use crate::hec::priority;
use crate::hec::unlinked::Unlinked;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

struct Entry {
    key: i32,
    arrival: i64,
    thread: Tso,
}

impl Ord for Entry {
    /// The greatest entry is the next to run.
    fn cmp(&self, other: &Entry) -> Ordering {
        (self.key, other.arrival).cmp(&(other.key, self.arrival))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

#[derive(Default)]
pub struct KeyedQueue {
    heap: BinaryHeap<Entry>,
    /// Number of the last arrival.
    last: i64,
    /// Number of the arrival that is before all others.
    earliest: i64,
}

impl KeyedQueue {
    fn earlier(&mut self) -> i64 {
        self.earliest -= 1;
        self.earliest
    }

    /// Changes entries in ways that may change their order.
    fn change(&mut self, change: impl FnOnce(&mut Vec<Entry>)) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        change(&mut entries);
        self.heap = BinaryHeap::from(entries);
    }
}

impl Unlinked for KeyedQueue {
    fn first(&self) -> Tso {
        self.heap.peek().map_or(Tso::NULL, |first| first.thread)
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    unsafe fn insert(&mut self, t: Tso) {
        self.last += 1;
        self.heap.push(Entry { key: priority::key(t), arrival: self.last, thread: t });
    }

    unsafe fn put_back(&mut self, t: Tso) {
        let arrival = self.earlier();
        self.heap.push(Entry { key: priority::key(t), arrival, thread: t });
    }

    fn remove_first(&mut self) {
        self.heap.pop();
    }

    /// The heap is searched from its root, so this holds about.
    fn is_among_first(&self, t: Tso, limit: usize) -> bool {
        self.heap.iter().take(limit).any(|entry| entry.thread == t)
    }

    /// The thread gets the place of one with the highest key. It keeps its own key for the next time.
    fn bring_forward(&mut self, t: Tso, limit: usize) -> bool {
        let Some(place) = self.heap.iter().take(limit).position(|entry| entry.thread == t) else { return false };
        let key = self.heap.peek().map_or(0, |first| first.key);
        let arrival = self.earlier();
        self.change(|entries| entries[place] = Entry { key, arrival, thread: t });
        true
    }

    fn each(&mut self, visit: &mut dyn FnMut(&mut Tso)) {
        self.change(|entries| entries.iter_mut().for_each(|entry| visit(&mut entry.thread)));
    }
}
