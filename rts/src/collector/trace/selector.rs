//! Evaluates selector thunks whose selectee is evaluated.
//!
//! This keeps `let (a, b) = … in …` from retaining `a` as long as `b` is needed \[Wad87\].
//!
//! *Protocol*
//! 1. The selectee of a selector may be another selector, and so may the selected field, through millions of them. So a
//!    worker walks the chain with an explicit stack. A selector on the stack *waits* for its selectee, or *passes on*
//!    the value of the next one above it.
//! 2. A selector on the stack has the header `WHITEHOLE`. That reveals cycles, and claims the selector for this worker
//!    ([`super::forwarding`]).
//! 3. If the chain has a value, each selector becomes an indirection to it. Evacuation then skips the chain in one
//!    step, wherever it enters.
//! 4. If it has none, all selectors on the stack are copied at once.
//!
//! *Invariants*: each selector is examined once in a collection.
//!
//! *Checked by*: the unit tests `a_long_chain_of_selectors_collapses`, `nested_selectors_are_evaluated_once`,
//! `cyclic_selectors_are_kept` and `selectors_without_a_value_are_kept`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, TAG_MASK};
use crate::collector::trace::forwarding::shared;
use crate::collector::trace::header;
use crate::collector::trace::header::FORWARDED;
use crate::collector::trace::worker::{Claimed, Worker};
use crate::info;
use crate::memory::Age;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Evaluates a condemned selector thunk. Returns what is at the end of its chain, not evacuated. Returns `None` if
    /// it has no value and has been copied, or another worker was first.
    #[inline(never)]
    pub(in crate::collector) unsafe fn select(&mut self, thunk: Closure, header: usize) -> Option<usize> {
        debug_assert!(self.selectors.is_empty());
        if !self.claim(thunk, header) {
            return None;
        }
        let mut selectee = thunk.word(SELECTOR_SELECTEE);
        // The topmost selector waits for the selectee.
        loop {
            match self.find_constructor(selectee) {
                Found::Constructor(con) => {
                    let top = self.selectors.len() - 1;
                    let value = con.word(1 + Info(self.selectors[top].header).selector_offset());
                    match self.find_value(value) {
                        Value::Plain(value) => {
                            self.resolve(value);
                            if self.selectors.is_empty() {
                                return Some(value);
                            }
                            selectee = value;
                        }
                        Value::Selector(s, header) => {
                            // Otherwise another worker has it, and the field is read again.
                            if self.claim(s, header) {
                                self.selectors[top].passes_on = true;
                                selectee = s.word(SELECTOR_SELECTEE);
                            }
                        }
                        Value::Claimed => return self.give_up(),
                    }
                }
                Found::Selector(s, header) => {
                    // Otherwise another worker has it, and the chain continues from its new state.
                    if self.claim(s, header) {
                        selectee = s.word(SELECTOR_SELECTEE);
                    }
                }
                Found::Nothing => return self.give_up(),
            }
        }
    }

    /// Gives the value to the topmost selector and to those below that pass it on.
    unsafe fn resolve(&mut self, value: usize) {
        if let Some(top) = self.selectors.pop() {
            self.indirect(&top, value);
        }
        self.pass_on(value);
    }

    /// Copies all selectors on the stack, because the topmost has no value.
    unsafe fn give_up<T>(&mut self) -> Option<T> {
        while let Some(s) = self.selectors.pop() {
            self.copy_selector(s.thunk, s.header);
            self.pass_on(s.thunk.0);
        }
        None
    }

    /// Gives the value to the topmost selectors that pass it on.
    unsafe fn pass_on(&mut self, value: usize) {
        while let Some(s) = self.selectors.pop_if(|s| s.passes_on) {
            self.indirect(&s, value);
        }
    }

    unsafe fn indirect(&self, s: &Claimed, value: usize) {
        s.thunk.set_word(INDIRECTEE, value);
        self.release(s.thunk.slot(0), info!(stg_IND_info).0);
    }

    /// Claims a selector. Returns false if another worker has changed its header since it was read.
    unsafe fn claim(&mut self, s: Closure, header: usize) -> bool {
        let claimed = info!(stg_WHITEHOLE_info).0;
        if PARALLEL {
            if !header::exchange(shared(s.slot(0)), header, claimed) {
                return false;
            }
        } else {
            s.set_word(0, claimed);
        }
        self.selectors.push(Claimed { thunk: s, header, passes_on: false });
        true
    }

    /// Returns what a field refers to, behind indirections.
    unsafe fn find_value(&self, mut p: usize) -> Value {
        loop {
            if !self.in_heap(p) || self.age(p) & Age::CONDEMNED == 0 {
                return Value::Plain(p);
            }
            let c = Closure(p & !TAG_MASK);
            let header = self.header(c.slot(0));
            if header & FORWARDED != 0 {
                return Value::Plain(p);
            }
            p = match Info(header).kind() {
                IND | BLACKHOLE => match self.value_of_blackhole(c.slot(0)) {
                    Some(value) => value,
                    None => return Value::Plain(p),
                },
                THUNK_SELECTOR => return Value::Selector(c, header),
                WHITEHOLE => return Value::Claimed,
                _ => return Value::Plain(p),
            }
        }
    }

    /// Finds what is at the end of the indirections that start at `p`.
    unsafe fn find_constructor(&self, mut p: usize) -> Found {
        loop {
            let c = Closure(p & !TAG_MASK);
            let header = self.header(c.slot(0));
            if header & FORWARDED != 0 {
                p = header - FORWARDED;
                continue;
            }
            p = match Info(header).kind() {
                CONSTR | CONSTR_NOCAF | CONSTR_1_0 | CONSTR_0_1 | CONSTR_2_0 | CONSTR_1_1 | CONSTR_0_2 => {
                    return Found::Constructor(c)
                }
                IND_STATIC => c.word(INDIRECTEE),
                IND | BLACKHOLE => match self.value_of_blackhole(c.slot(0)) {
                    Some(value) => value,
                    None => return Found::Nothing,
                },
                THUNK_SELECTOR => {
                    let condemned = self.in_heap(c.0) && self.age(c.0) & Age::CONDEMNED != 0;
                    return if condemned { Found::Selector(c, header) } else { Found::Nothing };
                }
                _ => return Found::Nothing,
            }
        }
    }
}

/// What a selectee is, behind indirections.
enum Found {
    Constructor(Closure),
    /// A condemned selector thunk that is not evaluated yet, and its header.
    Selector(Closure, usize),
    Nothing,
}

/// What a selected field refers to.
enum Value {
    /// No selector that could be evaluated now.
    Plain(usize),
    /// A condemned selector thunk that is not evaluated yet, and its header.
    Selector(Closure, usize),
    /// A selector on a stack, this worker's or another's.
    Claimed,
}
