//! Stack chunks: dirty marks, growth by chunks, and underflow.
//!
//! A thread's stack is a chain of chunks. When the current one is full, [`grow`] chains a new one to it, with an
//! `UNDERFLOW_FRAME` at its top that names the older chunk. The youngest frames move to the new chunk, so that a loop
//! around the boundary does not overflow and underflow repeatedly. Old chunks are clean and cost a minor collection
//! nothing, which makes deep recursion cheap.
//!
//! A chunk below the standard size is replaced by one twice its size, and all its frames move. If chunks of 1, 2, 4, 8
//! and 16 KB were chained instead, recursion over a few thousand words would cross a boundary very often.
//!
//! *Checked by*: the unit tests in `rts/src/thread/tests.rs`.
use crate::abi::closure::fields::UNDERFLOW_NEXT;
use crate::abi::layout::*;
use crate::abi::{Closure, Stack, Tso};
use crate::hec::Hec;
use crate::info;
use crate::memory::object_size::size_of_frame;

/// Words of an underflow frame.
pub const UNDERFLOW_FRAME_WORDS: usize = 2;

/// Values of a chunk's `dirty`. CLEAN: nothing younger is in it. UNTOUCHED: something younger may be in it, but nothing
/// has been written since the last collection. DIRTY: something has been written.
pub const CLEAN: u8 = 0;
pub const UNTOUCHED: u8 = 2;
pub const DIRTY: u8 = STACK_DIRTY as u8;
const _: () = assert!(DIRTY != CLEAN && DIRTY != UNTOUCHED);

/// Values of `marking` of a chunk below the current one. SEEN: its thread has stopped since, and has claimed the thunks
/// that it evaluates there ([`crate::eval::lazy_blackholing`]). UNSEEN: it may not have.
pub const SCANNED: u8 = 1;
const NOT_SCANNED: u8 = 0;

/// Marks a chunk dirty, and adds it to the remembered set if it is old and clean. Call this before writing to the
/// chunk, in particular before its thread runs.
/// # Safety
/// `s` is live.
#[inline]
pub unsafe fn dirty_stack(hec: &mut Hec, s: Stack) {
    let o = s.obj();
    if o.dirty == CLEAN {
        hec.remember(s.closure());
    }
    o.dirty = DIRTY;
}

/// Makes an empty chunk with room for `words`.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn new_chunk(hec: &mut Hec, words: usize) -> Stack {
    match hec.spare_chunks.take(words) {
        Some(spare) => make_chunk(spare.closure(), words),
        None => make_chunk(hec.allocate(SIZEOF_StgStack / 8 + words), words),
    }
}

/// Makes an empty chunk with room for `words` at `at`.
/// # Safety
/// The memory is large enough and belongs to the caller.
pub(super) unsafe fn make_chunk(at: Closure, words: usize) -> Stack {
    let s = Stack(at.0);
    let o = s.obj();
    o.info = info!(stg_STACK_info).0;
    o.size = words as u32;
    o.dirty = DIRTY;
    o.marking = NOT_SCANNED;
    o.full_size = 0;
    o.sp = s.top();
    s
}

/// The frame that leads from a chunk to the one below it, if there is one. It is the oldest frame.
/// # Safety
/// The chunk belongs to a thread that is stopped.
#[inline]
pub unsafe fn underflow_frame(s: Stack) -> Option<*mut usize> {
    let frame = (s.top() as *mut usize).sub(UNDERFLOW_FRAME_WORDS);
    let is_one = frame as usize >= s.obj().sp && *frame == info!(stg_stack_underflow_frame_info).0;
    // The word before a stop frame may look like an underflow frame.
    (is_one && *frame.add(UNDERFLOW_NEXT) != info!(stg_stop_thread_info).0).then_some(frame)
}

/// Stack sizes that the flags choose, in words.
#[derive(Clone, Copy, Debug)]
pub struct StackSizes {
    /// The size of a new thread's first chunk, object header included.
    pub initial: usize,
    pub chunk: usize,
    /// The size of the frames that move to the new chunk on overflow.
    pub buffer: usize,
    /// The largest size of all chunks of a thread together.
    pub max: usize,
}

impl StackSizes {
    /// The words for frames in a new thread's first chunk.
    pub fn first_chunk(&self) -> usize {
        let overhead = SIZEOF_StgStack / 8;
        let smallest = RESERVED_STACK_WORDS + overhead + 32;
        self.initial.max(smallest) - overhead
    }
}

