//! Which objects may travel, and which others must be present where they are: their *companions*.
//!
//! Code looks at the tag of a constructor's field, and enters what has none. So such a reference may be cut: an absent
//! object takes the place of its target. The companions of an object are the targets of its other references:
//!
//! - objects of unlifted types: arrays, byte arrays, and what stands for MVars and the like (`remote_objects.rs`);
//! - in functions and thunks also functions, partial applications, single-entry thunks, and the target of any tagged
//!   pointer: code may know what it finds in its free variables;
//! - the function of a partial application;
//! - in constructors with raw words, the contents of a pointer to bytes (`constructors.rs`).
//!
//! An object may travel if its closure type permits it, and that of its companions, and of theirs.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info};
use crate::info;
use crate::prims::compact::table::ByAddress;
use crate::spread::cell::{resolve, Target};
use crate::spread::constructors;
use crate::spread::fields;
use crate::spread::remote_objects;
use crate::spread::stays::Stays;
use crate::spread::thunk_kind::{classify, ThunkKind};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

/// The kinds of thunks whose code has been examined.
#[derive(Default)]
pub struct ThunkKinds(HashMap<usize, ThunkKind>);

impl ThunkKinds {
    /// # Safety
    /// `info` is the header of a thunk.
    pub unsafe fn of(&mut self, info: Info) -> ThunkKind {
        *self.0.entry(info.0).or_insert_with(|| classify(info))
    }
}

/// Why an object of this closure type stays, if it does.
fn own_reason(info: Info, kind: usize) -> Option<Stays> {
    let name = match kind {
        MUT_VAR_CLEAN | MUT_VAR_DIRTY => "a MutVar#",
        MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY => "a MutableArray#",
        SMALL_MUT_ARR_PTRS_CLEAN | SMALL_MUT_ARR_PTRS_DIRTY => "a SmallMutableArray#",
        BCO => "a BCO",
        COMPACT_NFDATA => "a Compact#",
        PRIM if info == info!(stg_STABLE_NAME_info) => "a StableName#",
        PRIM if remote_objects::is_remote(info) => return None,
        PRIM | MUT_PRIM | STACK | BLOCKING_QUEUE | TREC_CHUNK => "an object of the runtime",
        _ => return None,
    };
    Some(Stays(name))
}

/// Is it an object of a type that has no thunks, so that no cell can stand for it?
/// # Safety
/// It is live.
pub unsafe fn unlifted(c: Closure) -> Option<Stays> {
    let info = c.untag().info();
    match info.kind() {
        ARR_WORDS => Some(Stays("a ByteArray#")),
        kind if fields::is_array(kind) => Some(Stays("an Array#")),
        kind if fields::is_small_array(kind) => Some(Stays("a SmallArray#")),
        kind if remote_objects::header_for(kind).is_some() => Some(Stays("an MVar#, TVar#, ThreadId# or Weak#")),
        kind => own_reason(info, kind),
    }
}

/// What a reference demands.
pub enum Demand {
    /// It may be cut.
    Nothing,
    Companion,
    Stays(Stays),
}

/// What a reference `p` from an object with the header `owner_info` demands. It leads to the present object `target`,
/// behind indirections. `is_function_field`: it is that of the function of a PAP or AP.
/// # Safety
/// All are live or fixed.
#[inline]
pub unsafe fn demand(
    kinds: &mut ThunkKinds,
    owner_info: Info,
    is_function_field: bool,
    p: Closure,
    target: Closure,
) -> Demand {
    let owner = owner_info.kind();
    let in_code = fields::is_function(owner) || fields::is_thunk(owner);
    let info = target.untag().info();
    if p.tag() != 0 && !in_code && !is_function_field {
        let bytes = owner_info.nptrs() > 0 && constructors::is_contents(info);
        return if bytes { Demand::Companion } else { Demand::Nothing };
    }
    let kind = info.kind();
    if let Some(stays) = own_reason(info, kind) {
        return Demand::Stays(stays);
    }
    if kind == ARR_WORDS && fields::is_constructor(owner) && constructors::is_mutable(owner_info) {
        return Demand::Stays(Stays("a MutableByteArray#"));
    }
    let has_remote = remote_objects::header_for(kind).is_some() || remote_objects::is_remote(info);
    let unlifted = kind == ARR_WORDS || fields::is_array(kind) || fields::is_small_array(kind) || has_remote;
    let known = in_code && (p.tag() != 0 || fields::is_function(kind) || kind == PAP);
    if unlifted || is_function_field || known {
        return Demand::Companion;
    }
    if !in_code || !fields::is_thunk(kind) || info == info!(stg_raise_info) || info == info!(hec_ABSENT_info) {
        return Demand::Nothing;
    }
    match kinds.of(info) {
        ThunkKind::Updatable => Demand::Nothing,
        ThunkKind::SingleEntry => Demand::Companion,
        ThunkKind::Unknown => Demand::Stays(Stays("a thunk of unknown code")),
    }
}

