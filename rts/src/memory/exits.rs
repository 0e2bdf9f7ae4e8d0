//! Exits: the pointers from fixed objects to local ones, which move.
//!
//! *Invariants*
//!
//! - An exit is a word of a fixed object. It is on one of two lists, which keep apart those that lead to the oldest
//!   generation. One that leads to a fixed or static object by now may still be listed until the next visit.
//! - Nothing but the runtime writes exits, so compiled code needs no write barrier for them.
//!
//! *Locking*: the lists have a lock. The collector visits them with the world stopped.
use crate::abi::Closure;
use crate::base::poison::unpoisoned;
use crate::memory::{age_of, heap, in_heap};
use std::sync::Mutex;

#[derive(Default)]
struct Exits {
    /// Those that may lead to something younger than the oldest generation.
    young: Vec<Exit>,
    old: Vec<Exit>,
}

#[derive(Clone, Copy)]
struct Exit(*mut usize);

// SAFETY: the lists have a lock, and the words are written with the world stopped, or under the export lock.
unsafe impl Send for Exit {}

static EXITS: Mutex<Exits> = Mutex::new(Exits { young: Vec::new(), old: Vec::new() });

/// Lists a word that leads to a local object.
pub fn add(slot: *mut usize) {
    unpoisoned(EXITS.lock()).young.push(Exit(slot));
}

/// Forgets all exits, because the heap is empty.
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

unsafe fn leads(exit: Exit) -> Leads {
    let target = *exit.0;
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
    let mut shown = std::mem::take(&mut exits.young);
    if all {
        // One that led to an old thunk may now lead to its value, which may be young.
        shown.append(&mut exits.old);
    }
    for exit in shown {
        visit(&mut *(exit.0 as *mut Closure));
        match leads(exit) {
            Leads::Out => {}
            Leads::Young => exits.young.push(exit),
            Leads::Old => exits.old.push(exit),
        }
    }
}

/// The addresses of all listed words.
/// # Safety
/// The world is stopped.
pub unsafe fn listed() -> Vec<usize> {
    let exits = unpoisoned(EXITS.lock());
    exits.young.iter().chain(&exits.old).map(|exit| exit.0 as usize).collect()
}
