//! Static objects, traced in full collections only.
//!
//! Code refers to static closures through the static reference tables of its info tables. A
//! table is a closure itself (`stg_SRT_n_info`), or the one closure it would list, or the
//! static function that the code belongs to. What matters in the end is which CAFs can still
//! be reached: an evaluated CAF is an indirection into the heap.
//!
//! Each static object that may lead to a CAF has a link word: 0 in the executable, 3 if the
//! compiler knows that no CAF can be reached. We write the number of the collection there
//! (shifted, with bit 0 set) when the object is reached; nothing has to be cleared afterwards.
//! CAFs that were not reached are put back to what they were before they were entered, so
//! that even code which was thought unreachable would find a proper thunk.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, TAG_MASK, WORD};
use crate::collector::trace::forwarding::shared;
use crate::collector::trace::header;
use crate::collector::trace::worker::Worker;
use crate::memory::heap;

/// Link word of objects from which no CAF can be reached.
const LEADS_NOWHERE: usize = 3;
/// Link word of a `THUNK_STATIC` or `IND_STATIC`.
const CAF_LINK: usize = CAF_STATIC_LINK;

/// The table of shared characters: a header and a value each.
const SHARED_CHARS_BYTES: usize = (MAX_CHARLIKE + 1) * 2 * WORD;

/// What the link words of reached objects say in the `n`th collection.
pub(in crate::collector) fn reached_mark(n: usize) -> usize {
    n << 2 | 1
}

/// The link word of a static object, if it has one that matters.
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
    /// A static object is referred to. (It is not looked at at once: see `static_queue.rs`.)
    #[inline(never)]
    pub(in crate::collector) unsafe fn reach_static(&mut self, p: usize) {
        // Strings are full of shared characters, which lead nowhere: they need not be looked at.
        if p.wrapping_sub(self.char_table) < SHARED_CHARS_BYTES {
            return;
        }
        let c = Closure(p & !TAG_MASK);
        if c.is_null() {
            return;
        }
        if let Some(c) = self.coming.push(c) {
            self.look_at_static(c);
        }
    }

    /// Puts a static object on the list of those to be scanned, if it has not been there yet.
    pub(in crate::collector) unsafe fn look_at_static(&mut self, c: Closure) {
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

    pub(in crate::collector) unsafe fn scan_static(&mut self, c: Closure) {
        self.set_owner(self.oldest);
        let info = c.info();
        match info.kind() {
            IND_STATIC => self.scan_caf(c),
            THUNK_STATIC => self.srt(info),
            kind => {
                if kind == FUN_STATIC {
                    self.srt(info);
                }
                self.fields(c.slot(0), 1, 1 + info.ptrs());
            }
        }
    }

    /// Brings what an entered CAF refers to into the oldest generation, if that is possible.
    pub(in crate::collector) unsafe fn scan_caf(&mut self, c: Closure) {
        self.evacuate(c.slot(INDIRECTEE));
        if self.take_failed_to_evac() {
            self.remember(c.slot(0));
        }
    }

    /// After a full collection: forgets the CAFs that were not reached.
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

/// Makes an entered CAF a thunk again.
unsafe fn revert(c: Closure) {
    let info = Info(c.word(CAF_SAVED_INFO));
    c.set_word(INDIRECTEE, 0);
    c.set_word(CAF_SAVED_INFO, 0);
    c.set_info(info);
}
