//! Selector thunks are evaluated by the collector when their selectee is: this is what keeps
//! `let (a, b) = … in …` from holding on to `a` for as long as `b` is needed (Wadler 1987).
//!
//! A selector's selectee may be a selector in turn, and so on through millions of them, so the
//! chain is walked with an explicit stack. While a selector is on that stack its header is
//! `WHITEHOLE`, by which a cycle shows. A selector that can be evaluated becomes an indirection
//! to the field, which evacuation then skips; if the end of the chain is no value, all
//! selectors on the stack are copied at once, so that each is looked at once in a collection.
//! The header is also the claim of this thread, if there are several (`claim.rs`).
use super::claim::shared;
use super::evacuate::FORWARDED;
use super::header;
use super::worker::Worker;
use crate::contract::closure::fields::*;
use crate::contract::{layout::*, Closure, Info, TAG_MASK};
use crate::info;
use crate::memory::Age;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Evaluates a condemned selector thunk: `Some` of the selected field, not evacuated.
    /// `None`: it cannot be evaluated, and has been copied; or another thread was first.
    #[inline(never)]
    pub(super) unsafe fn select(&mut self, thunk: Closure, header: usize) -> Option<usize> {
        debug_assert!(self.selectors.is_empty());
        if !self.enter(thunk, header) {
            return None;
        }
        let mut selectee = thunk.word(SELECTOR_SELECTEE);
        loop {
            match self.constructor(selectee) {
                Found::Constructor(con) => {
                    let (s, header) = self.selectors.pop()?;
                    let value = con.word(1 + Info(header).selector_offset());
                    s.set_word(INDIRECTEE, value);
                    self.release(s.slot(0), info!(stg_IND_info).0);
                    if self.selectors.is_empty() {
                        return Some(value);
                    }
                    selectee = value;
                }
                Found::Selector(s, header) => {
                    // Otherwise another thread has it, and the chain goes on from what it is now.
                    if self.enter(s, header) {
                        selectee = s.word(SELECTOR_SELECTEE);
                    }
                }
                Found::Nothing => {
                    while let Some((s, header)) = self.selectors.pop() {
                        self.copy_selector(s, header);
                    }
                    return None;
                }
            }
        }
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
        self.selectors.push((s, header));
        true
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
                CONSTR | CONSTR_NOCAF | CONSTR_1_0 | CONSTR_0_1 | CONSTR_2_0 | CONSTR_1_1
                | CONSTR_0_2 => return Found::Constructor(c),
                IND_STATIC => c.word(INDIRECTEE),
                IND | BLACKHOLE => match self.value_of_blackhole(c.slot(0)) {
                    Some(value) => value,
                    None => return Found::Nothing,
                },
                THUNK_SELECTOR => {
                    let condemned =
                        self.in_heap(c.0) && self.age(c.0) & Age::CONDEMNED != 0;
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
