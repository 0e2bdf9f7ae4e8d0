//! Packing: copies evaluated objects to fixed addresses, and puts them into a packet.
//!
//! *Protocol*
//!
//! 1. The work is a stack of words in fixed objects that still have to be made fixed. A word is taken, and its target
//!    looked at, behind indirections. So depth costs no stack of the machine, and cycles end at the memo.
//! 2. A local object that is evaluated and may travel is copied, within the budget. Companions are copied in any case.
//!    For all others a cell is made. So what is left when the budget is used up becomes cells.
//! 3. An own fixed object joins the packet, too, because its receiver may not have it. Those of others join as
//!    companions only: their owners are asked for them.
//! 4. Objects that are copied one after the other are adjacent, so a packet is a few extents.
//!
//! *Order*: depth first, fields in order. So a list comes with what is in it, a consumer finds what it needs first, and
//! few cells are needed when the budget ends: as many as there are words on the stack.
//!
//! *Locking*: the export lock, from the first word to the last. Until then words of copies may be local.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::hec::Hec;
use crate::info;
use crate::memory::address_space::{is_own, run_of};
use crate::memory::fixed_blocks::{fix_in_place, is_fixed};
use crate::memory::object_size::size_of_object;
use crate::memory::{age_of, Age};
use crate::spread::cell::{is_absent, is_cell, is_evaluated, resolve, Target, CELL_WORDS};
use crate::spread::export::{self, tag_of_value, Export};
use crate::spread::fields;
use crate::spread::graph::{Extent, Graph};
use crate::spread::travel::{self, check, demand, function_field, Demand, Staying, Stays};
use std::collections::HashSet;
use std::ptr;

/// Bytes of an answer as a rule; those of one that follows others along the same structure.
pub const BUDGET: usize = 16 << 10;
pub const LARGE_BUDGET: usize = 64 << 10;

/// Marks a word whose target must be in the packet.
const COMPANION: usize = 1;
/// Marks a word of a function or thunk.
const IN_CODE: usize = 2;

struct Packer<'a> {
    export: &'a mut Export,
    /// Words that may still be copied.
    budget: isize,
    extents: Vec<Extent>,
    /// Fixed objects in the packet that were not made by it.
    included: HashSet<usize>,
    /// Where copies made for the packet are.
    fresh: Vec<Extent>,
    /// Words to make fixed, with marks in their low bits.
    todo: Vec<usize>,
    staying: Staying,
}

/// Packs what `roots` refer to. A root that is not evaluated is its address alone.
/// # Errors
/// If a root may not travel: then nothing is packed.
/// # Safety
/// The roots are live, and the caller holds the HEC.
pub unsafe fn pack(_hec: &mut Hec, roots: &[Closure], budget: usize) -> Result<Graph, Stays> {
    let export = &mut *export::lock();
    let mut packer = Packer::new(export, budget);
    let mut fixed = Vec::with_capacity(roots.len());
    for &root in roots {
        fixed.push(packer.root(root)?);
    }
    Ok(Graph::of(&fixed, &packer.extents, &[]))
}

/// Packs the words of an updatable thunk that will be lent. The caller claims the thunk afterwards, and drops the
/// packet if it cannot.
/// # Errors
/// If it may not travel, or is not updatable, or is evaluated already.
/// # Safety
/// The thunk is live and local, and the caller holds the HEC.
pub unsafe fn pack_thunk(_hec: &mut Hec, thunk: Closure, budget: usize) -> Result<Graph, Stays> {
    let export = &mut *export::lock();
    let info = thunk.untag().info();
    let updatable = match info.kind() {
        THUNK_SELECTOR => true,
        AP => info == info!(stg_AP_info),
        kind if fields::is_thunk(kind) => export.kinds.of(info) == crate::spread::thunk_kind::ThunkKind::Updatable,
        _ => false,
    };
    if !updatable {
        return Err(Stays("a thunk that is not updatable"));
    }
    let mut packer = Packer::new(export, budget);
    check(&mut packer.export.kinds, &mut packer.staying, thunk)?;
    let size = size_of_object(thunk.untag(), info);
    let mut words = std::slice::from_raw_parts(thunk.untag().slot(0), size).to_vec();
    // Another HEC may have updated it meanwhile; the claim will fail.
    words[0] = info.0;
    words[INDIRECTEE] = 0;
    packer.push_fields(Closure(words.as_mut_ptr() as usize), info);
    packer.run();
    Ok(Graph::of(&[], &packer.extents, &words))
}

