//! Arrays of pointers.
//!
//! An old array stays on the remembered set for as long as it is mutable, because compiled
//! code writes to it without telling us: it sets the header to `…_DIRTY` and, for the arrays
//! that have them, the byte of the card (128 elements) it wrote to. A minor collection looks
//! only at arrays with a dirty header, and in those with cards only at dirty cards; a card
//! stays dirty while something on it is younger than the array. A frozen array is remembered
//! only for as long as it refers to something younger; its header says so, and thawing it puts
//! it back (`FROZEN_CLEAN`), or finds it listed already (`FROZEN_DIRTY`).
use super::worker::Worker;
use crate::contract::closure::fields::*;
use crate::contract::{layout::*, Info};
use crate::info;

const CARD_ELEMENTS: usize = 1 << MUT_ARR_PTRS_CARD_BITS;

impl<const MAJOR: bool> Worker<MAJOR> {
    /// Scans an array with cards: `all` of it, or the dirty cards. Sees to the remembered set.
    pub(super) unsafe fn scan_array(&mut self, c: *mut usize, all: bool) {
        let kind = Info(*c).kind();
        let frozen = matches!(kind, MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY);
        let promote_to = self.promote_to;
        if !frozen {
            self.promote_to = 0;
        }
        let n = *c.add(MUT_ARR_PTRS);
        let payload = c.add(MUT_ARR_PAYLOAD);
        let cards = payload.add(n) as *mut u8;
        let mut younger = false;
        let mut from = 0;
        let mut card = cards;
        while from < n {
            let to = (from + CARD_ELEMENTS).min(n);
            if all || *card != 0 {
                self.failed = false;
                self.fields(payload, from, to);
                *card = self.failed as u8;
                younger |= self.failed;
            }
            from = to;
            card = card.add(1);
        }
        self.promote_to = promote_to;
        let dirty = younger || self.owner <= 1;
        *c = match (frozen, dirty) {
            (true, true) => info!(stg_MUT_ARR_PTRS_FROZEN_DIRTY_info),
            (true, false) => info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info),
            (false, true) => info!(stg_MUT_ARR_PTRS_DIRTY_info),
            (false, false) => info!(stg_MUT_ARR_PTRS_CLEAN_info),
        }
        .0;
        self.settle(c, frozen, younger);
    }

    /// Scans an array without cards.
    pub(super) unsafe fn scan_small_array(&mut self, c: *mut usize) {
        let kind = Info(*c).kind();
        let frozen =
            matches!(kind, SMALL_MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY);
        let promote_to = self.promote_to;
        if !frozen {
            self.promote_to = 0;
        }
        let n = *c.add(SMALL_ARR_PTRS);
        self.fields(c, SMALL_ARR_PAYLOAD, SMALL_ARR_PAYLOAD + n);
        self.promote_to = promote_to;
        let younger = self.failed;
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
        self.failed = false;
        if self.owner > 1 && (younger || !frozen) {
            self.remember(c);
        }
    }
}
