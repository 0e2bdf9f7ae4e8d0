//! Evacuation: makes the object that a slot refers to survive, and updates the slot.
//!
//! *Protocol*
//! 1. A pointer outside the heap, or to an object that is not condemned, costs a range test and a byte load.
//! 2. A condemned small object is copied to the step that its age asks for, or to the owner's if that is older (eager
//!    promotion). Its header becomes a forwarding pointer: the new address with bit 0 set.
//! 3. A large, pinned or compact object stays where it is, and its age byte changes.
//! 4. Indirections are skipped. Small boxed integers and characters are replaced by the shared static closures.
//!    Selector thunks are evaluated if their selectee is ([`super::selector`]). List cells are copied in a row
//!    ([`super::list_cells`]).
//! 5. `failed_to_evac` records that the object ended up younger than the owner.
//!
//! *Invariants*: after evacuation, the slot refers to an object that is not condemned.
//!
//! *Locking*: where several workers evacuate at once, a worker that loses the race for an object reads its header again
//! ([`super::forwarding`]).
//!
//! *Checked by*: the heap checker, and the loom models in `rts/tests/models/forwarding.rs`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, TAG_MASK, WORD};
use crate::base::fatal;
use crate::collector::fixed_space;
use crate::collector::parallel::work::Work;
use crate::collector::trace::header::FORWARDED;
use crate::collector::trace::prefetch;
use crate::collector::trace::small_objects;
use crate::collector::trace::stacks::Size;
use crate::collector::trace::worker::Worker;
use crate::memory::object_size::size_of_object;
use crate::memory::{Age, BLOCK_LOG};
use std::ptr;

/// The number of integers, from `MIN_INTLIKE` (which is negative) up, that have a shared closure.
const SHARED_INTS: usize = MAX_INTLIKE.wrapping_sub(MIN_INTLIKE) + 1;
/// Words of a boxed integer or character, as in the shared closures: header and value.
pub(in crate::collector) const BOX_WORDS: usize = 2;

