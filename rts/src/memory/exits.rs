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

impl Exits {
    /// Lists an exit again by what it leads to now.
    unsafe fn list(&mut self, exit: Exit) {
        match leads(exit) {
            Leads::Out => {}
            Leads::Young => self.young.push(exit),
            Leads::Old => self.old.push(exit),
        }
    }
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

/// Shows exits that may lead to something young to `visit`, which may change them.
/// # Safety
/// The world is stopped.
pub unsafe fn visit_young(visit: &mut dyn FnMut(&mut Closure)) {
    let exits = &mut *unpoisoned(EXITS.lock());
    for exit in std::mem::take(&mut exits.young) {
        visit(&mut *(exit.0 as *mut Closure));
        exits.list(exit);
    }
}

/// A full collection has traced what reachable exits lead to, and cleared the others, if their blocks are not freed.
/// # Safety
/// The world is stopped.
pub unsafe fn retain(is_kept: impl Fn(*mut usize) -> bool) {
    let exits = &mut *unpoisoned(EXITS.lock());
    let mut listed = std::mem::take(&mut exits.young);
    // One that led to an old thunk may now lead to its value, which may be young.
    listed.append(&mut exits.old);
    listed.into_iter().filter(|exit| is_kept(exit.0)).for_each(|exit| exits.list(exit));
}

/// The addresses of all listed words.
/// # Safety
/// The world is stopped.
pub unsafe fn listed() -> Vec<usize> {
    let exits = unpoisoned(EXITS.lock());
    exits.young.iter().chain(&exits.old).map(|exit| exit.0 as usize).collect()
}
