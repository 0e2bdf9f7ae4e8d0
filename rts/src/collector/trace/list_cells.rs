//! Copies lists: consecutive cells come to lie side by side, each with its head if that refers to nothing.
//!
//! *Protocol*
//! 1. A worker copies a cell, then its head if that refers to nothing, then the cell that its tail refers to, and so
//!    on.
//! 2. It stops where the head needs a copy and may refer to more, where the list ends, or after a number of cells.
//! 3. Cells whose head and tail are both evacuated need no scavenging. They form ranges in [`super::prescanned`].
//!
//! *Checked by*: the unit test `old_cells_remember_younger_heads`.
use crate::abi::layout::*;
use crate::abi::{Info, TAG_MASK, WORD};
use crate::collector::trace::evacuate::BOX_WORDS;
use crate::collector::trace::header::FORWARDED;
use crate::collector::trace::prefetch;
use crate::collector::trace::worker::Worker;
use crate::memory::Age;

/// Words of a list cell: header, head, tail.
const CONS_WORDS: usize = 3;
/// Index of the head.
const CONS_HEAD: usize = 1;
/// Index of the tail.
const CONS_TAIL: usize = 2;
/// Cells copied in a row by a single worker, if their heads refer to nothing.
const LIST_CELLS: usize = 256;
/// The same for each of several workers. The rest of a list is work that others can do.
const LIST_CELLS_SHARED: usize = 32;

/// The state of a list cell's head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    /// It is evacuated, and not younger than the cell.
    Done,
    /// Scavenging must look at it: it is younger than the cell, large, or another worker's.
    NeedsScan,
    /// It is still to be copied, with what it refers to.
    NeedsCopy,
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Copies a list cell and those that follow it, so that a walk along the list is a walk along memory. Where heads
    /// are pairs or the like, cells and heads should alternate instead, which scavenging achieves. (For trees this
    /// would lose more by cache misses than it gains: scavenging prefetches what it will copy.)
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
        self.count_copied(age, CONS_WORDS);
        self.failed_to_evac |= step < self.owner_gen;
        // The rest is a function of its own, whose registers need not be saved where heads lead to more.
        if !self.may_lead_to_more(head) {
            self.copy_cells(from, to, head, tail, step);
        }
        true
    }

    /// Is the head of a list cell still to be copied, and may it refer to more? Then it should lie beside its cell,
    /// because a walk along the list reads both.
    #[inline(always)]
    unsafe fn may_lead_to_more(&self, p: usize) -> bool {
        if !self.in_heap(p) || !Age(self.age(p)).is_condemned_plain() {
            return false;
        }
        let header = self.header((p & !TAG_MASK) as *mut usize);
        header & FORWARDED == 0 && Info(header).kind() != CONSTR_0_1
    }

    /// Continues a list whose cell at `from` has been copied to `to` and held `head` and `tail`. A cell whose head and
    /// tail are both evacuated need not be scavenged.
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
        let mut scanned_up_to = start;
        for _ in 1..if PARALLEL { LIST_CELLS_SHARED } else { LIST_CELLS } {
            let what = self.evacuate_head(to.add(CONS_HEAD), head, step);
            if what == Head::NeedsCopy || !self.in_heap(tail) {
                break;
            }
            let age = self.age(tail);
            let next = (tail & !TAG_MASK) as *mut usize;
            prefetch::next_cells(from as usize, next as usize);
            // Scavenging handles what is no plain copy.
            if !Age(age).is_condemned_plain() || self.header(next) != self.cons_header {
                break;
            }
            step = step.max(self.dest[(age & 15) as usize]);
            let (before, slot) = (to as usize, to.add(CONS_TAIL));
            let Some(copied) = self.copy_cell(slot, next, self.cons_header, tail & TAG_MASK, step) else { break };
            self.count_copied(age, CONS_WORDS);
            from = next;
            (to, head, tail) = copied;
            // Nothing but its head can lie between a cell and the next, unless the next is elsewhere.
            let apart = (to as usize).wrapping_sub(before);
            if what == Head::Done && scanned_up_to == before && apart <= (CONS_WORDS + BOX_WORDS) * WORD {
                scanned_up_to = to as usize;
            }
        }
        if scanned_up_to > start {
            self.prescanned.add(start, scanned_up_to);
        }
    }

    /// Evacuates the head of a list cell of this step, if the head refers to nothing.
    #[inline(always)]
    unsafe fn evacuate_head(&mut self, slot: *mut usize, p: usize, step: u8) -> Head {
        if !self.in_heap(p) {
            if MAJOR {
                self.reach_static(p);
            }
            return Head::Done;
        }
        let age = self.age(p);
        if !Age(age).is_condemned_plain() {
            let is_done = age & Age::CONDEMNED == 0 && age & 15 >= step;
            return if is_done { Head::Done } else { Head::NeedsScan };
        }
        let c = (p & !TAG_MASK) as *mut usize;
        let (header, tag) = (self.header(c), p & TAG_MASK);
        if header & FORWARDED != 0 {
            let to = header - FORWARDED;
            *slot = to | tag;
            let younger = self.in_heap(to) && self.age(to) & 15 < step;
            return if younger { Head::NeedsScan } else { Head::Done };
        }
        if Info(header).kind() != CONSTR_0_1 {
            return Head::NeedsCopy;
        }
        let step = step.max(self.dest[(age & 15) as usize]);
        if self.share(slot, c, header, tag) || self.copy_to::<BOX_WORDS>(slot, c, header, tag, age, step) {
            Head::Done
        } else {
            Head::NeedsScan
        }
    }

    /// Copies a list cell. Returns the copy, and its old head and tail. The caller can continue with these before they
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
            self.undo_alloc(step, CONS_WORDS);
            return None;
        }
        Some((to, head, tail))
    }
}
