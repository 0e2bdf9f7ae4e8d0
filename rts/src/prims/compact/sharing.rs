//! The record of what was copied into a region: it preserves sharing, and lets copying of cycles end.
//!
//! *Protocol*
//!
//! 1. Objects outside the region are identified by their addresses, which a collection changes.
//! 2. A collection can only happen while a thunk is evaluated, between two steps of copying. The next step then reads
//!    new addresses from the list of copied objects, which the collector updates.
//! 3. It reads the addresses of objects that were young, or of all objects if old generations were collected too.
//!
//! *Invariants*
//!
//! - The list is a chain of arrays, the newest one first. Full arrays never change, so the collector does not scan them
//!   repeatedly.
use crate::abi::closure::fields::*;
use crate::abi::Closure;
use crate::memory::heap;
use crate::prims::compact::table::{is_old_or_static, Table};

/// Sources in an array of the list (8 KB): few arrays, each below the size of a large object. Element 0 is the previous
/// array.
const SOURCES: usize = 1000;
pub const FIRST: usize = 1;
pub const ARRAY_LENGTH: usize = FIRST + SOURCES;

#[derive(Default)]
pub struct Shared {
    table: Table,
    /// Positions in the list of the objects that the next collection moves.
    recent: Vec<usize>,
    /// All copies, in the order of the list.
    copies: Vec<usize>,
    seen: Collections,
}

/// Numbers of collections so far.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Collections {
    all: usize,
    /// Collections that moved more than young objects.
    old: usize,
}

impl Collections {
    unsafe fn now() -> Collections {
        let gens = &heap().gens;
        Collections { all: gens[0].collections, old: gens.get(1).map_or(0, |g| g.collections) }
    }
}

impl Shared {
    pub fn copy_of(&self, source: Closure) -> Option<Closure> {
        self.table.get(source)
    }
    /// Records a copy. The caller stores the source at the returned index of the newest array; at the first index, in a
    /// new array.
    pub fn add(&mut self, source: Closure, copy: Closure) -> usize {
        let i = self.copies.len();
        self.copies.push(copy.0);
        self.note(i, source);
        FIRST + i % SOURCES
    }
    fn note(&mut self, i: usize, source: Closure) {
        self.table.insert(source, Closure(self.copies[i]));
        if !is_old_or_static(source) {
            self.recent.push(i);
        }
    }
    /// Begins a step: updates the addresses if there was a collection.
    /// # Safety
    /// The caller holds a HEC. `newest` is the newest array of sources, if there is one.
    pub unsafe fn resume(&mut self, newest: Closure) {
        let before = std::mem::replace(&mut self.seen, Collections::now());
        if self.seen == before {
            return;
        }
        self.table.forget_young();
        let mut moved = std::mem::take(&mut self.recent);
        if self.seen.old != before.old {
            self.table.forget_heap();
            moved = (0..self.copies.len()).collect();
        }
        let mut array = newest;
        let mut first = self.copies.len().saturating_sub(1) / SOURCES * SOURCES;
        for i in moved.into_iter().rev() {
            while i < first {
                array = array.field(SMALL_ARR_PAYLOAD);
                first -= SOURCES;
            }
            self.note(i, array.field(SMALL_ARR_PAYLOAD + FIRST + i - first));
        }
        self.recent.reverse();
    }
}
