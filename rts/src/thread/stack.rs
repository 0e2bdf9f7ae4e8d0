//! Stack chunks: dirtiness, growth by chunks, and the way back down.
//!
//! A thread's stack is a chain of chunks. When the current one is full a new one is chained on
//! with an `UNDERFLOW_FRAME` at its top that names the older chunk; the youngest frames move
//! along, so that a loop around the boundary does not bounce. Old chunks are clean and cost a
//! minor collection nothing, which is what makes deep recursion cheap.
//!
//! A chunk that is smaller than chunks get is replaced by one twice its size, all frames with it:
//! recursion that goes up and down over some thousand words meets a boundary only now and then,
//! and would meet one all the time if 1, 2, 4, 8 and 16 KB were chained.
use crate::abi::closure::fields::UNDERFLOW_NEXT;
use crate::abi::layout::*;
use crate::abi::{Closure, Stack, Tso};
use crate::hec::Hec;
use crate::info;
use crate::memory::object_size::size_of_frame;

/// Words of an underflow frame.
pub const UNDERFLOW_FRAME_WORDS: usize = 2;

/// What `dirty` says of a chunk: nothing younger is in it; it may be, but nothing has been written
/// since the last collection; something has.
pub const CLEAN: u8 = 0;
pub const UNTOUCHED: u8 = 2;
pub const DIRTY: u8 = STACK_DIRTY as u8;
const _: () = assert!(DIRTY != CLEAN && DIRTY != UNTOUCHED);

/// What `marking` says of a chunk below the current one: the thread has stopped since it was that,
/// and claimed (`eval/lazy_blackholing.rs`) what it evaluates there; or it may not have.
pub const SEEN: u8 = 1;
const UNSEEN: u8 = 0;

/// Marks a chunk as dirty, and puts it on the remembered set if it is old and clean. Call before
/// anything is written to it, in particular before its thread runs.
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

/// A new, empty chunk with room for `words`.
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
/// So much memory there is nobody else's.
pub(super) unsafe fn make_chunk(at: Closure, words: usize) -> Stack {
    let s = Stack(at.0);
    let o = s.obj();
    o.info = info!(stg_STACK_info).0;
    o.size = words as u32;
    o.dirty = DIRTY;
    o.marking = UNSEEN;
    o.full_size = 0;
    o.sp = s.top();
    s
}

/// The frame that leads from a chunk to the one below, if there is one: it is the oldest.
/// # Safety
/// The chunk is that of a thread that is stopped.
#[inline]
pub unsafe fn underflow_frame(s: Stack) -> Option<*mut usize> {
    let frame = (s.top() as *mut usize).sub(UNDERFLOW_FRAME_WORDS);
    let is_one = frame as usize >= s.obj().sp && *frame == info!(stg_stack_underflow_frame_info).0;
    // What lies before a stop frame may look like one.
    (is_one && *frame.add(UNDERFLOW_NEXT) != info!(stg_stop_thread_info).0).then_some(frame)
}

/// Sizes that the flags choose, in words.
#[derive(Clone, Copy, Debug)]
pub struct StackSizes {
    /// Of a new thread's first chunk, object header included.
    pub initial: usize,
    pub chunk: usize,
    /// Moved to the new chunk on overflow.
    pub buffer: usize,
    /// Of all chunks together.
    pub max: usize,
}

impl StackSizes {
    /// Words for frames in a new thread's first chunk.
    pub fn first_chunk(&self) -> usize {
        let overhead = SIZEOF_StgStack / 8;
        let smallest = RESERVED_STACK_WORDS + overhead + 32;
        self.initial.max(smallest) - overhead
    }
}

/// What came of a stack overflow.
#[derive(PartialEq, Eq, Debug)]
pub enum Grown {
    Chunk,
    /// The thread has reached its limit: raise StackOverflow in it.
    Limit,
}

/// Gives a thread whose chunk is full a new one.
/// # Safety
/// The thread is stopped with Sp saved in its current chunk, and Hp saved.
pub unsafe fn grow(hec: &mut Hec, t: Tso, sizes: &StackSizes, unlimited: bool) -> Grown {
    let tso = t.obj();
    let old = tso.stackobj;
    if !unlimited && tso.tot_stack_size as usize >= sizes.max {
        return Grown::Limit;
    }
    // A first chunk that is small doubles until it has the chunk size; later ones have it.
    let old_size = old.obj().size as usize;
    let body = SIZEOF_StgStack / 8;
    let size = (2 * (old_size + body)).min(sizes.chunk.max(2 * sizes.buffer)).max(64) - body;
    // Which frames move: all of a small chunk, else whole frames, up to the buffer's size, from the youngest on. That one moves in any
    // case: it goes on with what has asked for room, and must do so where there is some.
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
    // With nothing but the stop frame left, the first chunk would stay empty.
    let all = kind == Some(STOP_FRAME);
    if all {
        split = split.add(size_of_frame(split));
    }
    let moved = split.offset_from(sp) as usize;
    // The new chunk must hold what is asked next.
    let fresh = new_chunk(hec, size.max(moved + UNDERFLOW_FRAME_WORDS + RESERVED_STACK_WORDS + 512));
    let mut to = fresh.top() as *mut usize;
    let rest_is_empty = kind == Some(UNDERFLOW_FRAME) && moved > 0;
    dirty_stack(hec, old);
    if all {
        tso.tot_stack_size -= old_size as u32;
    } else if rest_is_empty {
        // Everything above the underflow frame moves: skip the emptied chunk altogether.
        let below = *split.add(UNDERFLOW_NEXT);
        to = to.sub(UNDERFLOW_FRAME_WORDS);
        *to = info!(stg_stack_underflow_frame_info).0;
        *to.add(UNDERFLOW_NEXT) = below;
        tso.tot_stack_size -= old_size as u32;
    } else {
        to = to.sub(UNDERFLOW_FRAME_WORDS);
        *to = info!(stg_stack_underflow_frame_info).0;
        *to.add(UNDERFLOW_NEXT) = old.0;
        old.obj().marking = UNSEEN;
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

/// Makes the chunk below the current one current. Called by the underflow frame, whose
/// registers are saved; the new Sp is in the chunk.
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
