//! The export memo: which fixed object stands for a local one.
//!
//! *Protocol*
//!
//! 1. An export records the copy, or the cell, that stands for a local object. Later exports find it, so sharing is
//!    kept between packets.
//! 2. At its next collection a local constructor, function or PAP is forwarded to its copy, as to one that the
//!    collection has made ([`Memo::show_copies`]). Copies are identical, so until then both may be used. A full
//!    collection forwards to copies only to which others refer.
//! 3. Other objects move, and the memo follows them ([`Memo::update`]). Dead ones are forgotten, and so are those whose
//!    copies are dead.
//!
//! The table alone has the entries: a list beside it would take as many bytes as the packet.
use crate::abi::{Closure, WORD};
use crate::collector::roots::IsAlive;
use crate::memory::address_space::is_own;
use crate::memory::fixed_blocks::is_fixed;
use crate::memory::{age_of, heap};
use crate::prims::compact::table::Table;
use crate::spread::cell::is_cell;

/// Set in an entry whose local object begins at the second of the words that share a slot.
const SECOND: usize = 1;

#[derive(Default)]
pub struct Memo {
    table: Table,
    /// Collections so far of old generations, as seen last.
    old_collections: usize,
}

/// The local object and the fixed one of an entry.
fn objects(slot: usize, entry: Closure) -> (Closure, Closure) {
    (Closure(slot + (entry.0 & SECOND) * WORD), Closure(entry.0 & !SECOND))
}

impl Memo {
    #[inline(always)]
    pub fn get(&self, local: Closure) -> Option<Closure> {
        self.table.get(local).map(|entry| Closure(entry.0 & !SECOND))
    }

    #[inline(always)]
    pub fn add(&mut self, local: Closure, fixed: Closure) {
        debug_assert!(is_own(local.0));
        self.table.insert(local, Closure(fixed.0 | ((local.0 / WORD) & SECOND)));
    }

    /// Forgets what stands for an object.
    pub fn forget(&mut self, local: Closure) {
        self.table.remove(local);
    }

    /// Calls `show` with each condemned object and what stands for it.
    pub fn show_copies(&self, show: &mut dyn FnMut(Closure, Closure)) {
        self.table.each(
            |block| age_of(block).is_condemned_plain(),
            |slot, entry| {
                let (local, fixed) = objects(slot, entry);
                show(local, fixed);
            },
        );
    }

    /// Follows the objects that a collection has moved.
    /// # Safety
    /// The world is stopped, and tracing done.
    pub unsafe fn update(&mut self, is_alive: &mut IsAlive) {
        let (mut copies, mut cells) = (Vec::new(), Vec::new());
        let mut moved = |slot, entry| {
            let (local, fixed) = objects(slot, entry);
            // A value may have a copy, and a cell that stood for its thunk.
            if is_cell(fixed) { &mut cells } else { &mut copies }.push((local, fixed));
        };
        let collections = heap().gens[1..].iter().map(|gen| gen.collections).sum();
        if std::mem::replace(&mut self.old_collections, collections) != collections {
            self.table.each(|_| true, moved);
            self.table.forget_heap();
        } else {
            self.table.each_young(&mut moved);
            self.table.forget_young();
        }
        for (local, fixed) in copies.into_iter().chain(cells) {
            let (Some(now), Some(_)) = (is_alive(local).map(Closure::untag), is_alive(fixed)) else { continue };
            // One that was forwarded to its copy needs no entry.
            if !is_fixed(now) && self.get(now).is_none() {
                self.add(now, fixed);
            }
        }
    }
}
