//! The export memo: which fixed object stands for a local one.
//!
//! *Protocol*
//!
//! 1. An export records the copy, or the cell, that stands for a local object. Later exports find it, so sharing is
//!    kept between packets.
//! 2. At its next collection a local constructor, function or PAP is forwarded to its copy, as to one that the
//!    collection has made ([`Memo::show_copies`]). Copies are identical, so until then both may be used.
//! 3. Other objects move, and the memo follows them ([`Memo::update`]). Dead ones are forgotten, copies are not.
use crate::abi::Closure;
use crate::collector::roots::IsAlive;
use crate::memory::fixed_blocks::is_fixed;
use crate::memory::heap;
use crate::prims::compact::table::{is_old_or_static, Table};
use crate::spread::cell::is_cell;

/// A local object, and what stands for it.
#[derive(Clone, Copy)]
struct Entry {
    local: Closure,
    fixed: Closure,
}

#[derive(Default)]
pub struct Memo {
    table: Table,
    /// Entries of objects that every collection moves, and of others.
    young: Vec<Entry>,
    old: Vec<Entry>,
    /// Collections so far of old generations, as seen last.
    old_collections: usize,
}

impl Memo {
    #[inline(always)]
    pub fn get(&self, local: Closure) -> Option<Closure> {
        self.table.get(local)
    }

    pub fn add(&mut self, local: Closure, fixed: Closure) {
        self.table.insert(local, fixed);
        let list = if is_old_or_static(local) { &mut self.old } else { &mut self.young };
        list.push(Entry { local, fixed });
    }

    /// Calls `show` with each local object and what stands for it.
    pub fn show_copies(&self, show: &mut dyn FnMut(Closure, Closure)) {
        self.young.iter().chain(&self.old).for_each(|entry| show(entry.local, entry.fixed));
    }

    /// Follows the objects that a collection has moved.
    /// # Safety
    /// The world is stopped, and tracing done.
    pub unsafe fn update(&mut self, is_alive: &mut IsAlive) {
        let mut moved = std::mem::take(&mut self.young);
        self.table.forget_young();
        let collections = heap().gens[1..].iter().map(|gen| gen.collections).sum();
        if std::mem::replace(&mut self.old_collections, collections) != collections {
            moved.append(&mut self.old);
            self.table.forget_heap();
        }
        // A value may have a copy, and a cell that stood for its thunk.
        let (cells, copies): (Vec<Entry>, Vec<Entry>) = moved.into_iter().partition(|entry| is_cell(entry.fixed));
        for entry in copies.into_iter().chain(cells) {
            let Some(now) = is_alive(entry.local).map(Closure::untag) else { continue };
            // One that was forwarded to its copy needs no entry.
            if !is_fixed(now) && self.table.get(now).is_none() {
                self.add(now, entry.fixed);
            }
        }
    }
}