/// The result of a stack overflow.
#[derive(PartialEq, Eq, Debug)]
pub enum Grown {
    Chunk,
    /// The thread has reached its limit: raise StackOverflow in it.
    Limit,
}

/// Gives a new chunk to a thread whose chunk is full.
/// # Safety
/// The thread is stopped. Sp is saved in its current chunk, and Hp is saved.
pub unsafe fn grow(hec: &mut Hec, t: Tso, sizes: &StackSizes, unlimited: bool) -> Grown {
    let tso = t.obj();
    let old = tso.stackobj;
    if !unlimited && tso.tot_stack_size as usize >= sizes.max {
        return Grown::Limit;
    }
    // A small first chunk doubles until it has the standard size; later ones have it from the start.
    let old_size = old.obj().size as usize;
    let body = SIZEOF_StgStack / 8;
    let size = (2 * (old_size + body)).min(sizes.chunk.max(2 * sizes.buffer)).max(64) - body;
    // All frames of a small chunk move. Otherwise whole frames move, from the youngest on, up to the buffer's size.
    // The youngest moves in any case: it continues with the code that asked for room, and needs the room there.
    let sp = old.obj().sp as *const usize;
    let top = old.top() as *const usize;
    let mut split = sp;
    let room = if size > old_size { old_size } else { sizes.buffer.min(size / 2) };
    while split < top {
        let next = split.add(size_of_frame(split));
        let kind = crate::abi::Info(*split).kind();
        if kind == UNDERFLOW_FRAME || kind == STOP_FRAME {
            break;
        }
        if split > sp && next.offset_from(sp) as usize > room {
            break;
        }
        split = next;
    }
    let kind = if split < top { Some(crate::abi::Info(*split).kind()) } else { None };
    // If only the stop frame were left, the first chunk would stay empty.
    let all = kind == Some(STOP_FRAME);
    if all {
        split = split.add(size_of_frame(split));
    }
    let moved = split.offset_from(sp) as usize;
    // The new chunk must have room for the next stack check.
    let fresh = new_chunk(hec, size.max(moved + UNDERFLOW_FRAME_WORDS + RESERVED_STACK_WORDS + 512));
    let mut to = fresh.top() as *mut usize;
    let rest_is_empty = kind == Some(UNDERFLOW_FRAME) && moved > 0;
    dirty_stack(hec, old);
    if all {
        tso.tot_stack_size -= old_size as u32;
    } else if rest_is_empty {
        // Everything above the underflow frame moves, so the emptied chunk is taken out of the chain.
        let below = *split.add(UNDERFLOW_NEXT);
        to = to.sub(UNDERFLOW_FRAME_WORDS);
        *to = info!(stg_stack_underflow_frame_info).0;
        *to.add(UNDERFLOW_NEXT) = below;
        tso.tot_stack_size -= old_size as u32;
    } else {
        to = to.sub(UNDERFLOW_FRAME_WORDS);
        *to = info!(stg_stack_underflow_frame_info).0;
        *to.add(UNDERFLOW_NEXT) = old.0;
        old.obj().marking = NOT_SCANNED;
    }
    to = to.sub(moved);
    std::ptr::copy_nonoverlapping(sp, to, moved);
    old.obj().sp = split as usize;
    fresh.obj().sp = to as usize;
    crate::hec::run_queue::dirty_tso(&mut hec.remembered, t);
    tso.stackobj = fresh;
    tso.tot_stack_size += fresh.obj().size;
    Grown::Chunk
}

/// Makes the chunk below the current one current. The underflow frame calls this with its registers saved; the new Sp
/// is in the chunk.
/// # Safety
/// The current chunk holds nothing but its underflow frame, at `sp`.
#[no_mangle]
pub unsafe extern "C" fn hec_stack_underflow(hec: &mut Hec) {
    let t = hec.current();
    let tso = t.obj();
    let old = tso.stackobj;
    let frame = old.obj().sp as *const usize;
    debug_assert!(*frame == info!(stg_stack_underflow_frame_info).0);
    let below = Stack(*frame.add(UNDERFLOW_NEXT));
    crate::hec::run_queue::dirty_tso(&mut hec.remembered, t);
    tso.tot_stack_size -= old.obj().size;
    tso.stackobj = below;
    dirty_stack(hec, below);
}
