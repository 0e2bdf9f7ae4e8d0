//! Cells: fixed objects that stand for others, and what is at a fixed address.
//!
//! A cell is a header, `hec_CELL`, and a pointer: to a local object of this processing element (an exit,
//! `memory/exits.rs`), or to a fixed or static object.
use crate::abi::closure::fields::INDIRECTEE;
use crate::abi::layout::*;
use crate::abi::{Closure, Info};
use crate::eval::blackhole;
use crate::info;
use crate::memory::fixed_blocks::is_fixed;
use crate::memory::in_heap;
use crate::spread::fields;

/// Words of a cell.
pub const CELL_WORDS: usize = 2;

/// Is a fixed object a cell?
/// # Safety
/// `fixed` is untagged and present.
pub unsafe fn is_cell(fixed: Closure) -> bool {
    fixed.info() == info!(hec_CELL_info)
}

/// What is at a fixed address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// An evaluated object, with its tag: a fixed or static one, or a local one that a cell leads to.
    Value(Closure),
    /// A cell leads to this local object, which is not evaluated, or under evaluation.
    Unevaluated(Closure),
    Absent,
}

/// What is at a fixed address of this processing element, or in usable memory of another one's slice.
/// # Safety
/// The address is that of a fixed object, or of one that may arrive. Under the export lock, or with the HEC held and
/// nothing being installed.
pub unsafe fn contents(address: Closure) -> Contents {
    match address.untag().word(0) {
        0 => Contents::Absent,
        header if header == info!(hec_ABSENT_info).0 => Contents::Absent,
        _ => resolve(address).contents(),
    }
}

/// What a pointer leads to, behind cells and indirections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Static(Closure),
    /// A fixed object other than an exit, present or absent.
    Fixed(Closure),
    /// A cell with an exit, and what that leads to.
    Exit(Closure, Closure),
    /// A local object.
    Local(Closure),
}

impl Target {
    unsafe fn contents(self) -> Contents {
        match self {
            Target::Static(c) if matches!(c.untag().info().kind(), THUNK_STATIC | IND_STATIC) => {
                Contents::Unevaluated(c)
            }
            Target::Static(c) => Contents::Value(c),
            Target::Fixed(c) if is_absent(c) => Contents::Absent,
            Target::Fixed(c) => Contents::Value(c),
            Target::Local(c) | Target::Exit(_, c) if is_evaluated(c.untag().info()) => Contents::Value(c),
            Target::Local(c) | Target::Exit(_, c) => Contents::Unevaluated(c),
        }
    }
}

/// Is a fixed object absent?
/// # Safety
/// The memory at `fixed` is usable.
pub unsafe fn is_absent(fixed: Closure) -> bool {
    fixed.untag().info() == info!(hec_ABSENT_info)
}

/// Is it the header of a value, or of a thunk whose evaluation has raised an exception?
/// # Safety
/// `info` is the header of a local object.
pub unsafe fn is_evaluated(info: Info) -> bool {
    match info.kind() {
        THUNK_SELECTOR | AP | AP_STACK | IND | BLACKHOLE | WHITEHOLE => false,
        kind => !fields::is_thunk(kind) || info == info!(stg_raise_info),
    }
}

/// Follows indirections and cells from a pointer.
/// # Safety
/// `p` refers to a live or fixed object.
#[inline]
pub unsafe fn resolve(mut p: Closure) -> Target {
    let mut first_cell = None;
    loop {
        let c = p.untag();
        if !in_heap(c.0) {
            return Target::Static(p);
        }
        if is_fixed(c) {
            if p.tag() != 0 || !is_cell(c) {
                return Target::Fixed(p);
            }
            first_cell.get_or_insert(c);
            p = c.field(INDIRECTEE);
            continue;
        }
        let value = if p.tag() == 0 { blackholed_value(c) } else { None };
        match value {
            Some(value) => p = value,
            None => return first_cell.map_or(Target::Local(p), |cell| Target::Exit(cell, p)),
        }
    }
}

/// The value of a local object, if it is an indirection or an evaluated black hole.
unsafe fn blackholed_value(c: Closure) -> Option<Closure> {
    matches!(c.info().kind(), IND | BLACKHOLE).then(|| blackhole::value(c)).flatten()
}