/// The field of the function that an object applies.
pub fn function_field(kind: usize) -> Option<usize> {
    match kind {
        PAP => Some(PAP_FUN),
        AP => Some(AP_FUN),
        _ => None,
    }
}

/// What an object that may travel needs where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    Nothing,
    Companions,
}

/// Which local objects may travel, as far as is known within one packing.
#[derive(Default)]
pub struct Travellers {
    staying: HashMap<usize, Stays, BuildHasherDefault<ByAddress>>,
    /// The objects from the first one to the one under examination, and where their companions still to be examined
    /// begin. A stack of its own, because chains of companions are long.
    path: Vec<(Closure, usize)>,
    todo: Vec<Closure>,
    seen: HashSet<usize, BuildHasherDefault<ByAddress>>,
}

impl Travellers {
    /// May a local object travel? If so, its companions may, too. It is evaluated, or a thunk whose words are lent.
    /// `is_copied`: whether an object has a copy, so that it may.
    /// # Safety
    /// It is live.
    pub unsafe fn check(
        &mut self,
        kinds: &mut ThunkKinds,
        is_copied: impl Fn(Closure) -> bool,
        object: Closure,
    ) -> Result<Needs, Stays> {
        self.todo.clear();
        // Most objects have no companions, and need no table.
        let needs = match self.examine(kinds, &is_copied, object.untag()) {
            Ok(needs) => needs,
            Err(stays) => {
                self.staying.insert(object.untag().0, stays);
                return Err(stays);
            }
        };
        if self.todo.is_empty() {
            return Ok(needs);
        }
        self.path.clear();
        self.path.push((object.untag(), 0));
        self.seen.clear();
        self.seen.insert(object.untag().0);
        loop {
            while self.path.last().is_some_and(|&(_, rest)| rest >= self.todo.len()) {
                self.path.pop();
            }
            let Some(c) = self.todo.pop() else { return Ok(needs) };
            if !self.seen.insert(c.0) {
                continue;
            }
            self.path.push((c, self.todo.len()));
            if let Err(stays) = self.examine(kinds, &is_copied, c) {
                self.staying.extend(self.path.iter().map(|&(c, _)| (c.0, stays)));
                return Err(stays);
            }
        }
    }

    /// Examines a local object by itself, and adds those of its companions that are to be examined.
    unsafe fn examine(
        &mut self,
        kinds: &mut ThunkKinds,
        is_copied: &impl Fn(Closure) -> bool,
        c: Closure,
    ) -> Result<Needs, Stays> {
        if !self.staying.is_empty() {
            self.staying.get(&c.0).map_or(Ok(()), |&stays| Err(stays))?;
        }
        let info = c.info();
        let kind = info.kind();
        let has_raw = fields::is_constructor(kind) && info.nptrs() > 0;
        // The fast way for lists and trees.
        if fields::is_constructor(kind) && !has_raw && (1..1 + info.ptrs()).all(|i| c.field(i).tag() != 0) {
            return Ok(Needs::Nothing);
        }
        own_reason(info, kind).map_or(Ok(()), Err)?;
        if has_raw {
            constructors::reason(c, info).map_or(Ok(()), |held| Err(Stays(held).held_by(info)))?;
        }
        let function = function_field(kind);
        let in_code = fields::is_function(kind) || fields::is_thunk(kind) || function.is_some();
        let mut result = Ok(Needs::Nothing);
        fields::each(c, info, &|function| present_function(function), |i| {
            let p = c.field(i);
            if p.tag() != 0 && !in_code && !has_raw || result.is_err() {
                return;
            }
            let (target, is_local) = match resolve(p) {
                Target::Local(c) | Target::Exit(_, c) => (c, true),
                Target::Static(c) | Target::Fixed(c) => (c, false),
            };
            match demand(kinds, info, function == Some(i), p, target) {
                Demand::Stays(stays) if is_local => result = Err(stays.held_by(info)),
                Demand::Companion => {
                    result = Ok(Needs::Companions);
                    let c = target.untag();
                    let kind = c.info().kind();
                    let has_fields = kind != ARR_WORDS && remote_objects::header_for(kind).is_none();
                    if is_local && has_fields && !is_copied(c) {
                        self.todo.push(c);
                    }
                }
                _ => {}
            }
        });
        result
    }
}

/// The header of the function that a PAP or AP applies.
/// # Safety
/// It is present.
pub(super) unsafe fn present_function(function: Closure) -> Info {
    match resolve(function) {
        Target::Static(c) | Target::Fixed(c) | Target::Exit(_, c) | Target::Local(c) => c.untag().info(),
    }
}
