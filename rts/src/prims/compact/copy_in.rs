//! Copies data into a region, and evaluates it on the way.
//!
//! *Protocol*
//!
//! 1. The remaining work is a stack of pairs: an object outside the region, and the field inside that will point to its
//!    copy.
//! 2. A step pops pairs, copies their objects and pushes the fields of these, until the stack is empty or a thunk has
//!    to be evaluated.
//! 3. Cmm evaluates the thunk, and starts the next step. A collection may happen in between. So the objects are in
//!    arrays on the Haskell heap. The region does not move, so fields are plain addresses.
//! 4. Elements of an array are pushed one at a time. Otherwise the stack could become larger than the array. Two pairs,
//!    with a marked address, represent the remaining elements (`push_elements`).
//!
//! *Invariants*
//!
//! - A field that waits for its copy holds the unit closure. So the region never points outside, even if an exception
//!   ends the copying.
//! - The state is an array of three: the objects to copy; their fields, a byte array whose first word is the height of
//!   the stack; and the newest array of copied objects (`sharing.rs`).
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::eval::blackhole;
use crate::hec::Hec;
use crate::memory::object_size::size_of_object;
use crate::memory::{age_of, in_heap, Age};
use crate::prims::compact::region;
use crate::prims::compact::region::{region_of, Region};
use crate::prims::compact::sharing;
use crate::prims::compact::sharing::Shared;
use crate::{info, static_closure};
use std::ops::Range;

const PENDING: usize = SMALL_ARR_PAYLOAD;
const FIELDS: usize = SMALL_ARR_PAYLOAD + 1;
const SOURCES: usize = SMALL_ARR_PAYLOAD + 2;
const STATE_LENGTH: usize = 3;
const FIRST_CAPACITY: usize = 64;
/// Marks the address of an array's copy in the place of a field.
const ELEMENTS: usize = 1;

/// The result of a step.
const DONE: usize = 0;
const EVALUATE: usize = 1;
const RAISE: usize = 2;

fn unit() -> Closure {
    static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1)
}

unsafe fn small_array(hec: &mut Hec, n: usize) -> Closure {
    let a = hec.allocate(SMALL_ARR_PAYLOAD + n);
    a.set_info(info!(stg_SMALL_MUT_ARR_PTRS_DIRTY_info));
    a.set_word(SMALL_ARR_PTRS, n);
    for i in 0..n {
        a.set_word(SMALL_ARR_PAYLOAD + i, unit().0);
    }
    a
}

unsafe fn byte_array(hec: &mut Hec, words: usize) -> Closure {
    let a = hec.allocate(ARR_BYTES_PAYLOAD + words);
    a.set_info(info!(stg_ARR_WORDS_info));
    a.set_word(ARR_BYTES, words * WORD);
    a
}

/// Positions of the pointers of a frozen array.
unsafe fn elements(a: Closure) -> Range<usize> {
    match a.info().kind() {
        MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
            MUT_ARR_PAYLOAD..MUT_ARR_PAYLOAD + a.word(MUT_ARR_PTRS)
        }
        _ => SMALL_ARR_PAYLOAD..SMALL_ARR_PAYLOAD + a.word(SMALL_ARR_PTRS),
    }
}

/// A copy of the array with twice the length.
unsafe fn doubled(hec: &mut Hec, a: Closure) -> Closure {
    let n = a.word(SMALL_ARR_PTRS);
    let b = small_array(hec, 2 * n);
    std::ptr::copy_nonoverlapping(a.slot(SMALL_ARR_PAYLOAD), b.slot(SMALL_ARR_PAYLOAD), n);
    b
}

/// The stack of work during one step.
struct Work<'a> {
    hec: &'a mut Hec,
    region: *mut Region,
    state: Closure,
    shared: Option<Box<Shared>>,
}