impl<'a> Packer<'a> {
    fn new(export: &'a mut Export, budget: usize) -> Packer<'a> {
        Packer {
            export,
            budget: (budget / WORD) as isize,
            extents: Vec::new(),
            included: HashSet::new(),
            fresh: Vec::new(),
            todo: Vec::new(),
            staying: Staying::new(),
        }
    }

    /// Packs a root. Returns its fixed address.
    unsafe fn root(&mut self, root: Closure) -> Result<Closure, Stays> {
        let target = resolve(root);
        let mut marks = COMPANION;
        if let Target::Local(c) | Target::Exit(_, c) = target {
            if is_evaluated(c.untag().info()) {
                check(&mut self.export.kinds, &mut self.staying, c)?;
            } else {
                marks = 0;
            }
        }
        let mut word = root.0;
        self.todo.push(&raw mut word as usize | marks);
        self.run();
        // A cell that was asked for goes along, if there is something in it.
        let is_cell_asked_for = is_fixed(root) && is_cell(root.untag()) && is_own(root.0);
        if is_cell_asked_for && word != root.0 {
            root.untag().set_word(INDIRECTEE, word);
            self.include(root.untag(), CELL_WORDS);
            return Ok(root);
        }
        Ok(Closure(word))
    }

    /// Makes all words fixed that are still to be made so.
    unsafe fn run(&mut self) {
        while let Some(marked) = self.todo.pop() {
            let slot = (marked & !(COMPANION | IN_CODE)) as *mut usize;
            let must = marked & COMPANION != 0;
            let p = Closure(*slot);
            let mut fixed = self.fix(p, must);
            // Code that did not know its free variable may go on without knowing it.
            if marked & IN_CODE != 0 && p.tag() == 0 {
                fixed = fixed.untag();
            }
            *slot = fixed.0;
        }
    }

    /// The fixed pointer that replaces a pointer.
    #[inline]
    unsafe fn fix(&mut self, p: Closure, must: bool) -> Closure {
        let (local, cell) = match resolve(p) {
            Target::Static(c) => {
                self.export.statics.note(c);
                return c;
            }
            Target::Fixed(c) => {
                self.join(c.untag(), must);
                return c.with_tag(self.tag(p, c));
            }
            Target::Exit(cell, c) => (c, Some(cell)),
            Target::Local(c) => (c, None),
        };
        let c = local.untag();
        if let Some(shared) = shared_box(c) {
            return shared.with_tag(1);
        }
        let known = self.export.memo.get(c).filter(|&fixed| !is_cell(fixed));
        let copy = match known {
            Some(copy) => {
                self.join(copy, must);
                Some(copy)
            }
            None if self.is_copied(c, must) => Some(self.copy(c)),
            None => None,
        };
        let Some(copy) = copy else { return cell.unwrap_or_else(|| self.export.stand_in(local)) };
        let copy = copy.with_tag(self.tag(local, copy));
        if let Some(cell) = cell.or_else(|| self.export.memo.get(c).filter(|&fixed| is_cell(fixed))) {
            cell.set_word(INDIRECTEE, copy.0);
        }
        copy
    }

    /// The tag for a pointer to a fixed object, to which `p` led.
    unsafe fn tag(&self, p: Closure, fixed: Closure) -> usize {
        if is_absent(fixed) {
            0
        } else {
            tag_of_value(p, fixed)
        }
    }

    /// Is a local object copied now? One that must be has been checked before, with what needs it.
    unsafe fn is_copied(&mut self, c: Closure, must: bool) -> bool {
        if must && !fields::is_thunk(c.info().kind()) {
            return is_evaluated(c.info());
        }
        let info = c.info();
        let single_entry = || fields::is_thunk(info.kind()) && info != info!(stg_raise_info);
        if must && single_entry() {
            return self.export.kinds.of(info) == crate::spread::thunk_kind::ThunkKind::SingleEntry;
        }
        let wanted = must || self.budget > 0;
        wanted && is_evaluated(info) && check(&mut self.export.kinds, &mut self.staying, c).is_ok()
    }

    /// Copies a local object to a fixed address, and puts it into the packet.
    unsafe fn copy(&mut self, c: Closure) -> Closure {
        let info = c.info();
        let kind = info.kind();
        let words = size_of_object(c, info);
        let age = age_of(c.0);
        if kind == ARR_WORDS && age.is(Age::LARGE | Age::PINNED) {
            fix_in_place(run_of(c.0));
            self.include(c, words);
            return c;
        }
        let to = self.export.allocate(words);
        ptr::copy_nonoverlapping(c.slot(0), to.slot(0), words);
        to.set_info(frozen(info, kind));
        self.export.memo.add(c, to);
        Self::extend(&mut self.fresh, to, words);
        self.add(to, words);
        self.push_fields(to, info);
        to
    }

    /// Puts a fixed object into the packet, with what it needs, unless it is there already.
    unsafe fn join(&mut self, fixed: Closure, must: bool) {
        let wanted = must || self.budget > 0 && is_own(fixed.0);
        if !wanted || is_absent(fixed) || self.is_in_packet(fixed) {
            return;
        }
        let info = fixed.info();
        self.include(fixed, size_of_object(fixed, info));
        self.push_fields(fixed, info);
    }

    fn is_in_packet(&self, fixed: Closure) -> bool {
        let is_fresh = self.fresh.iter().rev().any(|extent| (extent.address..extent.end()).contains(&fixed.0));
        is_fresh || self.included.contains(&fixed.0)
    }

    fn include(&mut self, fixed: Closure, words: usize) {
        if self.included.insert(fixed.0) {
            self.add(fixed, words);
        }
    }

    fn add(&mut self, fixed: Closure, words: usize) {
        Self::extend(&mut self.extents, fixed, words);
        self.budget -= words as isize;
    }

    fn extend(extents: &mut Vec<Extent>, fixed: Closure, words: usize) {
        match extents.last_mut() {
            Some(last) if last.end() == fixed.0 => last.words += words,
            _ => extents.push(Extent { address: fixed.0, words }),
        }
    }

    /// Puts an object's pointers on the stack, the first one on top. The words are at `to`.
    unsafe fn push_fields(&mut self, to: Closure, info: Info) {
        let kind = info.kind();
        let is_code = fields::is_function(kind) || fields::is_thunk(kind);
        if is_code {
            self.export.statics.note_code(info);
        }
        let has_raw = fields::is_constructor(kind) && info.nptrs() > 0;
        let function = function_field(kind);
        let from = self.todo.len();
        let Packer { export, todo, .. } = self;
        let kinds = &mut export.kinds;
        fields::each(to, info, &|function| travel::present_function(function), |i| {
            let p = to.field(i);
            let mut marks = if is_code { IN_CODE } else { 0 };
            if is_code || has_raw || p.tag() == 0 || function.is_some() {
                let target = match resolve(p) {
                    Target::Static(c) | Target::Fixed(c) | Target::Exit(_, c) | Target::Local(c) => c,
                };
                if matches!(demand(kinds, info, function == Some(i), p, target), Demand::Companion) {
                    marks |= COMPANION;
                }
            }
            todo.push(to.slot(i) as usize | marks);
        });
        self.todo[from..].reverse();
    }
}

/// The header of a copy: that of an array that refers to nothing younger.
fn frozen(info: Info, kind: usize) -> Info {
    if fields::is_array(kind) {
        info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info)
    } else if fields::is_small_array(kind) {
        info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info)
    } else {
        info
    }
}

/// The shared closure that equals a small boxed integer or character.
unsafe fn shared_box(c: Closure) -> Option<Closure> {
    let header = c.info();
    if header == info!(ghczmprim_GHCziTypes_Izh_con_info) {
        let i = c.word(1).wrapping_sub(MIN_INTLIKE);
        let table = crate::static_closure!(stg_INTLIKE_closure);
        return (i <= MAX_INTLIKE.wrapping_sub(MIN_INTLIKE)).then(|| Closure(table.0 + i * 2 * WORD));
    }
    if header == info!(ghczmprim_GHCziTypes_Czh_con_info) && c.word(1) <= MAX_CHARLIKE {
        return Some(Closure(crate::static_closure!(stg_CHARLIKE_closure).0 + c.word(1) * 2 * WORD));
    }
    None
}
