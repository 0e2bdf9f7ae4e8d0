//! Selector thunks are evaluated by the collector when their selectee is: this is what keeps
//! `let (a, b) = … in …` from holding on to `a` for as long as `b` is needed (Wadler 1987).
//!
//! A selector's selectee may be a selector in turn, and what it selects another one, and so on
//! through millions of them. So the chain is walked with an explicit stack, of those that *wait*
//! for their selectees and those whose value is that of the next one above, which they *pass on*.
//! While a selector is on that stack its header is `WHITEHOLE`, by which a cycle shows. One that
//! can be evaluated becomes an indirection to what is at the end of the chain, which evacuation
//! then skips in one step, from wherever on the chain it comes; if there is no value, all
//! selectors on the stack are copied at once. So each is looked at once in a collection.
//! The header is also the claim of this thread, if there are several (`forwarding.rs`).
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, TAG_MASK};
use crate::collector::trace::evacuate::FORWARDED;
use crate::collector::trace::forwarding::shared;
use crate::collector::trace::header;
use crate::collector::trace::worker::Worker;
use crate::info;
use crate::memory::Age;

/// A claimed selector thunk.
pub(in crate::collector) struct Claimed {
    thunk: Closure,
    header: usize,
    /// Its value is that of the next one on the stack, instead of a field of it.
    passes_on: bool,
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Evaluates a condemned selector thunk: `Some` of what is at the end of its chain, not
    /// evacuated. `None`: it cannot be evaluated, and has been copied; or another thread was first.
    #[inline(never)]
    pub(in crate::collector) unsafe fn select(&mut self, thunk: Closure, header: usize) -> Option<usize> {
        debug_assert!(self.selectors.is_empty());
        if !self.enter(thunk, header) {
            return None;
        }
        let mut selectee = thunk.word(SELECTOR_SELECTEE);
        // The topmost selector waits for the selectee.
        loop {
            match self.constructor(selectee) {
                Found::Constructor(con) => {
                    let top = self.selectors.len() - 1;
                    let value = con.word(1 + Info(self.selectors[top].header).selector_offset());
                    match self.value(value) {
                        Value::Plain(value) => {
                            self.resolve(value);
                            if self.selectors.is_empty() {
                                return Some(value);
                            }
                            selectee = value;
                        }
                        Value::Selector(s, header) => {
                            // Otherwise another thread has it, and we look anew.
                            if self.enter(s, header) {
                                self.selectors[top].passes_on = true;
                                selectee = s.word(SELECTOR_SELECTEE);
                            }
                        }
                        Value::Claimed => return self.give_up(),
                    }
                }
                Found::Selector(s, header) => {
                    // Otherwise another thread has it, and the chain goes on from what it is now.
                    if self.enter(s, header) {
                        selectee = s.word(SELECTOR_SELECTEE);
                    }
                }
                Found::Nothing => return self.give_up(),
            }
        }
    }

    /// The topmost selector, and those below that pass it on, have this value.
    unsafe fn resolve(&mut self, value: usize) {
        if let Some(top) = self.selectors.pop() {
            self.indirect(&top, value);
        }
        self.pass_on(value);
    }

    /// The topmost selector has no value, and so none of them has.
    unsafe fn give_up<T>(&mut self) -> Option<T> {
        while let Some(s) = self.selectors.pop() {
            self.copy_selector(s.thunk, s.header);
            self.pass_on(s.thunk.0);
        }
        None
    }

    unsafe fn pass_on(&mut self, value: usize) {
        while let Some(s) = self.selectors.pop_if(|s| s.passes_on) {
            self.indirect(&s, value);
        }
    }

    unsafe fn indirect(&self, s: &Claimed, value: usize) {
        s.thunk.set_word(INDIRECTEE, value);
        self.release(s.thunk.slot(0), info!(stg_IND_info).0);
    }

    /// Claims a selector. False if another thread has been here since its header was read.
    unsafe fn enter(&mut self, s: Closure, header: usize) -> bool {
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

    /// What a field refers to, behind indirections.
    unsafe fn value(&self, mut p: usize) -> Value {
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

    /// What is at the end of the indirections that start at `p`.
    unsafe fn constructor(&self, mut p: usize) -> Found {
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

enum Found {
    Constructor(Closure),
    /// A condemned selector thunk, not evaluated yet, and its header.
    Selector(Closure, usize),
    Nothing,
}

/// What a selected field refers to.
enum Value {
    /// It is no selector that could be evaluated now.
    Plain(usize),
    /// A condemned selector thunk, not evaluated yet, and its header.
    Selector(Closure, usize),
    /// A selector on a stack, this thread's or another's.
    Claimed,
}
