//! Stacks, and what looks like a piece of one.
//!
//! A chunk is dirty while it may refer to younger objects; a clean one costs a minor
//! collection nothing, so deep recursion is scanned once. A frame's info table says which of
//! its words are pointers. The updatee of an update frame is kept as the object it is, even if
//! somebody else has given it a value already: the frame will overwrite it.
use super::worker::Worker;
use crate::contract::closure::fields::*;
use crate::contract::info::Bitmap;
use crate::contract::{layout::*, Closure, Info, Stack, TAG_MASK};
use crate::observe::fatal;

/// Fields of a `RET_FUN` frame.
const RET_FUN_SIZE: usize = 1;
const RET_FUN_FUN: usize = 2;
const RET_FUN_PAYLOAD: usize = 3;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    pub(super) unsafe fn scan_stack(&mut self, c: *mut usize) {
        let stack = Stack(c as usize);
        let promote_to = std::mem::replace(&mut self.promote_to, 0);
        self.scan_frames(stack.obj().sp as *mut usize, stack.top() as *mut usize);
        self.promote_to = promote_to;
        stack.obj().dirty =
            if self.owner <= 1 || self.failed { STACK_DIRTY as u8 } else { 0 };
    }

    /// Scans whole frames from `sp` to `end`.
    pub(super) unsafe fn scan_frames(&mut self, mut sp: *mut usize, end: *mut usize) {
        while sp < end {
            let info = Info(*sp);
            self.srt(info);
            sp = match info.kind() {
                RET_SMALL | CATCH_FRAME | ATOMICALLY_FRAME | CATCH_RETRY_FRAME
                | CATCH_STM_FRAME | STOP_FRAME => {
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

    /// The arguments of a partial or a delayed application, at their function's layout.
    pub(super) unsafe fn scan_arguments(&mut self, c: *mut usize, fun_field: usize, n: usize) {
        self.evacuate(c.add(fun_field));
        let payload = c.add(fun_field + 1);
        let info = Closure(*c.add(fun_field) & !TAG_MASK).info();
        match info.kind() {
            FUN | FUN_1_0 | FUN_0_1 | FUN_2_0 | FUN_1_1 | FUN_0_2 | FUN_STATIC => {
                self.scan_prefix(payload, info.fun_bitmap(), n)
            }
            BCO => fatal::unsupported("the bytecode interpreter"),
            _ => self.fields(payload, 0, n),
        }
    }

    /// Scans the words that a bitmap describes.
    #[inline(always)]
    unsafe fn scan_bitmap(&mut self, at: *mut usize, bitmap: Bitmap) {
        self.scan_prefix(at, bitmap, bitmap.size())
    }

    /// Scans the first `n` words that a bitmap describes.
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
