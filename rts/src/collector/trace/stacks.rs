//! Scavenges stacks, and objects that contain pieces of stack.
//!
//! *Invariants*
//! - A chunk is dirty while it may refer to younger objects. A clean one costs a minor collection nothing, so deep
//!   recursion is scavenged once.
//! - The updatee of an update frame stays an object of its own, even if another thread has updated it already: the
//!   frame will overwrite it.
//! - Only the used words of a chunk are copied. The current chunk of a thread that has not run since the last
//!   collection gets little more room than that ([`stack_shrink`]).
//!
//! *Protocol*: a frame's info table says which of its words are pointers. With several workers, the next chunk is
//! evacuated before the frames of a chunk are scavenged, so that deep stacks are shared.
//!
//! *Checked by*: the heap checker, and the unit test `frames_are_scanned_by_their_bitmaps`.
use crate::abi::closure::fields::*;
use crate::abi::info_table::Bitmap;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Stack, Tso, TAG_MASK, WORD};
use crate::base::fatal;
use crate::collector::trace::header::FORWARDED;
use crate::collector::trace::prefetch::Lookahead;
use crate::collector::trace::worker::Worker;
use crate::memory::Age;
use crate::thread::stack::{underflow_frame, CLEAN, UNTOUCHED};
use crate::thread::{park, stack_shrink};
use std::ptr;

/// Words of a chunk's header.
const HEADER_WORDS: usize = SIZEOF_StgStack / WORD;

/// The size of the copy of a chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::collector) enum Size {
    Same,
    /// As small as possible, if that is worth it.
    Shrunk,
}

