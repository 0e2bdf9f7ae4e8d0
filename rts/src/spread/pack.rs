//! Packing: copies evaluated objects to fixed addresses, and puts them into a packet.
//!
//! *Protocol*
//!
//! 1. The work is a stack of words in fixed objects that still have to be made fixed. A word is taken, and its target
//!    looked at, behind indirections. So depth costs no stack of the machine, and cycles end at the memo.
//! 2. A local object that is evaluated and may travel is copied, within the budget. Companions are copied in any case.
//!    For all others a cell is made. So what is left when the budget is used up becomes cells, but for constructors
//!    without pointers.
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
use crate::abi::{words, Closure, Info, WORD};
use crate::cluster::ids::Block;
use crate::hec::Hec;
use crate::info;
use crate::memory::address_space::{block_index, is_own, run_of};
use crate::memory::fixed_blocks::{fix_in_place, is_fixed};
use crate::memory::object_size::size_of_object;
use crate::memory::{age_of, in_heap, Age, BLOCK_BYTES};
use crate::prims::array::set_on_thaw;
use crate::prims::compact::table::ByAddress;
use crate::spread::cell::{is_absent, is_cell, is_evaluated, resolve, Target, CELL_WORDS};
use crate::spread::constructors;
use crate::spread::export::{self, on_thaw, tag_of_value, Export};
use crate::spread::fields;
use crate::spread::graph::{Extent, Graph};
use crate::spread::remote_objects::{self, REMOTE_WORDS};
use crate::spread::stays::Stays;
use crate::spread::thunk_kind::ThunkKind;
use crate::spread::travel::{self, demand, function_field, Demand, Needs, Travellers};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

/// Bytes of an answer.
pub const BUDGET: usize = 16 << 10;
/// Bytes that go with a thunk that is lent. It may need little of them, and sparks may share what they refer to.
pub const LOAN_BUDGET: usize = 2 << 10;

/// Bytes of objects that a message may have: a little less than the transport takes.
const LARGEST: usize = (1 << 30) - (16 << 20);

/// Marks a word whose target must be in the packet.
const COMPANION: usize = 1;
/// Marks a word of a function or thunk.
const IN_CODE: usize = 2;
/// Marks a word that leads to bytes to which there are addresses in raw words.
const IN_PLACE: usize = 4;

struct Packer<'a> {
    export: &'a mut Export,
    /// Words that may still be copied.
    budget: isize,
    /// Are objects without pointers copied beyond the budget? They are smaller than a message that would ask for them.
    takes_leaves: bool,
    extents: Vec<Extent>,
    /// Fixed objects in the packet that were not made by it.
    included: HashSet<usize, BuildHasherDefault<ByAddress>>,
    /// Where the copies made for the packet begin, in each run that has some.
    fresh: HashMap<usize, usize, BuildHasherDefault<ByAddress>>,
    /// The end of the last copy.
    fresh_end: usize,
    /// Words to make fixed, with marks in their low bits.
    todo: Vec<usize>,
    travellers: Travellers,
    /// The blocks that all words lead to, and the last one of them.
    blocks: HashSet<usize, BuildHasherDefault<ByAddress>>,
    last_block: usize,
}

/// Packs what `roots` refer to. A root that is not evaluated is its address alone.
/// # Errors
/// If a root may not travel, or what it needs is too much for a message.
/// # Safety
/// The roots are live, and the caller holds the HEC.
pub unsafe fn pack(_hec: &mut Hec, roots: &[Closure], budget: usize) -> Result<Graph, Stays> {
    let export = &mut *export::lock();
    let mut packer = Packer::new(export, budget);
    let mut fixed = Vec::with_capacity(roots.len());
    for &root in roots {
        fixed.push(packer.root(root)?);
    }
    packer.packet(&fixed, &[])
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
        kind if fields::is_thunk(kind) => export.kinds.of(info) == ThunkKind::Updatable,
        _ => false,
    };
    if !updatable {
        return Err(Stays("a thunk that is not updatable"));
    }
    let mut packer = Packer::new(export, budget);
    packer.check(thunk)?;
    let size = size_of_object(thunk.untag(), info);
    let mut words = std::slice::from_raw_parts(thunk.untag().slot(0), size).to_vec();
    // Another HEC may have updated it meanwhile; the claim will fail.
    words[0] = info.0;
    words[INDIRECTEE] = 0;
    packer.push_fields(Closure(words.as_mut_ptr() as usize), info, Needs::Companions);
    packer.run();
    packer.packet(&[], &words)
}