/// Words of a selector thunk: header, spare word, selectee.
const SELECTOR_WORDS: usize = 3;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Is this address in the heap's reserved range?
    #[inline(always)]
    pub(in crate::collector) fn in_heap(&self, p: usize) -> bool {
        p.wrapping_sub(self.base) < self.bytes
    }

    /// Returns the age byte of a heap address.
    #[inline(always)]
    pub(in crate::collector) unsafe fn age(&self, p: usize) -> u8 {
        *(self.ages.wrapping_add(p >> BLOCK_LOG) as *const u8)
    }

    /// Evacuates the object that a slot refers to.
    /// # Safety
    /// `slot` holds a closure pointer.
    #[inline(always)]
    pub(in crate::collector) unsafe fn evacuate(&mut self, slot: *mut usize) {
        let p = *slot;
        if !self.in_heap(p) {
            if MAJOR {
                self.reach_static(p);
            }
            return;
        }
        let age = self.age(p);
        if age & Age::CONDEMNED == 0 {
            self.failed_to_evac |= (age & 15) < self.owner_gen;
            return;
        }
        self.evacuate_condemned(slot, p, age);
    }

    /// Evacuates the field `i` of an object.
    #[inline(always)]
    pub(in crate::collector) unsafe fn evacuate_field(&mut self, c: *mut usize, i: usize) {
        self.evacuate(c.add(i))
    }

    /// Evacuates fields `from..to` of an object.
    #[inline(always)]
    pub(in crate::collector) unsafe fn evacuate_fields(&mut self, c: *mut usize, from: usize, to: usize) {
        for i in from..to {
            self.evacuate(c.add(i));
        }
    }

    /// Evacuates a condemned object. The common cases are done here without a call, so that few registers need saving.
    /// The others are calls in tail position.
    #[inline(never)]
    unsafe fn evacuate_condemned(&mut self, slot: *mut usize, mut p: usize, mut age: u8) {
        loop {
            if !Age(age).is_plain() {
                *slot = p;
                return self.mark_in_place(p, age);
            }
            let c = (p & !TAG_MASK) as *mut usize;
            let header = self.header(c);
            if header & FORWARDED != 0 {
                return self.follow(slot, header, p & TAG_MASK);
            }
            let info = Info(header);
            let kind = info.kind();
            if kind != IND && kind != BLACKHOLE {
                if !self.copy_small(slot, p, age, header, kind) {
                    self.copy_slow(slot, p, age)
                }
                return;
            }
            let value = *c.add(INDIRECTEE);
            // Without a tag it may be a thread, or a queue of waiting threads.
            if value & TAG_MASK == 0 {
                return self.copy_slow(slot, p, age);
            }
            p = value;
            let Some(next_age) = self.next_condemned(slot, p) else { return };
            age = next_age;
        }
    }

    /// Copies a small object for which the open run has room. Returns false if it is something else, or another worker
    /// was first.
    #[inline(always)]
    unsafe fn copy_small(&mut self, slot: *mut usize, p: usize, age: u8, header: usize, kind: usize) -> bool {
        let c = (p & !TAG_MASK) as *mut usize;
        if kind == CONSTR_0_1 && self.share(slot, c, header, p & TAG_MASK) {
            return true;
        }
        if header == self.cons_header {
            // One worker alone is always first, so the object is done.
            let won = self.copy_list(slot, c, header, p & TAG_MASK, age);
            return !PARALLEL || won;
        }
        let Some(words) = small_objects::words(Info(header), kind) else { return false };
        let step = self.destination(age);
        let b = self.buffers[(step & 15) as usize];
        let end = b.free + words * WORD;
        if end > b.limit {
            return false;
        }
        let to = b.free as *mut usize;
        prefetch::for_copies(end);
        small_objects::copy(c, to, words);
        if !self.forward(slot, c, header, to, p & TAG_MASK) {
            return false;
        }
        self.buffers[(step & 15) as usize].free = end;
        self.count_copied(age, words);
        self.failed_to_evac |= step < self.owner_gen;
        true
    }

    /// Returns the age of the object that an indirection led to, if that must be evacuated too. Otherwise updates the
    /// slot.
    #[inline(always)]
    unsafe fn next_condemned(&mut self, slot: *mut usize, p: usize) -> Option<u8> {
        if !self.in_heap(p) {
            *slot = p;
            if MAJOR {
                self.reach_static(p);
            }
            return None;
        }
        let age = self.age(p);
        if age & Age::CONDEMNED == 0 {
            *slot = p;
            self.failed_to_evac |= (age & 15) < self.owner_gen;
            return None;
        }
        Some(age)
    }

    /// Updates the slot of an object that has been forwarded.
    #[inline(always)]
    unsafe fn follow(&mut self, slot: *mut usize, header: usize, tag: usize) {
        let to = header - FORWARDED;
        *slot = to | tag;
        if self.owner_gen > 1 && self.in_heap(to) {
            self.failed_to_evac |= (self.age(to) & 15) < self.owner_gen;
        }
    }

    /// Evacuates a condemned object of any kind.
    #[inline(never)]
    unsafe fn copy_slow(&mut self, slot: *mut usize, mut p: usize, mut age: u8) {
        // Returns, if the copy has become the object.
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
            if !Age(age).is_plain() {
                *slot = p;
                return self.mark_in_place(p, age);
            }
            let header = self.header(c);
            let tag = p & TAG_MASK;
            if header & FORWARDED != 0 {
                return self.follow(slot, header, tag);
            }
            let info = Info(header);
            p = match info.kind() {
                CONSTR_0_1 => {
                    if self.share(slot, c, header, tag) {
                        return;
                    }
                    copied!(self.copy_fixed::<BOX_WORDS>(slot, c, header, tag, age));
                }
                CONSTR_2_0 if header == self.cons_header => {
                    copied!(self.copy_list(slot, c, header, tag, age))
                }
                IND | BLACKHOLE => match self.value_of_blackhole(c) {
                    Some(value) => value,
                    None => copied!(self.copy_fixed::<2>(slot, c, header, tag, age)),
                },
                THUNK_SELECTOR => match self.select(Closure(c as usize), header) {
                    Some(value) => value,
                    // It has been copied on the way, or is another worker's.
                    None => continue,
                },
                STACK => copied!(self.copy_stack(slot, c, header, age, Size::Same)),
                WHITEHOLE if PARALLEL => {
                    self.wait_for_claim(c, header);
                    continue;
                }
                kind => {
                    let words = match small_objects::words(info, kind) {
                        Some(words) => words,
                        None => size_of_object(Closure(c as usize), info),
                    };
                    copied!(self.copy(slot, c, header, tag, age, words));
                }
            };
            let Some(next_age) = self.next_condemned(slot, p) else { return };
            age = next_age;
        }
    }

    /// Evacuates without skipping indirections. What an update frame or a queue of waiting threads names must stay an
    /// object of its own, because it will be overwritten.
    pub(in crate::collector) unsafe fn evacuate_as_is(&mut self, slot: *mut usize) {
        let p = *slot;
        if self.in_heap(p) {
            let age = self.age(p);
            let plain = age & (Age::LARGE | Age::PINNED | Age::COMPACT) == 0;
            if age & Age::CONDEMNED != 0 && plain && self.copy_as_is(slot, p, age) {
                return;
            }
        }
        self.evacuate(slot)
    }

    /// Copies an object that evacuation might skip. Returns false if it would not.
    unsafe fn copy_as_is(&mut self, slot: *mut usize, p: usize, age: u8) -> bool {
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

    /// Returns the step to which a survivor from a block of this age goes.
    #[inline(always)]
    pub(in crate::collector) fn destination(&self, age: u8) -> u8 {
        self.dest[(age & 15) as usize].max(self.evac_gen)
    }

    /// Counts words copied from a block of this age.
    #[inline(always)]
    pub(in crate::collector) fn count_copied(&mut self, age: u8, words: usize) {
        self.copied_from[(age & 15) as usize] += words;
    }

    /// Copies an object of `WORDS` words.
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
        let won = self.copy_to::<WORDS>(slot, from, header, tag, age, step);
        self.failed_to_evac |= won && step < self.owner_gen;
        won
    }

    /// Copies an object of `WORDS` words to a step.
    #[inline(always)]
    pub(in crate::collector) unsafe fn copy_to<const WORDS: usize>(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        tag: usize,
        age: u8,
        step: u8,
    ) -> bool {
        let to = self.alloc(step, WORDS);
        *(to as *mut [usize; WORDS]) = *(from as *const [usize; WORDS]);
        if !self.forward(slot, from, header, to, tag) {
            self.undo_alloc(step, WORDS);
            return false;
        }
        self.count_copied(age, WORDS);
        true
    }

    /// Copies an object of `words` words.
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
        if small_objects::is(words) {
            small_objects::copy(from, to, words);
        } else {
            ptr::copy_nonoverlapping(from, to, words);
        }
        if !self.forward(slot, from, header, to, tag) {
            self.undo_alloc(step, words);
            return false;
        }
        self.count_copied(age, words);
        self.failed_to_evac |= step < self.owner_gen;
        true
    }

    /// Copies a selector thunk that cannot be evaluated now. Before it was claimed, its header was `header`.
    pub(in crate::collector) unsafe fn copy_selector(&mut self, c: Closure, header: usize) {
        let to = self.alloc(self.destination(self.age(c.0)), SELECTOR_WORDS);
        *(to as *mut [usize; SELECTOR_WORDS]) = *(c.slot(0) as *const [usize; SELECTOR_WORDS]);
        *to = header;
        self.release(c.slot(0), to as usize | FORWARDED);
    }

    /// Makes the slot refer to the shared closure that equals a box, if there is one.
    #[inline(always)]
    pub(in crate::collector) unsafe fn share(
        &self,
        slot: *mut usize,
        c: *mut usize,
        header: usize,
        tag: usize,
    ) -> bool {
        let Some(shared) = self.shared(header, *c.add(1)) else { return false };
        *c = shared | FORWARDED;
        *slot = shared | tag;
        true
    }

    /// Returns the shared closure that equals a small boxed integer or character.
    #[inline(always)]
    fn shared(&self, header: usize, value: usize) -> Option<usize> {
        if header == self.int_header {
            let i = value.wrapping_sub(MIN_INTLIKE);
            return (i < SHARED_INTS).then(|| self.int_table + i * BOX_WORDS * WORD);
        }
        if header == self.char_header {
            return (value <= MAX_CHARLIKE).then(|| self.char_table + value * BOX_WORDS * WORD);
        }
        None
    }

    /// Returns the value of an indirection or a black hole; `None` while it is under evaluation. The indirectee
    /// decides, not the header ([`crate::eval::thunk`]).
    #[inline]
    pub(in crate::collector) unsafe fn value_of_blackhole(&self, c: *mut usize) -> Option<usize> {
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

    /// Marks a large or fixed object, a block of pinned arrays or a compact region as live. Nothing moves.
    #[cold]
    #[inline(never)]
    unsafe fn mark_in_place(&mut self, p: usize, age: u8) {
        if Age(age).is_fixed() {
            return self.mark_fixed(p);
        }
        let step = self.destination(age);
        let step = self.mark_run(p, age, step);
        self.failed_to_evac |= step < self.owner_gen;
    }

    /// Marks a fixed object as live. It is older than all that refer to it.
    unsafe fn mark_fixed(&mut self, p: usize) {
        if !fixed_space::mark::<PARALLEL>(p) {
            return;
        }
        let c = Closure(p & !TAG_MASK);
        fixed_space::note_marked(c);
        if PARALLEL {
            self.share_work(self.oldest as usize, Work::Large(c));
        } else {
            self.large.push(c);
        }
    }

    /// Ends the program because of an object that no compiled code can have made.
    #[cold]
    pub(in crate::collector) unsafe fn report_corruption(&self, c: *const usize) -> ! {
        let header = *c;
        let kind = if self.in_heap(header) { usize::MAX } else { Info(header).kind() };
        fatal::broken(&format!(
            "strange object at {c:p}: header {header:#x}, closure type {kind}; \
             expected a heap object"
        ))
    }
}