impl Work<'_> {
    unsafe fn height(&self) -> usize {
        self.state.field(FIELDS).word(ARR_BYTES_PAYLOAD)
    }
    unsafe fn set_height(&self, n: usize) {
        self.state.field(FIELDS).set_word(ARR_BYTES_PAYLOAD, n)
    }
    unsafe fn push(&mut self, source: Closure, field: *mut usize) {
        let n = self.height();
        if n == self.state.field(PENDING).word(SMALL_ARR_PTRS) {
            let pending = doubled(self.hec, self.state.field(PENDING));
            let fields = byte_array(self.hec, 1 + 2 * n);
            let old = self.state.field(FIELDS);
            let (from, to) = (old.slot(ARR_BYTES_PAYLOAD), fields.slot(ARR_BYTES_PAYLOAD));
            std::ptr::copy_nonoverlapping(from, to, 1 + n);
            self.state.set_word(PENDING, pending.0);
            self.state.set_word(FIELDS, fields.0);
        }
        self.set_top(n, source);
        self.state.field(FIELDS).set_word(ARR_BYTES_PAYLOAD + 1 + n, field as usize);
        self.set_height(n + 1);
    }
    unsafe fn set_top(&self, n: usize, source: Closure) {
        self.state.field(PENDING).set_word(SMALL_ARR_PAYLOAD + n, source.0)
    }
    /// The object on top of the stack, and its field.
    unsafe fn top(&mut self) -> Option<(Closure, *mut usize)> {
        let n = self.height().checked_sub(1)?;
        let source = self.state.field(PENDING).field(SMALL_ARR_PAYLOAD + n);
        let field = self.state.field(FIELDS).word(ARR_BYTES_PAYLOAD + 1 + n);
        if field & ELEMENTS == 0 {
            return Some((source, field as *mut usize));
        }
        Some(self.push_element(source, Closure(field - ELEMENTS)))
    }
    /// Pushes the two pairs for an array's elements. The lower pair has the index of the next element.
    unsafe fn push_elements(&mut self, array: Closure, copy: Closure, elements: Range<usize>) {
        if !elements.is_empty() {
            self.push(unit(), elements.start as *mut usize);
            self.push(array, (copy.0 | ELEMENTS) as *mut usize);
        }
    }
    /// Pushes the next element of the array on top. The last element replaces the array.
    unsafe fn push_element(&mut self, array: Closure, copy: Closure) -> (Closure, *mut usize) {
        let next = self.state.field(FIELDS).slot(ARR_BYTES_PAYLOAD + 1 + self.height() - 2);
        let i = *next;
        *next += 1;
        if *next == elements(copy).end {
            self.pop();
            self.pop();
        }
        let (source, field) = (array.field(i), copy.slot(i));
        self.push(source, field);
        (source, field)
    }
    unsafe fn pop(&self) {
        let n = self.height() - 1;
        self.set_top(n, unit());
        self.set_height(n);
    }

    /// Copies an object without its pointers, which are pushed. `None` if memory is exhausted.
    unsafe fn copy(&mut self, c: Closure, info: Info, pointers: Range<usize>) -> Option<Closure> {
        let size = size_of_object(c, info);
        let to = region::allocate(self.hec, self.region, size)?;
        std::ptr::copy_nonoverlapping(c.slot(0), to.slot(0), size);
        if let Some(shared) = &mut self.shared {
            let i = shared.add(c, to);
            if i == sharing::FIRST {
                let full = self.state.field(SOURCES);
                let sources = small_array(self.hec, sharing::ARRAY_LENGTH);
                sources.set_word(SMALL_ARR_PAYLOAD, full.0);
                if full != unit() {
                    full.set_info(info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_DIRTY_info));
                }
                self.state.set_word(SOURCES, sources.0);
            }
            self.state.field(SOURCES).set_word(SMALL_ARR_PAYLOAD + i, c.0);
        }
        pointers.clone().for_each(|i| to.set_word(i, unit().0));
        match info.kind() {
            MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
                to.set_info(info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info));
                self.push_elements(c, to, pointers);
            }
            SMALL_MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => {
                to.set_info(info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info));
                self.push_elements(c, to, pointers);
            }
            _ => pointers.rev().for_each(|i| self.push(c.field(i), to.slot(i))),
        }
        Some(to)
    }

    /// Works until the stack is empty or Cmm has to act.
    unsafe fn run(&mut self) -> (usize, Closure) {
        'next: while let Some((mut p, field)) = self.top() {
            loop {
                let c = p.untag();
                if region_of(c) == self.region {
                    break;
                }
                if let Some(copy) = self.shared.as_ref().and_then(|s| s.copy_of(c)) {
                    p = copy.with_tag(p.tag());
                    break;
                }
                let info = c.info();
                let pointers = match info.kind() {
                    IND_STATIC => {
                        p = c.field(INDIRECTEE);
                        continue;
                    }
                    IND => match blackhole::value(c) {
                        Some(value) => {
                            p = value;
                            continue;
                        }
                        None => return (EVALUATE, p),
                    },
                    CONSTR | CONSTR_1_0 | CONSTR_0_1 | CONSTR_2_0 | CONSTR_1_1 | CONSTR_0_2 | CONSTR_NOCAF => {
                        if !in_heap(c.0) && info.ptrs() == 0 {
                            break;
                        }
                        1..1 + info.ptrs()
                    }
                    ARR_WORDS => {
                        if in_heap(c.0) && age_of(c.0).is(Age::PINNED) {
                            let e = static_closure!(base_GHCziIOziException_cannotCompactPinned_closure);
                            return (RAISE, e);
                        }
                        0..0
                    }
                    MUT_ARR_PTRS_FROZEN_CLEAN
                    | MUT_ARR_PTRS_FROZEN_DIRTY
                    | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN
                    | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => elements(c),
                    THUNK | THUNK_1_0 | THUNK_0_1 | THUNK_2_0 | THUNK_1_1 | THUNK_0_2 | THUNK_STATIC
                    | THUNK_SELECTOR | AP | AP_STACK | BLACKHOLE => return (EVALUATE, p),
                    FUN | FUN_1_0 | FUN_0_1 | FUN_2_0 | FUN_1_1 | FUN_0_2 | FUN_STATIC | PAP | BCO => {
                        let e = static_closure!(base_GHCziIOziException_cannotCompactFunction_closure);
                        return (RAISE, e);
                    }
                    _ => {
                        let e = static_closure!(base_GHCziIOziException_cannotCompactMutable_closure);
                        return (RAISE, e);
                    }
                };
                self.pop();
                let Some(to) = self.copy(c, info, pointers) else {
                    return (RAISE, static_closure!(base_GHCziIOziException_heapOverflow_closure));
                };
                *field = to.with_tag(p.tag()).0;
                continue 'next;
            }
            self.pop();
            *field = p.0;
        }
        (DONE, Closure((*self.region).result))
    }
}

