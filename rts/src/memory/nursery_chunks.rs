//! The pieces of nurseries.
//!
//! A HEC that has filled its nursery has all others stop for a collection, although they may have room
//! left. So a nursery is cut into pieces. In one of them the HEC allocates; the others of its share lie on
//! its *shelf*, and when that is empty it takes from the fullest one. Only from the shelves of HECs that
//! have allocated in the last cycle: what those that rest leave unused would make the nursery larger
//! than the caches were meant to hold.
//!
//! One lock protects the shelves; to fill a piece takes far longer than to take one. They are dealt out anew
//! with the world stopped.
use crate::base::poison::unpoisoned;
use crate::memory::block_alloc::{alloc_run, free_run, Run};
use crate::memory::nursery::AllocArea;
use crate::memory::{Age, BLOCK_BYTES};
use std::sync::{Mutex, MutexGuard};

struct Shelf {
    pieces: Vec<Run>,
    /// Others may take from it.
    open: bool,
}

// SAFETY: a piece on a shelf is nobody's but who has the lock.
unsafe impl Send for Shelf {}

struct Shelves {
    /// By the number of the HEC.
    list: Vec<Shelf>,
    /// Bytes of the pieces that HECs have begun in this cycle.
    taken: usize,
    /// Blocks of a piece.
    len: usize,
    /// Pieces that may be taken beyond all shelves in this cycle, for when others are late for a collection.
    beyond: usize,
}

static SHELVES: Mutex<Shelves> = Mutex::new(Shelves { list: Vec::new(), taken: 0, len: 1, beyond: 0 });

fn shelves() -> MutexGuard<'static, Shelves> {
    unpoisoned(SHELVES.lock())
}

/// An empty piece for HEC `no`, if any is left for it.
pub(super) fn take(no: usize) -> Option<Run> {
    let Shelves { list, taken, .. } = &mut *shelves();
    let own = list.get_mut(no)?.pieces.pop();
    let piece = own.or_else(|| list.iter_mut().filter(|s| s.open).max_by_key(|s| s.pieces.len())?.pieces.pop())?;
    // SAFETY: a piece on a shelf is in use.
    *taken += unsafe { (*piece).len as usize } * BLOCK_BYTES;
    Some(piece)
}

/// An empty piece beyond the shelves, if there is one.
pub(super) fn take_overflow() -> Option<Run> {
    let Shelves { len, beyond, .. } = &mut *shelves();
    *beyond = beyond.checked_sub(1)?;
    // SAFETY: it becomes part of a nursery.
    unsafe { alloc_run(*len, Age::NURSERY) }
}

/// Bytes of the pieces that HECs have begun since they were dealt.
pub fn bytes_taken() -> usize {
    shelves().taken
}

/// Gives each nursery `bytes` in pieces of `piece` bytes (both rounded up to whole ones), first of what it has
/// had. False if memory is out, and some have none any more.
/// # Safety
/// The world is stopped, or the areas are new. The areas are empty, but for `allocated_before`.
pub unsafe fn distribute(areas: &mut [&mut AllocArea], bytes: usize, piece: usize) -> bool {
    let len = piece.div_ceil(BLOCK_BYTES).max(1);
    let share = bytes.div_ceil(len * BLOCK_BYTES).max(1);
    let Shelves { list: shelves, taken, len: of_piece, beyond } = &mut *shelves();
    (*of_piece, *beyond) = (len, areas.len() * share / 2);
    *taken = areas.len() * len * BLOCK_BYTES;
    let mut over: Vec<Run> = Vec::new();
    for area in areas.iter_mut() {
        if shelves.len() <= area.no {
            shelves.resize_with(area.no + 1, || Shelf { pieces: Vec::new(), open: false });
        }
        let shelf = &mut shelves[area.no];
        shelf.open = area.was_used;
        let own = &mut shelf.pieces;
        area.release_runs(own);
        own.retain(|&run| {
            let right = (*run).len as usize == len;
            if !right {
                free_run(run);
            }
            right
        });
        // The first ones have not been used for longest.
        let more = own.len().saturating_sub(share);
        over.extend(own.drain(..more));
    }
    for area in areas.iter_mut() {
        let own = &mut shelves[area.no].pieces;
        while own.len() < share {
            match over.pop().or_else(|| alloc_run(len, Age::NURSERY)) {
                Some(run) => own.push(run),
                None => return false,
            }
        }
        area.run = own.pop().expect("a share is one piece at least");
        if !area.add_run_for_refusal() {
            return false;
        }
    }
    over.into_iter().for_each(|run| free_run(run));
    true
}

/// Forgets all shelves: what lay there is gone.
#[cfg(test)]
pub(crate) fn clear() {
    shelves().list.clear();
}