impl<'a> Packer<'a> {
    fn new(export: &'a mut Export, budget: usize) -> Packer<'a> {
        set_on_thaw(on_thaw);
        Packer {
            export,
            budget: (budget / WORD) as isize,
            takes_leaves: budget > 0,
            extents: Vec::new(),
            included: HashSet::default(),
            fresh: HashMap::default(),
            fresh_end: 0,
            todo: Vec::new(),
            travellers: Travellers::default(),
            blocks: HashSet::default(),
            last_block: usize::MAX,
        }
    }

    /// Packs a root. Returns its fixed address.
    unsafe fn root(&mut self, root: Closure) -> Result<Closure, Stays> {
        let target = resolve(root);
        let mut marks = COMPANION;
        if let Target::Local(c) | Target::Exit(_, c) = target {
            if is_evaluated(c.untag().info()) {
                self.check(c)?;
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
            self.note_block(root);
            return Ok(root);
        }
        Ok(Closure(word))
    }

    /// The packet of all that was put into it.
    unsafe fn packet(&self, roots: &[Closure], thunk: &[usize]) -> Result<Graph, Stays> {
        let words: usize = self.extents.iter().map(|extent| extent.words).sum();
        if words * WORD > LARGEST {
            return Err(Stays("more than 1 GB at once"));
        }
        let blocks = self.blocks.iter().map(|&block| Block(block as u64)).collect();
        Ok(Graph::of(roots, &self.extents, thunk, &self.export.remote_exits, blocks))
    }

    /// Makes all words fixed that are still to be made so.
    unsafe fn run(&mut self) {
        while let Some(marked) = self.todo.pop() {
            let slot = (marked & !(COMPANION | IN_CODE | IN_PLACE)) as *mut usize;
            let must = marked & COMPANION != 0;
            let p = Closure(*slot);
            if marked & IN_PLACE != 0 {
                self.fix_bytes(p.untag());
            }
            if must && p.tag() == 0 && self.stands_elsewhere(p, slot) {
                continue;
            }
            let mut fixed = self.fix(p, must);
            // Code that did not know its free variable may go on without knowing it.
            if marked & IN_CODE != 0 && p.tag() == 0 {
                fixed = fixed.untag();
            }
            *slot = fixed.0;
            self.note_block(fixed);
        }
    }

    /// The packet refers to this object, if it is fixed.
    #[inline]
    fn note_block(&mut self, fixed: Closure) {
        if in_heap(fixed.0) {
            let block = block_index(fixed.0);
            if block != self.last_block {
                self.last_block = block;
                self.blocks.insert(block);
            }
        }
    }

    /// If the word leads to a local MVar or the like: puts what stands for it elsewhere into the packet. The word keeps
    /// its pointer if it is that of a fixed object.
    unsafe fn stands_elsewhere(&mut self, p: Closure, slot: *mut usize) -> bool {
        if !in_heap(p.0) || is_fixed(p) {
            return false;
        }
        let Some(header) = remote_objects::header_for(p.info().kind()) else { return false };
        let remote = self.export.remote(p, header);
        self.include(remote, REMOTE_WORDS);
        self.note_block(remote);
        if is_fixed(Closure(slot as usize)) {
            self.export.remote_exits.add(slot, remote);
        } else {
            *slot = remote.0;
        }
        true
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
            // The owner of one that has been filled here may be lost.
            Target::Exit(cell, c) => (c, Some(cell).filter(|cell| is_own(cell.0))),
            Target::Local(c) => (c, None),
        };
        let c = local.untag();
        if let Some(shared) = shared_box(c) {
            return shared.with_tag(1);
        }
        let known = self.export.memo.get(c);
        let (copy, cell) = match known {
            Some(fixed) if is_cell(fixed) => (None, cell.or(known)),
            Some(fixed) if self.has_changed(c, fixed) => (None, cell),
            _ => (known, cell),
        };
        let copy = match copy {
            Some(copy) => {
                self.join(copy, must);
                copy
            }
            None => match self.is_copied(c, must) {
                Some(needs) => self.copy(c, needs),
                None => return cell.unwrap_or_else(|| self.export.stand_in(local)),
            },
        };
        let copy = copy.with_tag(self.tag(local, copy));
        if let Some(cell) = cell {
            cell.set_word(INDIRECTEE, copy.0);
        }
        copy
    }

    /// Have bytes been changed since they were copied? They may have been thawed, which no header shows.
    unsafe fn has_changed(&self, c: Closure, copy: Closure) -> bool {
        let bytes = |c: Closure| std::slice::from_raw_parts(c.slot(ARR_BYTES), 1 + words(c.word(ARR_BYTES)));
        c.info().kind() == ARR_WORDS && !self.is_in_packet(copy) && bytes(c) != bytes(copy)
    }

    /// Makes bytes fixed where they are, because there are addresses of them.
    unsafe fn fix_bytes(&mut self, c: Closure) {
        if in_heap(c.0) && c.info().kind() == ARR_WORDS && age_of(c.0).is(Age::LARGE | Age::PINNED) && !is_fixed(c) {
            fix_in_place(run_of(c.0));
        }
    }

    /// May a local object travel?
    unsafe fn check(&mut self, object: Closure) -> Result<Needs, Stays> {
        let Export { kinds, memo, .. } = &mut *self.export;
        self.travellers.check(kinds, |c| memo.get(c).is_some_and(|fixed| !is_cell(fixed)), object)
    }

    /// The tag for a pointer to a fixed object, to which `p` led.
    unsafe fn tag(&self, p: Closure, fixed: Closure) -> usize {
        if is_absent(fixed) {
            0
        } else {
            tag_of_value(p, fixed)
        }
    }

    /// Is a local object copied now, and what does it need? One that must be has been checked before, with what needs
    /// it.
    unsafe fn is_copied(&mut self, c: Closure, must: bool) -> Option<Needs> {
        let info = c.info();
        if must {
            let is_thunk = fields::is_thunk(info.kind()) && info != info!(stg_raise_info);
            let is_copied = match is_thunk {
                true => self.export.kinds.of(info) == ThunkKind::SingleEntry,
                false => is_evaluated(info),
            };
            return is_copied.then_some(Needs::Companions);
        }
        let is_leaf = || self.takes_leaves && fields::is_constructor(info.kind()) && info.ptrs() == 0;
        let is_left = self.budget <= 0 && !is_leaf();
        if is_left || !is_evaluated(info) {
            return None;
        }
        self.check(c).ok()
    }

    /// Copies a local object to a fixed address, and puts it into the packet.
    unsafe fn copy(&mut self, c: Closure, needs: Needs) -> Closure {
        let info = c.info();
        let kind = info.kind();
        let words = size_of_object(c, info);
        let to = self.export.allocate(words);
        fields::copy_words(c.slot(0), to.slot(0), words);
        to.set_info(frozen(info, kind));
        self.export.memo.add(c, to);
        if to.0 != self.fresh_end || to.0.is_multiple_of(BLOCK_BYTES) {
            self.fresh.entry(run_of(to.0) as usize).or_insert(to.0);
        }
        self.fresh_end = to.0 + words * WORD;
        self.add(to, words);
        self.push_fields(to, info, needs);
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
        self.push_fields(fixed, info, Needs::Companions);
    }

    unsafe fn is_in_packet(&self, fixed: Closure) -> bool {
        // The lock is held, so all that follows the first copy in a run is of this packet.
        let is_fresh = || self.fresh.get(&(run_of(fixed.0) as usize)).is_some_and(|&first| fixed.0 >= first);
        is_own(fixed.0) && is_fresh() || self.included.contains(&fixed.0)
    }

    fn include(&mut self, fixed: Closure, words: usize) {
        if self.included.insert(fixed.0) {
            self.add(fixed, words);
        }
    }

    fn add(&mut self, fixed: Closure, words: usize) {
        match self.extents.last_mut() {
            Some(last) if last.end() == fixed.0 => last.words += words,
            _ => self.extents.push(Extent { address: fixed.0, words }),
        }
        self.budget -= words as isize;
    }

    /// Puts an object's pointers on the stack, the first one on top. The words are at `to`.
    #[inline]
    unsafe fn push_fields(&mut self, to: Closure, info: Info, needs: Needs) {
        if needs == Needs::Companions || !fields::is_constructor(info.kind()) {
            return self.push_marked(to, info);
        }
        // The fast way for lists and trees.
        self.todo.extend((1..1 + info.ptrs()).rev().map(|i| to.slot(i) as usize));
    }

    unsafe fn push_marked(&mut self, to: Closure, info: Info) {
        let kind = info.kind();
        let is_code = fields::is_function(kind) || fields::is_thunk(kind);
        if is_code {
            self.export.statics.note_code(info);
        }
        let mut marks = if is_code { IN_CODE } else { 0 };
        if constructors::is_contents(info) {
            marks |= IN_PLACE;
        }
        let has_raw = fields::is_constructor(kind) && info.nptrs() > 0;
        let function = function_field(kind);
        let from = self.todo.len();
        fields::each(to, info, &|function| travel::present_function(function), |i| {
            let p = to.field(i);
            let may_be_companion = p.tag() == 0 || is_code || has_raw || function.is_some();
            let is_companion = may_be_companion && self.is_companion(info, function == Some(i), p);
            self.todo.push(to.slot(i) as usize | marks | if is_companion { COMPANION } else { 0 });
        });
        self.todo[from..].reverse();
    }

    /// Is what a pointer `p` of an object with this header leads to a companion?
    unsafe fn is_companion(&mut self, owner: Info, is_function_field: bool, p: Closure) -> bool {
        let (Target::Static(c) | Target::Fixed(c) | Target::Exit(_, c) | Target::Local(c)) = resolve(p);
        matches!(demand(&mut self.export.kinds, owner, is_function_field, p, c), Demand::Companion)
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
