//! Exits: the pointers from fixed objects to local ones, which move.
//!
//! *Invariants*
//!
//! - Only cells have exits: objects of a header and a pointer. A cell with an exit is on one of two lists, which keep
//!   apart those that lead to the oldest generation. A cell that leads to a fixed or static object may still be listed
//!   until the next visit.
//! - Nothing but the runtime writes cells, so compiled code needs no write barrier for them.
//!
//! *Locking*: the lists have a lock. The collector visits them with the world stopped.
use crate::abi::closure::fields::INDIRECTEE;
use crate::abi::Closure;
use crate::base::poison::unpoisoned;
use crate::memory::{age_of, heap, in_heap};
use std::sync::Mutex;

#[derive(Default)]
struct Exits {
    /// Cells that may lead to something younger than the oldest generation.
    young: Vec<Closure>,
    old: Vec<Closure>,
}

static EXITS: Mutex<Exits> = Mutex::new(Exits { young: Vec::new(), old: Vec::new() });

/// Lists a cell that leads to a local object.
pub fn add(cell: Closure) {
    unpoisoned(EXITS.lock()).young.push(cell);
}

/// Forgets all cells, because the heap is empty.
#[cfg(test)]
pub fn clear() {
    *unpoisoned(EXITS.lock()) = Exits::default();
}

/// Where an exit leads to now.
enum Leads {
    Out,
    Young,
    Old,
}

unsafe fn leads(cell: Closure) -> Leads {
    let target = cell.word(INDIRECTEE);
    match in_heap(target).then(|| age_of(target)) {
        None => Leads::Out,
        Some(age) if age.is_fixed() => Leads::Out,
        Some(age) if age.generation() == heap().oldest() => Leads::Old,
        Some(_) => Leads::Young,
    }
}

/// Shows exits to `visit`, which may change them: `all`, or those that may lead to something young.
/// # Safety
/// The world is stopped.
pub unsafe fn visit(visit: &mut dyn FnMut(&mut Closure), all: bool) {
    let exits = &mut *unpoisoned(EXITS.lock());
    let mut show = |cell: &Closure| visit(&mut *(cell.slot(INDIRECTEE) as *mut Closure));
    let mut shown = std::mem::take(&mut exits.young);
    if all {
        // One that led to an old thunk may now lead to its value, which may be young.
        shown.append(&mut exits.old);
    }
    for cell in shown {
        show(&cell);
        match leads(cell) {
            Leads::Out => {}
            Leads::Young => exits.young.push(cell),
            Leads::Old => exits.old.push(cell),
        }
    }
}

/// All listed cells.
/// # Safety
/// The world is stopped.
pub unsafe fn listed() -> Vec<Closure> {
    let exits = unpoisoned(EXITS.lock());
    exits.young.iter().chain(&exits.old).copied().collect()
}
