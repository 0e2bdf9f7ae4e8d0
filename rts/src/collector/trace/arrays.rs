//! Arrays of pointers.
//!
//! An old array stays on the remembered set for as long as it is mutable, because compiled
//! code writes to it without telling us: it sets the header to `…_DIRTY` and, for the arrays
//! that have them, the byte of the card (128 elements) it wrote to. A minor collection looks
//! only at arrays with a dirty header, and in those with cards only at dirty cards; a card
//! stays dirty while something on it is younger than the array. A frozen array is remembered
//! only for as long as it refers to something younger; its header says so, and thawing it puts
//! it back (`FROZEN_CLEAN`), or finds it listed already (`FROZEN_DIRTY`).
//!
//! Several GC threads share a large array in pieces of whole cards. Who comes upon it writes the
//! header that it will have if nothing in it is younger, and lists it if it is mutable; a piece
//! in which something is younger makes the header dirty, and lists the array if it is the first
//! such piece of a frozen one.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info};
use crate::collector::parallel::work_sharing::Work;
use crate::collector::trace::forwarding::shared;
use crate::collector::trace::header;
use crate::collector::trace::worker::Worker;
use crate::info;

const CARD_ELEMENTS: usize = 1 << MUT_ARR_PTRS_CARD_BITS;
/// Elements in a piece of a large array: whole cards, about as much work as a run of copies.
const PIECE_ELEMENTS: usize = 16 * CARD_ELEMENTS;

fn is_frozen(info: Info) -> bool {
    // SAFETY: the header of an array.
    matches!(unsafe { info.kind() }, MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY)
}

/// Is this the header of a mutable array that nobody has written to since a collection last saw it, and that refers to
/// nothing younger?
#[inline(always)]
pub(in crate::collector) fn is_quiet(info: Info) -> bool {
    info == info!(stg_MUT_ARR_PTRS_CLEAN_info) || info == info!(stg_SMALL_MUT_ARR_PTRS_CLEAN_info)
}

/// The header of an array with cards.
fn array_header(frozen: bool, dirty: bool) -> usize {
    match (frozen, dirty) {
        (true, true) => info!(stg_MUT_ARR_PTRS_FROZEN_DIRTY_info),
        (true, false) => info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info),
        (false, true) => info!(stg_MUT_ARR_PTRS_DIRTY_info),
        (false, false) => info!(stg_MUT_ARR_PTRS_CLEAN_info),
    }
    .0
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Scans an array with cards: `all` of it, or the dirty cards. Sees to the remembered set.
    pub(in crate::collector) unsafe fn scan_array(&mut self, c: *mut usize, all: bool) {
        let frozen = is_frozen(Info(*c));
        let n = *c.add(MUT_ARR_PTRS);
        if self.divides(c) {
            *c = array_header(frozen, self.owner <= 1);
            self.settle(c, frozen, false);
            for from in (0..n).step_by(PIECE_ELEMENTS) {
                let (c, to) = (Closure(c as usize), (from + PIECE_ELEMENTS).min(n));
                self.share_work(self.owner as usize, Work::Array { c, from, to, all });
            }
            return;
        }
        let younger = self.scan_cards(c, 0, n, all, frozen);
        *c = array_header(frozen, younger || self.owner <= 1);
        self.settle(c, frozen, younger);
    }

    /// Is this object, which has a run of its own, an array that is scanned in pieces?
    pub(in crate::collector) unsafe fn divides(&self, c: *const usize) -> bool {
        let with_cards = matches!(
            Info(*c).kind(),
            MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY
        );
        PARALLEL && with_cards && *c.add(MUT_ARR_PTRS) > PIECE_ELEMENTS
    }

    /// Scans a piece of an array that has been divided.
    pub(in crate::collector) unsafe fn scan_array_piece(&mut self, c: *mut usize, from: usize, to: usize, all: bool) {
        let before = self.header(c);
        let frozen = is_frozen(Info(before));
        let younger = self.scan_cards(c, from, to, all, frozen);
        self.failed_to_evac = false;
        let dirty = array_header(frozen, true);
        if younger && before != dirty && header::exchange(shared(c), array_header(frozen, false), dirty) && frozen {
            self.remember(c);
        }
    }

    /// Scans elements `from..to`, which are whole cards. Is any of them younger?
    #[inline(always)]
    unsafe fn scan_cards(&mut self, c: *mut usize, mut from: usize, end: usize, all: bool, frozen: bool) -> bool {
        let evac_gen = self.evac_gen;
        if !frozen {
            self.evac_gen = 0;
        }
        let payload = c.add(MUT_ARR_PAYLOAD);
        let cards = payload.add(*c.add(MUT_ARR_PTRS)) as *mut u8;
        let mut younger = false;
        let mut card = cards.add(from / CARD_ELEMENTS);
        while from < end {
            let to = (from + CARD_ELEMENTS).min(end);
            if all || *card != 0 {
                self.failed_to_evac = false;
                self.fields(payload, from, to);
                *card = self.failed_to_evac as u8;
                younger |= self.failed_to_evac;
            }
            from = to;
            card = card.add(1);
        }
        self.evac_gen = evac_gen;
        younger
    }

    /// Scans an array without cards.
    pub(in crate::collector) unsafe fn scan_small_array(&mut self, c: *mut usize) {
        let kind = Info(*c).kind();
        let frozen = matches!(kind, SMALL_MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY);
        let evac_gen = self.evac_gen;
        if !frozen {
            self.evac_gen = 0;
        }
        let n = *c.add(SMALL_ARR_PTRS);
        self.fields(c, SMALL_ARR_PAYLOAD, SMALL_ARR_PAYLOAD + n);
        self.evac_gen = evac_gen;
        let younger = self.failed_to_evac;
        let dirty = younger || self.owner <= 1;
        *c = match (frozen, dirty) {
            (true, true) => info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_DIRTY_info),
            (true, false) => info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info),
            (false, true) => info!(stg_SMALL_MUT_ARR_PTRS_DIRTY_info),
            (false, false) => info!(stg_SMALL_MUT_ARR_PTRS_CLEAN_info),
        }
        .0;
        self.settle(c, frozen, younger);
    }

    /// Lists an old array that is mutable, or refers to something younger.
    unsafe fn settle(&mut self, c: *mut usize, frozen: bool, younger: bool) {
        self.failed_to_evac = false;
        if self.owner > 1 && (younger || !frozen) {
            self.remember(c);
        }
    }
}
