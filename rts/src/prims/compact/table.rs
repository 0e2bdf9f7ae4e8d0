//! A table of copies, by the addresses of their sources.
//!
//! Each block of the heap with a source has a *page* of slots. Each pair of words in the block has a slot, because no
//! object is smaller. Objects that lie side by side are mostly copied one after the other, and their slots are side by
//! side too. In a hash table, each of them would be a cache miss.
use crate::abi::{Closure, WORD};
use crate::memory::address_space::{base, block_index, first_block, is_own, BLOCK_BYTES};
use crate::memory::{age_of, in_heap};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of the smallest object.
const SLOT_BYTES: usize = 2 * WORD;
const SLOTS: usize = BLOCK_BYTES / SLOT_BYTES;

/// Addresses of copies; null where there is no copy.
type Page = [usize; SLOTS];

/// Hashes addresses of objects.
#[derive(Default)]
pub struct ByAddress(u64);

impl Hasher for ByAddress {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are words")
    }
    fn write_usize(&mut self, n: usize) {
        let h = (n as u64 / WORD as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = h ^ h >> 32;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Is this object static, or moved only by a collection of an old generation?
pub fn is_old_or_static(source: Closure) -> bool {
    !in_heap(source.0) || age_of(source.0).is_old()
}

#[derive(Default)]
pub struct Table {
    /// By index of the block in this process's slice.
    pages: Vec<Option<Box<Page>>>,
    /// Blocks with a page whose objects the next collection moves.
    young: Vec<usize>,
    /// Copies of objects that are static, or fixed in the slices of others. These may lie anywhere, never move, and are
    /// few compared with those that a program makes.
    elsewhere: HashMap<usize, usize, BuildHasherDefault<ByAddress>>,
}

/// The number of the page for the block that holds an address of this process's slice.
fn page_of(source: usize) -> usize {
    block_index(source) - first_block()
}

/// Where the block of a page starts.
fn start_of(page: usize) -> usize {
    base() + (first_block() + page) * BLOCK_BYTES
}

fn slot_of(source: usize) -> usize {
    source % BLOCK_BYTES / SLOT_BYTES
}

impl Table {
    pub fn get(&self, source: Closure) -> Option<Closure> {
        if !is_own(source.0) {
            return self.elsewhere.get(&source.0).map(|&copy| Closure(copy));
        }
        let page = self.pages.get(page_of(source.0))?.as_ref()?;
        let copy = Closure(page[slot_of(source.0)]);
        (!copy.is_null()).then_some(copy)
    }

    pub fn insert(&mut self, source: Closure, copy: Closure) {
        if !is_own(source.0) {
            self.elsewhere.insert(source.0, copy.0);
            return;
        }
        let block = page_of(source.0);
        match self.pages.get_mut(block) {
            Some(Some(page)) => page[slot_of(source.0)] = copy.0,
            _ => self.new_page(source)[slot_of(source.0)] = copy.0,
        }
    }

    /// Forgets an object.
    pub fn remove(&mut self, source: Closure) {
        if !is_own(source.0) {
            self.elsewhere.remove(&source.0);
        } else if let Some(Some(page)) = self.pages.get_mut(page_of(source.0)) {
            page[slot_of(source.0)] = 0;
        }
    }

    #[cold]
    fn new_page(&mut self, source: Closure) -> &mut Page {
        let block = page_of(source.0);
        if block >= self.pages.len() {
            self.pages.resize_with(block + 1, || None);
        }
        if !is_old_or_static(source) {
            self.young.push(block);
        }
        self.pages[block].insert(Box::new([0; SLOTS]))
    }

    /// Calls `f` with the address of each slot of this process's objects in blocks that are wanted, by their start, and
    /// with the copy that it has.
    pub fn each(&self, is_wanted: impl Fn(usize) -> bool, mut f: impl FnMut(usize, Closure)) {
        for block in 0..self.pages.len() {
            if self.pages[block].is_some() && is_wanted(start_of(block)) {
                self.each_of(block, &mut f);
            }
        }
    }

    /// As [`Table::each`], for blocks whose objects the next collection moves.
    pub fn each_young(&self, mut f: impl FnMut(usize, Closure)) {
        self.young.iter().for_each(|&block| self.each_of(block, &mut f));
    }

    fn each_of(&self, block: usize, f: &mut impl FnMut(usize, Closure)) {
        let Some(page) = &self.pages[block] else { return };
        let start = start_of(block);
        let copies = page.iter().enumerate().filter(|(_, &copy)| copy != 0);
        copies.for_each(|(slot, &copy)| f(start + slot * SLOT_BYTES, Closure(copy)));
    }

    /// Forgets objects that a collection of the youngest generation has moved.
    pub fn forget_young(&mut self) {
        for block in self.young.drain(..) {
            self.pages[block] = None;
        }
    }

    /// Forgets all objects that some collection may move.
    pub fn forget_heap(&mut self) {
        self.pages.clear();
        self.young.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::symbols as t;
    use crate::testing::world::World;

    /// A possible address of a copy.
    fn copy(n: usize) -> Closure {
        Closure((n + 1) * SLOT_BYTES)
    }

    /// Cells and boxes at odd and even words, in more than one block.
    fn sources(w: &mut World) -> Vec<Closure> {
        let heads: Vec<_> = (1000..3000).map(|i| w.int(i)).collect();
        let cells: Vec<_> = heads.iter().map(|&head| w.cons(head, t::nil())).collect();
        heads.into_iter().chain(cells).map(Closure::untag).collect()
    }

    #[test]
    fn each_object_has_a_slot_of_its_own() {
        let mut w = World::new(2);
        let mut table = Table::default();
        let all = sources(&mut w);
        for (n, &source) in all.iter().enumerate() {
            assert_eq!(table.get(source), None);
            table.insert(source, copy(n));
        }
        for (n, &source) in all.iter().enumerate() {
            assert_eq!(table.get(source), Some(copy(n)));
        }
    }

    #[test]
    fn moved_objects_are_forgotten() {
        let mut w = World::new(2);
        let mut table = Table::default();
        let cell = w.cons(t::nil(), t::nil());
        let old = w.old(cell).untag();
        let young = w.int(1000).untag();
        let all = [young, old, t::nil().untag()];
        let known = |table: &Table| all.map(|source| table.get(source).is_some());
        for (n, &source) in all.iter().enumerate() {
            table.insert(source, copy(n));
        }
        assert_eq!(known(&table), [true; 3]);
        table.forget_young();
        assert_eq!(known(&table), [false, true, true]);
        table.insert(young, copy(0));
        table.forget_heap();
        assert_eq!(known(&table), [false, false, true]);
    }
}
