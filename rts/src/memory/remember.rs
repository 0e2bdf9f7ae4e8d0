//! Remembered sets: old objects that may point to younger ones.
//!
//! Each HEC keeps one list per generation. An object may be listed twice; the collector copes.
//! Mutable arrays stay listed for as long as they are mutable, because compiled code marks
//! their cards without telling us; other objects are listed when they turn dirty.
use super::space::{age_of, in_heap};
use crate::contract::Closure;

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
