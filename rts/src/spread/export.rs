//! Export: gives local objects fixed addresses, by which other processing elements may refer to them.
//!
//! *Locking*: one lock for exports and installs. Its holder has a HEC and never waits, so the world is not stopped
//! meanwhile; the collector takes it with the world stopped.
use crate::abi::closure::fields::INDIRECTEE;
use crate::abi::{Closure, Info, TAG_MASK, WORD};
use crate::base::poison::unpoisoned;
use crate::collector::roots::{self, IsAlive, Scope, Visitor};
use crate::hec::{out_of_memory, Hec};
use crate::info;
use crate::memory::address_space::is_own;
use crate::memory::fixed_blocks::{Area, Pieces};
use crate::memory::{exits, Run};
use crate::spread::cell::{resolve, Target, CELL_WORDS};
use crate::spread::fields;
use crate::spread::memo::Memo;
use crate::spread::remote_objects::{self, RemoteExits, REMOTE_WORDS};
use crate::spread::statics::Statics;
use crate::spread::stays::Stays;
use crate::spread::travel::{unlifted, ThunkKinds};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// What is known of fixed objects and their originals.
#[derive(Default)]
pub struct Export {
    copies: Area,
    /// Apart from the copies, so that those of a packet are adjacent.
    cells: Area,
    pub(super) memo: Memo,
    pub(super) statics: Statics,
    pub(super) kinds: ThunkKinds,
    pub(super) pieces: Pieces,
    pub(super) remote_exits: RemoteExits,
}

static EXPORT: LazyLock<Mutex<Export>> = LazyLock::new(Mutex::default);

/// Takes the lock.
pub(super) fn lock() -> MutexGuard<'static, Export> {
    unpoisoned(EXPORT.lock())
}

impl Export {
    /// Room for the copy of an object.
    pub(super) unsafe fn allocate(&mut self, words: usize) -> Closure {
        self.copies.allocate(words).unwrap_or_else(|| out_of_memory(words * WORD))
    }

    /// The remote object that stands elsewhere for a local one of such a type.
    pub(super) unsafe fn remote(&mut self, local: Closure, header: Info) -> Closure {
        if let Some(remote) = self.memo.get(local) {
            return remote;
        }
        let remote = self.cells.allocate(REMOTE_WORDS).unwrap_or_else(|| out_of_memory(REMOTE_WORDS * WORD));
        remote_objects::write(remote, local, header);
        self.remote_exits.add_own(remote);
        self.memo.add(local, remote);
        remote
    }

    /// A full collection frees these runs.
    /// # Safety
    /// The world is stopped.
    pub(super) unsafe fn leave(&mut self, dead: &[Run]) {
        self.copies.leave(dead);
        self.cells.leave(dead);
        self.remote_exits.forget_dead();
    }

    /// The cell that stands for a local object; a new one unless there is one, or a copy.
    pub(super) unsafe fn stand_in(&mut self, local: Closure) -> Closure {
        if let Some(fixed) = self.memo.get(local.untag()) {
            return fixed;
        }
        let cell = self.cells.allocate(CELL_WORDS).unwrap_or_else(|| out_of_memory(CELL_WORDS * WORD));
        cell.set_info(info!(hec_CELL_info));
        cell.set_word(INDIRECTEE, local.0);
        exits::add(cell.slot(INDIRECTEE));
        self.memo.add(local.untag(), cell);
        cell
    }
}

/// The fixed address that stands for a closure: itself if it is fixed or static; that of its copy; or that of a cell.
/// # Errors
/// If it is an object of unlifted type, which no cell can stand for.
/// # Safety
/// The closure is live, and the caller holds the HEC.
pub unsafe fn fixed_address(_hec: &mut Hec, closure: Closure) -> Result<Closure, Stays> {
    let local = match resolve(closure) {
        Target::Static(c) | Target::Fixed(c) => return Ok(c),
        // One that has been filled here is known to nobody else.
        Target::Exit(cell, _) if is_own(cell.0) => return Ok(cell),
        Target::Exit(_, c) | Target::Local(c) => c,
    };
    if let Some(stays) = unlifted(local) {
        return Err(stays);
    }
    let fixed = lock().stand_in(local);
    Ok(fixed.with_tag(if fixed.info() == info!(hec_CELL_info) { 0 } else { tag_of_value(local, fixed) }))
}

/// The tag of pointers to the copy of a value, to which a pointer `p` led.
/// # Safety
/// The copy is present.
pub(super) unsafe fn tag_of_value(p: Closure, copy: Closure) -> usize {
    let info = copy.untag().info();
    if fields::is_constructor(info.kind()) {
        (info.con_tag() + 1).min(TAG_MASK)
    } else {
        p.tag()
    }
}

/// An array is thawed: its copy will not be its value.
pub(super) fn on_thaw(array: Closure) {
    lock().memo.forget(array.untag());
}

/// Registers what collections need to know.
/// # Safety
/// Called at start, by the one OS thread there is.
pub unsafe fn init() {
    roots::register_scoped(|visit: &mut Visitor, scope| {
        if scope == Scope::All {
            lock().statics.visit(visit)
        }
    });
    // SAFETY: as above.
    roots::register_weak_table(|is_alive: &mut IsAlive| unsafe { lock().memo.update(is_alive) });
    roots::register_copies(|show| lock().memo.show_copies(show));
}

/// Forgets all fixed objects, because the heap is empty.
#[cfg(test)]
pub fn clear() {
    *lock() = Export::default();
    exits::clear();
    crate::memory::fixed_blocks::clear();
}
