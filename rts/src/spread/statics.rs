//! Static objects that fixed objects refer to, and the static reference tables of their code.
//!
//! Packets refer to static objects, too, and no collection sees those on their way. So the few static objects that
//! fixed objects have referred to are roots for ever: otherwise CAFs would lose their values.
use crate::abi::layout::*;
use crate::abi::{Closure, Info};
use crate::collector::roots::Visitor;
use std::collections::HashSet;

/// Entries of the table of those seen last.
const RECENT: usize = 64;

pub struct Statics {
    roots: HashSet<usize>,
    recent: [usize; RECENT],
}

impl Default for Statics {
    fn default() -> Statics {
        Statics { roots: HashSet::new(), recent: [0; RECENT] }
    }
}

impl Statics {
    fn add(&mut self, c: usize) {
        let recent = &mut self.recent[c >> 3 & (RECENT - 1)];
        if std::mem::replace(recent, c) != c {
            self.roots.insert(c);
        }
    }

    /// Notes a static object.
    /// # Safety
    /// It is one.
    pub unsafe fn note(&mut self, c: Closure) {
        let info = c.untag().info();
        // Most have no pointers: shared integers and characters, the empty list.
        if info.ptrs() > 0 || !matches!(info.kind(), CONSTR | CONSTR_NOCAF | CONSTR_0_1 | CONSTR_0_2) {
            self.add(c.untag().0);
        }
    }

    /// Notes what code refers to.
    /// # Safety
    /// `info` is the header of a function or thunk.
    pub unsafe fn note_code(&mut self, info: Info) {
        if let Some(srt) = info.srt() {
            self.add(srt.0);
        }
    }

    pub fn visit(&self, visit: &mut Visitor) {
        self.roots.iter().for_each(|&c| visit(&mut Closure(c)));
    }
}
