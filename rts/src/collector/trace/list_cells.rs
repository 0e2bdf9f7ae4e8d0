//! Copying lists: cells that follow each other come to lie beside each other, with what they hold if that refers to
//! nothing.
//!
//! Of such cells nothing is left to scan; `prescanned.rs` remembers them.
use crate::abi::layout::*;
use crate::abi::{Info, TAG_MASK, WORD};
use crate::collector::trace::evacuate::{BOX_WORDS, FORWARDED};
use crate::collector::trace::prefetch;
use crate::collector::trace::worker::Worker;
use crate::memory::Age;

/// A list cell: header, head, tail.
const CONS_WORDS: usize = 3;
const CONS_HEAD: usize = 1;
const CONS_TAIL: usize = 2;
/// How many list cells are copied in a row if their heads refer to nothing, by one thread alone and by each of several:
/// the rest of a list is work that others can do.
const LIST_CELLS: usize = 256;
const LIST_CELLS_SHARED: usize = 32;

/// What has become of a list cell's head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    /// It is where it belongs, and not younger than the cell.
    Done,
    /// The scan will see to it: it is younger than the cell, large, or another thread's.
    Unsettled,
    /// It is still to be copied, with what it refers to.
    NeedsCopy,
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Copies a list cell, and those that follow right behind it: who walks along the
    /// list then walks along memory. Where heads are pairs or the like, cells and heads lie in turns
    /// instead, which scanning sees to. (For trees this would lose more by waiting for memory
    /// here than it gains: scanning fetches ahead what it will copy.)
    #[inline(never)]
    pub(in crate::collector) unsafe fn copy_list(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        tag: usize,
        age: u8,
    ) -> bool {
        let step = self.destination(age);
        let Some((to, head, tail)) = self.copy_cell(slot, from, header, tag, step) else { return false };
        self.note(age, CONS_WORDS);
        self.failed_to_evac |= step < self.owner;
        // The rest is a function of its own: where heads bring more, its registers need not be saved.
        if !self.brings_more(head) {
            self.copy_cells(from, to, head, tail, step);
        }
        true
    }

    /// Whether what a list cell holds is still to be copied and may refer to more: then it should
    /// lie beside its cell, for who walks along the list looks into both.
    #[inline(always)]
    unsafe fn brings_more(&self, p: usize) -> bool {
        if !self.in_heap(p) || !Age(self.age(p)).is_condemned_plain() {
            return false;
        }
        let header = self.header((p & !TAG_MASK) as *mut usize);
        header & FORWARDED == 0 && Info(header).kind() != CONSTR_0_1
    }

    /// Goes on with a list whose cell at `from` has been copied to `to`, and held `head` and `tail`. A cell whose head
    /// and tail have both been seen to need not be scanned.
    #[inline(never)]
    unsafe fn copy_cells(
        &mut self,
        mut from: *mut usize,
        mut to: *mut usize,
        mut head: usize,
        mut tail: usize,
        mut step: u8,
    ) {
        let start = to as usize;
        let mut settled = start;
        for _ in 1..if PARALLEL { LIST_CELLS_SHARED } else { LIST_CELLS } {
            let what = self.bring_head(to.add(CONS_HEAD), head, step);
            if what == Head::NeedsCopy || !self.in_heap(tail) {
                break;
            }
            let age = self.age(tail);
            let next = (tail & !TAG_MASK) as *mut usize;
            prefetch::further_cells(from as usize, next as usize);
            // The scan will see to what is not to be copied just so.
            if !Age(age).is_condemned_plain() || self.header(next) != self.cons_header {
                break;
            }
            step = step.max(self.dest[(age & 15) as usize]);
            let (before, slot) = (to as usize, to.add(CONS_TAIL));
            let Some(copied) = self.copy_cell(slot, next, self.cons_header, tail & TAG_MASK, step) else { break };
            self.note(age, CONS_WORDS);
            from = next;
            (to, head, tail) = copied;
            // Nothing but its head can lie between a cell and the next, unless that is elsewhere.
            let apart = (to as usize).wrapping_sub(before);
            if what == Head::Done && settled == before && apart <= (CONS_WORDS + BOX_WORDS) * WORD {
                settled = to as usize;
            }
        }
        if settled > start {
            self.settled.add(start, settled);
        }
    }

    /// Sees to what a list cell of this step holds, if that is nothing or refers to nothing.
    #[inline(always)]
    unsafe fn bring_head(&mut self, slot: *mut usize, p: usize, step: u8) -> Head {
        if !self.in_heap(p) {
            if MAJOR {
                self.reach_static(p);
            }
            return Head::Done;
        }
        let age = self.age(p);
        if !Age(age).is_condemned_plain() {
            let settled = age & Age::CONDEMNED == 0 && age & 15 >= step;
            return if settled { Head::Done } else { Head::Unsettled };
        }
        let c = (p & !TAG_MASK) as *mut usize;
        let (header, tag) = (self.header(c), p & TAG_MASK);
        if header & FORWARDED != 0 {
            let to = header - FORWARDED;
            *slot = to | tag;
            let younger = self.in_heap(to) && self.age(to) & 15 < step;
            return if younger { Head::Unsettled } else { Head::Done };
        }
        if Info(header).kind() != CONSTR_0_1 {
            return Head::NeedsCopy;
        }
        let step = step.max(self.dest[(age & 15) as usize]);
        if self.share(slot, c, header, tag) || self.copy_to::<BOX_WORDS>(slot, c, header, tag, age, step) {
            Head::Done
        } else {
            Head::Unsettled
        }
    }

    /// Copies a list cell; the copy, and what its head and tail were. Who goes on with these need not wait until they
    /// have been written.
    #[inline(always)]
    unsafe fn copy_cell(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        tag: usize,
        step: u8,
    ) -> Option<(*mut usize, usize, usize)> {
        let (head, tail) = (*from.add(CONS_HEAD), *from.add(CONS_TAIL));
        let to = self.alloc(step, CONS_WORDS);
        prefetch::for_copies(to as usize);
        *to = header;
        *to.add(CONS_HEAD) = head;
        *to.add(CONS_TAIL) = tail;
        if !self.forward(slot, from, header, to, tag) {
            self.take_back(step, CONS_WORDS);
            return None;
        }
        Some((to, head, tail))
    }
}
