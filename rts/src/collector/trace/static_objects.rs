//! Traces static objects, in full collections only, to find the reachable CAFs.
//!
//! Code refers to static closures through the static reference tables (SRTs) of its info tables. An SRT is a closure
//! (`stg_SRT_n_info`), the one closure that it would list, or the static function to which the code belongs. An
//! evaluated CAF is an indirection into the heap.
//!
//! *Protocol*
//! 1. A static object that may lead to a CAF has a link word: 0 in the executable, 3 if the compiler knows that it
//!    leads to none.
//! 2. A worker that reaches the object writes the collection's mark there: its number, shifted, with bit 0 set. Nothing
//!    has to be cleared afterwards.
//! 3. After tracing, CAFs that were not reached revert to thunks. So even code that was thought unreachable would find
//!    a proper thunk.
//!
//! *Checked by*: the unit test `cafs_live_as_long_as_code_can_reach_them`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, TAG_MASK, WORD};
use crate::collector::trace::forwarding::shared;
use crate::collector::trace::header;
use crate::collector::trace::worker::Worker;
use crate::memory::heap;

/// The link word of objects that lead to no CAF.
const LEADS_NOWHERE: usize = 3;
/// Index of the link word of a `THUNK_STATIC` or `IND_STATIC`.
const CAF_LINK: usize = CAF_STATIC_LINK;

/// Bytes of the table of shared characters, each with a header and a value.
const SHARED_CHARS_BYTES: usize = (MAX_CHARLIKE + 1) * 2 * WORD;

/// Returns the mark that the `n`th full collection writes to the link words of reached objects.
pub(in crate::collector) fn reached_mark(n: usize) -> usize {
    n << 2 | 1
}

/// Returns the link word of a static object that may lead to a CAF.
/// # Safety
/// `c` is an untagged static closure.
pub(in crate::collector) unsafe fn link_of(c: Closure) -> Option<*mut usize> {
    let info = c.info();
    let at = match info.kind() {
        CONSTR | CONSTR_1_0 | CONSTR_2_0 | CONSTR_1_1 if info.ptrs() > 0 => 1 + info.ptrs() + info.nptrs(),
        FUN_STATIC if info.ptrs() > 0 || info.srt().is_some() => 1 + info.ptrs() + info.nptrs(),
        THUNK_STATIC if info.srt().is_some() => CAF_LINK,
        IND_STATIC => CAF_LINK,
        _ => return None,
    };
    let link = c.slot(at);
    (*link != LEADS_NOWHERE).then_some(link)
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Reaches a static object. It is examined later (see `static_queue.rs`).
    #[inline(never)]
    pub(in crate::collector) unsafe fn reach_static(&mut self, p: usize) {
        // Strings are full of shared characters, which lead to no CAF.
        if p.wrapping_sub(self.char_table) < SHARED_CHARS_BYTES {
            return;
        }
        let c = Closure(p & !TAG_MASK);
        if c.is_null() {
            return;
        }
        if let Some(c) = self.static_queue.push(c) {
            self.list_static(c);
        }
    }

    /// Lists a static object to be scavenged, if it has not been listed yet.
    pub(in crate::collector) unsafe fn list_static(&mut self, c: Closure) {
        if let Some(link) = link_of(c) {
            let before = *link;
            if before != self.reached {
                if !PARALLEL {
                    *link = self.reached;
                } else if !header::exchange(shared(link), before, self.reached) {
                    return;
                }
                self.statics.push(c);
            }
        }
    }

    /// Scavenges a static object.
    pub(in crate::collector) unsafe fn scan_static(&mut self, c: Closure) {
        self.set_owner(self.oldest);
        let info = c.info();
        match info.kind() {
            IND_STATIC => self.scan_caf(c),
            THUNK_STATIC => self.reach_srt(info),
            kind => {
                if kind == FUN_STATIC {
                    self.reach_srt(info);
                }
                self.evacuate_fields(c.slot(0), 1, 1 + info.ptrs());
            }
        }
    }

    /// Brings what an entered CAF refers to into the oldest generation, if possible.
    pub(in crate::collector) unsafe fn scan_caf(&mut self, c: Closure) {
        self.evacuate(c.slot(INDIRECTEE));
        if self.take_failed_to_evac() {
            self.remember(c.slot(0));
        }
    }

    /// Drops the CAFs that a full collection has not reached.
    pub(in crate::collector) unsafe fn sweep_cafs(&self) {
        heap().cafs.retain(|&c| {
            let alive = c.word(CAF_LINK) == self.reached;
            if !alive {
                revert(c);
            }
            alive
        });
    }
}

/// Reverts an entered CAF to a thunk.
unsafe fn revert(c: Closure) {
    let info = Info(c.word(CAF_SAVED_INFO));
    c.set_word(INDIRECTEE, 0);
    c.set_word(CAF_SAVED_INFO, 0);
    c.set_info(info);
}
