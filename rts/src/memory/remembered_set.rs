//! Remembered sets: old objects that may point to younger ones.
//!
//! Each HEC keeps one list per generation. An object may be listed twice; the collector copes.
//! Mutable arrays stay listed for as long as they are mutable, because compiled code marks
//! their cards without telling us; other objects are listed when they turn dirty.
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
    /// Lists `c` (untagged) if it is old.
    #[inline]
    pub fn remember(&mut self, c: Closure) {
        if in_heap(c.0) {
            let gen = age_of(c.0).generation();
            if gen > 0 {
                self.by_generation[gen].push(c);
            }
        }
    }
    /// Lists a static object, whose referents must survive every collection but full ones.
    pub fn remember_static(&mut self, c: Closure) {
        if let Some(oldest) = self.by_generation.last_mut() {
            oldest.push(c);
        }
    }
}

/// So many places are never too many; beyond, as many times those that are taken.
const FEW: usize = 1024;
const SPARSE: usize = 8;

/// Adds a list to another. The longer one's memory is used on, unless that is far more than is needed.
pub fn append(to: &mut Vec<Closure>, mut list: Vec<Closure>) {
    if list.capacity() > to.capacity() {
        std::mem::swap(to, &mut list);
    }
    to.append(&mut list);
    if to.capacity() > FEW.max(SPARSE * to.len()) {
        to.shrink_to(FEW.max(2 * to.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(n: usize) -> Vec<Closure> {
        (0..n).map(Closure).collect()
    }

    #[test]
    fn lists_that_are_joined_lose_nothing() {
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
    fn memory_is_used_on_unless_it_is_far_too_much() {
        let mut few = Vec::with_capacity(FEW);
        append(&mut few, list(3));
        assert_eq!(few.capacity(), FEW);
        let mut many = list(100 * FEW);
        many.truncate(3);
        append(&mut many, list(2));
        assert!(many.len() == 5 && many.capacity() <= 2 * FEW, "{}", many.capacity());
    }
}
