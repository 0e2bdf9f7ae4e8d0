//! Evacuation: given a slot, see to it that what it refers to survives, and update the slot.
//!
//! A pointer outside the heap, or to an object that is not condemned, costs a range test and a
//! byte load. A condemned small object is copied to the step its age asks for, or to the
//! owner's if that is older (eager promotion), and its header becomes the new address with bit
//! 0 set. Indirections are skipped, small boxed integers and characters replaced by the shared
//! static ones, selector thunks evaluated if their selectee is (`selector.rs`).
//! `failed` records that the referent ended up younger than the owner. Where several threads
//! evacuate at once (`claim.rs`), one that finds that it was second looks at the object anew.
use super::worker::Worker;
use crate::contract::closure::fields::*;
use crate::contract::{layout::*, Closure, Info, TAG_MASK, WORD};
use crate::memory::object::size_of_object;
use crate::memory::{Age, BLOCK_LOG};
use crate::observe::fatal;
use std::ptr;

/// How many integers, from `MIN_INTLIKE` (which is negative) up, have a shared closure.
const SHARED_INTS: usize = MAX_INTLIKE.wrapping_sub(MIN_INTLIKE) + 1;
/// A shared closure is a header and a value.
const SHARED_BYTES: usize = 2 * WORD;

/// A list cell: header, head, tail.
const CONS_WORDS: usize = 3;
const CONS_TAIL: usize = 2;
/// A selector thunk: header, spare word, selectee.
const SELECTOR_WORDS: usize = 3;
/// How many list cells are copied in a row: as much as stays in the caches until their heads
/// are scanned.
const LIST_CELLS: usize = 32;

