//! What has been copied into a region, so that what is shared stays shared and cycles end.
//!
//! Objects outside the region are known by their addresses, which a collection changes. It
//! cannot happen but while a thunk is being evaluated, between two steps of copying. After one
//! the next step reads new addresses from the list of what was copied, which the collector keeps
//! up to date: those of what was young, or all if objects of old generations have moved too.
//!
//! The list is a chain of arrays, the newest first. Those that are full never change, so the
//! collector need not look at them again and again.
use crate::abi::closure::fields::*;
use crate::abi::Closure;
use crate::memory::heap;
use crate::prims::compact::table::{stays, Table};

/// Sources in an array of the list, which begins with the array before it.
const SOURCES: usize = 1000;
pub const FIRST: usize = 1;
pub const ARRAY_LENGTH: usize = FIRST + SOURCES;

#[derive(Default)]
pub struct Shared {
    table: Table,
    /// Where in the list those are that the next collection moves.
    recent: Vec<usize>,
    /// All copies, in the order of the list.
    copies: Vec<usize>,
    seen: Collections,
}

/// Collections so far.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Collections {
    all: usize,
    /// Those that moved more than young objects.
    old: usize,
}

impl Collections {
    unsafe fn so_far() -> Collections {
        let gens = &heap().gens;
        Collections { all: gens[0].collections, old: gens.get(1).map_or(0, |g| g.collections) }
    }
}

impl Shared {
    pub fn copy_of(&self, source: Closure) -> Option<Closure> {
        self.table.get(source)
    }
    /// Records a copy; the caller puts the source at the returned index of the newest array, of a new
    /// one if that is the first.
    pub fn add(&mut self, source: Closure, copy: Closure) -> usize {
        let i = self.copies.len();
        self.copies.push(copy.0);
        self.note(i, source);
        FIRST + i % SOURCES
    }
    fn note(&mut self, i: usize, source: Closure) {
        self.table.insert(source, Closure(self.copies[i]));
        if !stays(source) {
            self.recent.push(i);
        }
    }
    /// Begins a step.
    /// # Safety
    /// The caller holds a HEC; `newest` is the newest array of sources, if there are any.
    pub unsafe fn resume(&mut self, newest: Closure) {
        let before = std::mem::replace(&mut self.seen, Collections::so_far());
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
