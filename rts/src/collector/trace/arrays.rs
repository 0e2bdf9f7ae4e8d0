//! Scavenges arrays of pointers.
//!
//! *Protocol*
//! 1. Compiled code writes to a mutable array without calling the runtime. It sets the header to `…_DIRTY` and, in an
//!    array with cards, the byte of the card (128 elements).
//! 2. So an old array stays in the remembered set as long as it is mutable.
//! 3. A minor collection scavenges only arrays with a dirty header, and of those with cards only dirty cards. A card
//!    stays dirty while an element on it is younger than the array.
//! 4. A frozen array is remembered only while it refers to a younger object. Its header says so: thawing a
//!    `FROZEN_CLEAN` array lists it again, a `FROZEN_DIRTY` one is listed already.
//!
//! *Several workers* share a large array in pieces of whole cards.
//! 1. The worker that scavenges the array writes the header that is right if no element is younger. It lists the array
//!    if that is mutable, and offers the pieces.
//! 2. A worker whose piece has a younger element makes the header dirty. The first to do so lists a frozen array.
//!
//! *Checked by*: the heap checker; the unit test `an_old_array_is_scanned_by_cards`; the conformance test
//! `array_cards`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info};
use crate::collector::parallel::work::Work;
use crate::collector::trace::forwarding::shared;
use crate::collector::trace::header;
use crate::collector::trace::worker::Worker;
use crate::info;
use crate::memory::Age;

/// Elements on a card.
const CARD_ELEMENTS: usize = 1 << MUT_ARR_PTRS_CARD_BITS;
/// Elements in a piece of a large array: whole cards, about as much work as a run of copies.
const PIECE_ELEMENTS: usize = 16 * CARD_ELEMENTS;

fn is_frozen(info: Info) -> bool {
    // SAFETY: this is the header of an array.
    matches!(unsafe { info.kind() }, MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY)
}

/// Returns the header of an array with cards.
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
    /// Scavenges an array with cards: `all` of it, or its dirty cards. Lists it in the remembered set if necessary.
    pub(in crate::collector) unsafe fn scan_array(&mut self, c: *mut usize, all: bool) {
        let frozen = is_frozen(Info(*c));
        let n = *c.add(MUT_ARR_PTRS);
        if self.divides(c) {
            *c = array_header(frozen, self.owner_gen <= 1);
            self.list_array(c, frozen, false);
            for from in (0..n).step_by(PIECE_ELEMENTS) {
                let (c, to) = (Closure(c as usize), (from + PIECE_ELEMENTS).min(n));
                self.share_work(self.owner_gen as usize, Work::Array { c, from, to, all });
            }
            return;
        }
        let younger = self.scan_cards(c, 0, n, all, frozen);
        *c = array_header(frozen, younger || self.owner_gen <= 1);
        self.list_array(c, frozen, younger);
    }

    /// Is this object, which has a run of its own, an array that is scavenged in pieces?
    pub(in crate::collector) unsafe fn divides(&self, c: *const usize) -> bool {
        let with_cards = matches!(
            Info(*c).kind(),
            MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY
        );
        PARALLEL && with_cards && *c.add(MUT_ARR_PTRS) > PIECE_ELEMENTS && !Age(self.age(c as usize)).is_fixed()
    }

    /// Scavenges a piece of an array.
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

    /// Scavenges elements `from..to`, which are whole cards. Is any of them younger?
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
                self.evacuate_fields(payload, from, to);
                *card = self.failed_to_evac as u8;
                younger |= self.failed_to_evac;
            }
            from = to;
            card = card.add(1);
        }
        self.evac_gen = evac_gen;
        younger
    }

    /// Scavenges an array without cards.
    pub(in crate::collector) unsafe fn scan_small_array(&mut self, c: *mut usize) {
        let kind = Info(*c).kind();
        let frozen = matches!(kind, SMALL_MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY);
        let evac_gen = self.evac_gen;
        if !frozen {
            self.evac_gen = 0;
        }
        let n = *c.add(SMALL_ARR_PTRS);
        self.evacuate_fields(c, SMALL_ARR_PAYLOAD, SMALL_ARR_PAYLOAD + n);
        self.evac_gen = evac_gen;
        let younger = self.failed_to_evac;
        let dirty = younger || self.owner_gen <= 1;
        *c = match (frozen, dirty) {
            (true, true) => info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_DIRTY_info),
            (true, false) => info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info),
            (false, true) => info!(stg_SMALL_MUT_ARR_PTRS_DIRTY_info),
            (false, false) => info!(stg_SMALL_MUT_ARR_PTRS_CLEAN_info),
        }
        .0;
        self.list_array(c, frozen, younger);
    }

    /// Lists an old array that is mutable or refers to a younger object.
    unsafe fn list_array(&mut self, c: *mut usize, frozen: bool, younger: bool) {
        self.failed_to_evac = false;
        if self.owner_gen > 1 && (younger || !frozen) {
            self.remember(c);
        }
    }
}