/// Indices of words of a `RET_FUN` frame.
const RET_FUN_SIZE: usize = 1;
const RET_FUN_FUN: usize = 2;
const RET_FUN_PAYLOAD: usize = 3;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Scavenges a chunk.
    pub(in crate::collector) unsafe fn scan_stack(&mut self, c: *mut usize) {
        let stack = Stack(c as usize);
        let evac_gen = std::mem::replace(&mut self.evac_gen, 0);
        if PARALLEL {
            self.count_unshared(stack.top() - stack.obj().sp);
            self.evacuate_next_chunk(stack);
        }
        self.scan_frames(stack.obj().sp as *mut usize, stack.top() as *mut usize);
        self.evac_gen = evac_gen;
        stack.obj().dirty = if self.owner_gen <= 1 || self.failed_to_evac { UNTOUCHED } else { CLEAN };
    }

    /// Evacuates the next chunk, if there is one, for others to scavenge at the same time.
    unsafe fn evacuate_next_chunk(&mut self, stack: Stack) {
        if let Some(frame) = underflow_frame(stack) {
            self.evacuate(frame.add(UNDERFLOW_NEXT));
        }
    }

    /// Evacuates the youngest chunk of a thread. Its unused room is not needed until the thread runs.
    pub(in crate::collector) unsafe fn evacuate_current_chunk(&mut self, t: Tso) {
        let o = t.obj();
        let slot = &mut o.stackobj as *mut Stack as *mut usize;
        let (p, age) = (*slot, self.age(*slot));
        if Age(age).is_condemned_plain() && !park::is_in_foreign_call(o.why_blocked as usize) {
            let header = self.header(p as *const usize);
            let plain = header & FORWARDED == 0;
            if plain && self.copy_stack(slot, p as *mut usize, header, age, Size::Shrunk) {
                return;
            }
        }
        self.evacuate(slot);
    }

    /// Copies a stack chunk: its header, and its used words.
    #[cold]
    pub(in crate::collector) unsafe fn copy_stack(
        &mut self,
        slot: *mut usize,
        from: *mut usize,
        header: usize,
        age: u8,
        size: Size,
    ) -> bool {
        let old = Stack(from as usize);
        let used = (old.top() - old.obj().sp) / WORD;
        let room = match size {
            Size::Shrunk if stack_shrink::is_shrinkable(old) => used + stack_shrink::ROOM_WORDS,
            _ => old.obj().size as usize,
        };
        let step = self.destination(age);
        let words = HEADER_WORDS + room;
        let to = self.alloc(step, words);
        ptr::copy_nonoverlapping(from, to, HEADER_WORDS);
        let new = Stack(to as usize);
        new.obj().size = room as u32;
        if room != old.obj().size as usize {
            new.obj().full_size = old.full_size() as u16;
        }
        new.obj().sp = new.top() - used * WORD;
        ptr::copy_nonoverlapping(old.obj().sp as *const usize, new.obj().sp as *mut usize, used);
        if !self.forward(slot, from, header, to, 0) {
            self.undo_alloc(step, words);
            return false;
        }
        // The old size counts, because that is also what is counted as allocated.
        self.count_copied(age, HEADER_WORDS + old.obj().size as usize);
        self.failed_to_evac |= step < self.owner_gen;
        true
    }

    /// Scavenges whole frames from `sp` to `end`.
    pub(in crate::collector) unsafe fn scan_frames(&mut self, mut sp: *mut usize, end: *mut usize) {
        let mut ahead = Lookahead::from(sp as usize);
        while sp < end {
            ahead.advance(sp as usize, end as usize);
            let info = Info(*sp);
            self.reach_srt(info);
            sp = match info.kind() {
                RET_SMALL | CATCH_FRAME | ATOMICALLY_FRAME | CATCH_RETRY_FRAME | CATCH_STM_FRAME | STOP_FRAME => {
                    let bitmap = info.small_bitmap();
                    self.scan_bitmap(sp.add(1), bitmap);
                    sp.add(1 + bitmap.size())
                }
                UPDATE_FRAME => {
                    self.evacuate_as_is(sp.add(UPD_FRAME_UPDATEE));
                    sp.add(1 + info.small_bitmap().size())
                }
                UNDERFLOW_FRAME => {
                    self.evacuate(sp.add(UNDERFLOW_NEXT));
                    sp.add(1 + info.small_bitmap().size())
                }
                RET_BIG => {
                    let bitmap = info.large_bitmap();
                    self.scan_bitmap(sp.add(1), bitmap);
                    sp.add(1 + bitmap.size())
                }
                RET_FUN => {
                    self.evacuate(sp.add(RET_FUN_FUN));
                    let n = *sp.add(RET_FUN_SIZE);
                    let payload = sp.add(RET_FUN_PAYLOAD);
                    let fun = Closure(*sp.add(RET_FUN_FUN) & !TAG_MASK);
                    self.scan_prefix(payload, fun.info().fun_bitmap(), n);
                    payload.add(n)
                }
                RET_BCO => fatal::unsupported("the bytecode interpreter"),
                kind => fatal::broken(&format!(
                    "strange stack frame at {sp:p}: info {:#x}, closure type {kind}; \
                     expected a return address",
                    info.0
                )),
            };
        }
    }

    /// Scavenges the arguments of a partial or a delayed application by their function's layout.
    pub(in crate::collector) unsafe fn scan_arguments(&mut self, c: *mut usize, fun_field: usize, n: usize) {
        self.evacuate(c.add(fun_field));
        let payload = c.add(fun_field + 1);
        let info = Closure(*c.add(fun_field) & !TAG_MASK).info();
        match info.kind() {
            FUN | FUN_1_0 | FUN_0_1 | FUN_2_0 | FUN_1_1 | FUN_0_2 | FUN_STATIC => {
                self.scan_prefix(payload, info.fun_bitmap(), n)
            }
            BCO => fatal::unsupported("the bytecode interpreter"),
            _ => self.evacuate_fields(payload, 0, n),
        }
    }

    /// Scavenges the words that a bitmap describes.
    #[inline(always)]
    unsafe fn scan_bitmap(&mut self, at: *mut usize, bitmap: Bitmap) {
        self.scan_prefix(at, bitmap, bitmap.size())
    }

    /// Scavenges the first `n` words that a bitmap describes.
    #[inline(always)]
    unsafe fn scan_prefix(&mut self, at: *mut usize, bitmap: Bitmap, n: usize) {
        match bitmap {
            Bitmap::Small { bits, .. } => {
                let mut pointers = !bits & ((1 << n) - 1);
                while pointers != 0 {
                    self.evacuate(at.add(pointers.trailing_zeros() as usize));
                    pointers &= pointers - 1;
                }
            }
            Bitmap::Large { words, .. } => {
                for i in 0..n {
                    let word = *words.add(i / usize::BITS as usize);
                    if word >> (i % usize::BITS as usize) & 1 == 0 {
                        self.evacuate(at.add(i));
                    }
                }
            }
        }
    }
}