/// The forwarding mark in a header.
pub(super) const FORWARDED: usize = 1;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    #[inline(always)]
    pub(super) fn in_heap(&self, p: usize) -> bool {
        p.wrapping_sub(self.base) < self.bytes
    }

    /// The age byte of a heap address.
    #[inline(always)]
    pub(super) unsafe fn age(&self, p: usize) -> u8 {
        *(self.ages.wrapping_add(p >> BLOCK_LOG) as *const u8)
    }

    /// # Safety
    /// `slot` holds a closure pointer.
    #[inline(always)]
    pub(super) unsafe fn evacuate(&mut self, slot: *mut usize) {
        let p = *slot;
        if !self.in_heap(p) {
            if MAJOR {
                self.reach_static(p);
            }
            return;
        }
        let age = self.age(p);
        if age & Age::CONDEMNED == 0 {
            self.failed |= (age & 15) < self.owner;
            return;
        }
        self.save(slot, p, age);
    }

    /// Evacuates the field `i` of an object.
    #[inline(always)]
    pub(super) unsafe fn field(&mut self, c: *mut usize, i: usize) {
        self.evacuate(c.add(i))
    }

    /// Evacuates fields `from..to` of an object.
    #[inline(always)]
    pub(super) unsafe fn fields(&mut self, c: *mut usize, from: usize, to: usize) {
        for i in from..to {
            self.evacuate(c.add(i));
        }
    }

    /// Evacuates a condemned object.
    #[inline(never)]
    unsafe fn save(&mut self, slot: *mut usize, mut p: usize, mut age: u8) {
        // Ends it, if the copy has become the object.
        macro_rules! copied {
            ($copy:expr) => {{
                let won = $copy;
                if PARALLEL && !won {
                    continue;
                }
                return;
            }};
        }
        loop {
            let c = (p & !TAG_MASK) as *mut usize;
            if age & (Age::LARGE | Age::PINNED | Age::COMPACT) != 0 {
                *slot = p;
                return self.save_in_place(p, age);
            }
            let header = self.header(c);
            if header & FORWARDED != 0 {
                let to = header - FORWARDED;
                *slot = to | (p & TAG_MASK);
                if self.owner > 1 && self.in_heap(to) {
                    self.failed |= (self.age(to) & 15) < self.owner;
                }
                return;
            }
            let info = Info(header);
            let tag = p & TAG_MASK;
            p = match info.kind() {
                CONSTR_0_1 => {
                    if let Some(shared) = self.shared(header, *c.add(1)) {
                        *c = shared | FORWARDED;
                        *slot = shared | tag;
                        return;
                    }
                    copied!(self.copy_fixed::<2>(slot, c, header, tag, age));
                }
                CONSTR_1_0 | FUN_1_0 | FUN_0_1 | MUT_VAR_CLEAN | MUT_VAR_DIRTY => {
                    copied!(self.copy_fixed::<2>(slot, c, header, tag, age))
                }
                CONSTR_2_0 if header == self.cons_header => {
                    copied!(self.copy_list(slot, c, header, tag, age))
                }
                CONSTR_2_0 | CONSTR_1_1 | CONSTR_0_2 | FUN_2_0 | FUN_1_1 | FUN_0_2
                | THUNK_1_0 | THUNK_0_1 => {
                    copied!(self.copy_fixed::<3>(slot, c, header, tag, age))
                }
                THUNK_2_0 | THUNK_1_1 | THUNK_0_2 => {
                    copied!(self.copy_fixed::<4>(slot, c, header, tag, age))
                }
                CONSTR | CONSTR_NOCAF | FUN => {
                    let words = 1 + info.ptrs() + info.nptrs();
                    copied!(self.copy(slot, c, header, tag, age, words))
                }
                THUNK => {
                    let words = THUNK_PAYLOAD + info.ptrs() + info.nptrs();
                    copied!(self.copy(slot, c, header, tag, age, words));
                }
                IND | BLACKHOLE => match self.value_of_blackhole(c) {
                    Some(value) => value,
                    None => copied!(self.copy_fixed::<2>(slot, c, header, tag, age)),
                },
                THUNK_SELECTOR => match self.select(Closure(c as usize), header) {
                    Some(value) => value,
                    // It has been copied on the way, or is another thread's.
                    None => continue,
                },
                STACK => copied!(self.copy_stack(slot, c, header, age)),
                WHITEHOLE if PARALLEL => {
                    self.wait_for_claim(c, header);
                    continue;
                }
                _ => {
                    let words = size_of_object(Closure(c as usize), info);
                    copied!(self.copy(slot, c, header, tag, age, words));
                }
            };
            if !self.in_heap(p) {
                *slot = p;
                if MAJOR {
                    self.reach_static(p);
                }
                return;
            }
            age = self.age(p);
            if age & Age::CONDEMNED == 0 {
                *slot = p;
                self.failed |= (age & 15) < self.owner;
                return;
            }
        }
    }

    /// Evacuates without skipping anything: what an update frame or a queue of waiters names
    /// must stay an object of its own, for it will be overwritten.
    pub(super) unsafe fn evacuate_as_is(&mut self, slot: *mut usize) {
        let p = *slot;
        if self.in_heap(p) {
            let age = self.age(p);
            let plain = age & (Age::LARGE | Age::PINNED | Age::COMPACT) == 0;
            if age & Age::CONDEMNED != 0 && plain && self.save_as_is(slot, p, age) {
                return;
            }
        }
        self.evacuate(slot)
    }

    /// Copies an object that evacuation might skip. False if it would not.
    unsafe fn save_as_is(&mut self, slot: *mut usize, p: usize, age: u8) -> bool {
        let c = (p & !TAG_MASK) as *mut usize;
        loop {
            let header = self.header(c);
            if header & FORWARDED != 0 {
                return false;
            }
            let won = match Info(header).kind() {
                IND | BLACKHOLE => self.copy_fixed::<2>(slot, c, header, 0, age),
                THUNK_SELECTOR => self.copy_fixed::<SELECTOR_WORDS>(slot, c, header, 0, age),
                WHITEHOLE if PARALLEL => {
                    self.wait_for_claim(c, header);
                    false
                }
                _ => return false,
            };
            if !PARALLEL || won {
                return true;
            }
        }
    }

    /// The step that a survivor from a block of this age goes to.
    #[inline(always)]
    fn destination(&self, age: u8) -> u8 {
        self.dest[(age & 15) as usize].max(self.promote_to)
    }

    #[inline(always)]
    unsafe fn copy_fixed<const WORDS: usize>(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        tag: usize,
        age: u8,
    ) -> bool {
        let step = self.destination(age);
        let to = self.alloc(step, WORDS);
        *(to as *mut [usize; WORDS]) = *(from as *const [usize; WORDS]);
        if !self.forward(slot, from, header, to, tag) {
            self.take_back(step, WORDS);
            return false;
        }
        self.failed |= step < self.owner;
        true
    }

    #[inline(always)]
    unsafe fn copy(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        tag: usize,
        age: u8,
        words: usize,
    ) -> bool {
        let step = self.destination(age);
        let to = self.alloc(step, words);
        // Fixed sizes beat a call, or a loop, for what is common.
        macro_rules! words {
            ($n:literal) => {
                *(to as *mut [usize; $n]) = *(from as *const [usize; $n])
            };
        }
        match words {
            2 => words!(2),
            3 => words!(3),
            4 => words!(4),
            5 => words!(5),
            6 => words!(6),
            7 => words!(7),
            8 => words!(8),
            _ => ptr::copy_nonoverlapping(from, to, words),
        }
        if !self.forward(slot, from, header, to, tag) {
            self.take_back(step, words);
            return false;
        }
        self.failed |= step < self.owner;
        true
    }

    /// Copies a list cell, and some of those that follow right behind it: who walks along the
    /// list then walks along memory. (For trees this would lose more by waiting for memory
    /// here than it gains: scanning fetches ahead what it will copy.)
    #[inline(never)]
    unsafe fn copy_list(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        tag: usize,
        age: u8,
    ) -> bool {
        let mut step = self.destination(age);
        let Some(mut to) = self.copy_cell(slot, from, header, tag, step) else { return false };
        self.failed |= step < self.owner;
        for _ in 1..LIST_CELLS {
            let slot = to.add(CONS_TAIL);
            let p = *slot;
            if !self.in_heap(p) {
                return true;
            }
            let age = self.age(p);
            let from = (p & !TAG_MASK) as *mut usize;
            // The scan will see to what is not to be copied just so.
            if !Age(age).is_condemned_plain() || self.header(from) != self.cons_header {
                return true;
            }
            step = step.max(self.dest[(age & 15) as usize]);
            match self.copy_cell(slot, from, self.cons_header, p & TAG_MASK, step) {
                Some(cell) => to = cell,
                None => return true,
            }
        }
        true
    }

    #[inline(always)]
    unsafe fn copy_cell(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        tag: usize,
        step: u8,
    ) -> Option<*mut usize> {
        let to = self.alloc(step, CONS_WORDS);
        *(to as *mut [usize; CONS_WORDS]) = *(from as *const [usize; CONS_WORDS]);
        if !self.forward(slot, from, header, to, tag) {
            self.take_back(step, CONS_WORDS);
            return None;
        }
        Some(to)
    }

    /// Copies a selector thunk that cannot be evaluated now, whose claimed header was `header`.
    pub(super) unsafe fn copy_selector(&mut self, c: Closure, header: usize) {
        let to = self.alloc(self.destination(self.age(c.0)), SELECTOR_WORDS);
        *(to as *mut [usize; SELECTOR_WORDS]) = *(c.slot(0) as *const [usize; SELECTOR_WORDS]);
        *to = header;
        self.release(c.slot(0), to as usize | FORWARDED);
    }

    /// Copies a stack chunk: its header, and the words in use.
    #[cold]
    unsafe fn copy_stack(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        age: u8,
    ) -> bool {
        let step = self.destination(age);
        let words = size_of_object(Closure(from as usize), Info(header));
        let to = self.alloc(step, words);
        ptr::copy_nonoverlapping(from, to, SIZEOF_StgStack / WORD);
        let sp = *from.add(OFFSET_STACK_sp / WORD);
        let used = (sp - from as usize) / WORD;
        ptr::copy_nonoverlapping(from.add(used), to.add(used), words - used);
        *to.add(OFFSET_STACK_sp / WORD) = to.add(used) as usize;
        if !self.forward(slot, from, header, to, 0) {
            self.take_back(step, words);
            return false;
        }
        self.failed |= step < self.owner;
        true
    }

    /// The shared closure that stands for a small boxed integer or character.
    #[inline(always)]
    fn shared(&self, header: usize, value: usize) -> Option<usize> {
        if header == self.int_header {
            let i = value.wrapping_sub(MIN_INTLIKE);
            return (i < SHARED_INTS).then(|| self.int_table + i * SHARED_BYTES);
        }
        if header == self.char_header {
            return (value <= MAX_CHARLIKE).then(|| self.char_table + value * SHARED_BYTES);
        }
        None
    }

    /// The value of an indirection or a black hole; `None` while it is under evaluation, which
    /// the indirectee says and not the header (`eval/thunk.rs`).
    #[inline]
    pub(super) unsafe fn value_of_blackhole(&self, c: *mut usize) -> Option<usize> {
        let p = *c.add(INDIRECTEE);
        if p & TAG_MASK != 0 {
            return Some(p);
        }
        let mut header = self.header(p as *const usize);
        if header & FORWARDED != 0 {
            header = self.header((header - FORWARDED) as *const usize);
        }
        match Info(header).kind() {
            TSO | BLOCKING_QUEUE => None,
            _ => Some(p),
        }
    }

    /// Saves a large object, a block of pinned arrays or a compact region: nothing moves.
    #[cold]
    #[inline(never)]
    unsafe fn save_in_place(&mut self, p: usize, age: u8) {
        let step = self.destination(age);
        let step = self.keep(p, age, step);
        self.failed |= step < self.owner;
    }

    /// Ends the program: an object that no compiled code can have made.
    #[cold]
    pub(super) unsafe fn strange(&self, c: *const usize) -> ! {
        let header = *c;
        let kind = if self.in_heap(header) { usize::MAX } else { Info(header).kind() };
        fatal::broken(&format!(
            "strange object at {c:p}: header {header:#x}, closure type {kind}; \
             expected a heap object"
        ))
    }
}