/// Starts copying `root`. Returns the state for the steps.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_compact_start(
    hec: &mut Hec,
    region: *mut Region,
    root: Closure,
    sharing: usize,
) -> Closure {
    drop(take_shared(region));
    let pending = small_array(hec, FIRST_CAPACITY);
    let fields = byte_array(hec, 1 + FIRST_CAPACITY);
    fields.set_word(ARR_BYTES_PAYLOAD, 0);
    let state = small_array(hec, STATE_LENGTH);
    state.set_word(PENDING, pending.0);
    state.set_word(FIELDS, fields.0);
    let mut work = Work { hec, region, state, shared: None };
    work.push(root, std::ptr::addr_of_mut!((*region).result));
    if sharing != 0 {
        (*region).hash = Box::into_raw(Box::<Shared>::default()) as usize;
    }
    state
}

/// Takes the record of copied objects. One that an exception left behind is freed when the next copying starts.
unsafe fn take_shared(region: *mut Region) -> Option<Box<Shared>> {
    let at = std::mem::take(&mut (*region).hash) as *mut Shared;
    (!at.is_null()).then(|| Box::from_raw(at))
}

/// Continues copying. `value` is the value of the object that the last step had evaluated, or null. Writes the result,
/// the object to evaluate or the exception to raise to `out`.
/// # Safety
/// As for [`hec_compact_start`].
#[no_mangle]
pub unsafe extern "C" fn hec_compact_step(
    hec: &mut Hec,
    region: *mut Region,
    state: Closure,
    value: Closure,
    out: *mut Closure,
) -> usize {
    // The state may be old by now, and may point to young objects from here on. Old mutable arrays are always
    // remembered.
    for a in [state, state.field(PENDING), state.field(SOURCES)] {
        if a != unit() {
            a.set_info(info!(stg_SMALL_MUT_ARR_PTRS_DIRTY_info));
        }
    }
    let mut shared = take_shared(region);
    if let Some(s) = &mut shared {
        s.resume(state.field(SOURCES));
    }
    let mut work = Work { hec, region, state, shared };
    if !value.is_null() {
        work.set_top(work.height() - 1, value);
    }
    let (status, result) = work.run();
    *out = result;
    if let (EVALUATE, Some(s)) = (status, work.shared.take()) {
        (*region).hash = Box::into_raw(s) as usize;
    }
    status
}
