//! Remembered sets: old objects that may point to younger ones.
//!
//! *Invariants*
//!
//! - Each HEC has one list for each generation.
//! - An object may be listed twice. The collector allows for that.
//! - A mutable array stays listed as long as it is mutable: compiled code marks its cards without telling the runtime.
//!   Other objects are listed when they become dirty.
//!
//! *Locking*: only the holder of the HEC uses its lists, or the collector while the world is stopped.
use crate::abi::Closure;
use crate::memory::address_space::{age_of, in_heap};

#[derive(Default)]
pub struct RememberedSet {
    pub by_generation: Vec<Vec<Closure>>,
}

impl RememberedSet {
    pub const fn new() -> RememberedSet {
        RememberedSet { by_generation: Vec::new() }
    }
    pub fn init(&mut self, generations: usize) {
        self.by_generation = (0..generations).map(|_| Vec::new()).collect();
    }
    /// Adds `c` (untagged) if it is old.
    #[inline]
    pub fn remember(&mut self, c: Closure) {
        if in_heap(c.0) {
            let gen = age_of(c.0).generation();
            if gen > 0 {
                self.by_generation[gen].push(c);
            }
        }
    }
    /// Adds a static object. Its referents must survive every collection but a full one.
    pub fn remember_static(&mut self, c: Closure) {
        if let Some(oldest) = self.by_generation.last_mut() {
            oldest.push(c);
        }
    }
}

/// Entries of a list that is never shrunk: 8 KB, which is little for each HEC and generation.
const MIN_CAPACITY: usize = 1024;
/// A list is shrunk if its capacity is more than this multiple of its length. Large, so that a list that grows and
/// shrinks in turns is seldom reallocated.
const MAX_SLACK: usize = 8;

/// Appends `list` to `to`. Keeps the memory of the longer one, unless that is far more than is needed.
pub fn append(to: &mut Vec<Closure>, mut list: Vec<Closure>) {
    if list.capacity() > to.capacity() {
        std::mem::swap(to, &mut list);
    }
    to.append(&mut list);
    if to.capacity() > MIN_CAPACITY.max(MAX_SLACK * to.len()) {
        to.shrink_to(MIN_CAPACITY.max(2 * to.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(n: usize) -> Vec<Closure> {
        (0..n).map(Closure).collect()
    }

    #[test]
    fn append_keeps_all_entries() {
        for (a, b) in [(0, 0), (0, 5), (5, 0), (3, 2000), (2000, 3), (1500, 1500)] {
            let mut joined = list(a);
            append(&mut joined, list(b));
            joined.sort_by_key(|c| c.0);
            let mut both = [list(a), list(b)].concat();
            both.sort_by_key(|c| c.0);
            assert_eq!(joined, both);
        }
    }

    #[test]
    fn append_shrinks_only_very_sparse_lists() {
        let mut few = Vec::with_capacity(MIN_CAPACITY);
        append(&mut few, list(3));
        assert_eq!(few.capacity(), MIN_CAPACITY);
        let mut many = list(100 * MIN_CAPACITY);
        many.truncate(3);
        append(&mut many, list(2));
        assert!(many.len() == 5 && many.capacity() <= 2 * MIN_CAPACITY, "{}", many.capacity());
    }
}
