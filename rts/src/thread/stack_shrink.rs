//! Stack chunks of threads that rest.
//!
//! Most of a blocked thread's memory is stack that it does not use. So when a collection copies the
//! current chunk of a thread that has not run since the collection before, the copy is as small as
//! its contents (`collector/trace/stacks.rs`), and says in `full_size` how large the chunk was. A thread
//! that runs in every cycle never gets such a chunk.
//!
//! The chunk gets its full size again before the thread runs ([`make_ready`]), and not when it
//! overflows: code that is returned to relies on a stack check made when its frame was pushed,
//! which may cover far more words than the frame has, and nothing but that check knows how many.
//! With its full size a chunk has at least the room that it had then.
//!
//! What others do to a thread meanwhile, to wake it or to raise an exception in it, replaces its
//! youngest frames by others; [`ROOM_WORDS`] are kept for the difference. Threads in foreign calls,
//! which go on without the scheduler, and older chunks are not shrunk. `tot_stack_size` counts
//! chunks at their full size, so that a limit does not depend on when a thread has rested.
use crate::abi::{Stack, Tso, WORD};
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::thread::stack::{dirty_stack, new_chunk, DIRTY};

/// Words free in a shrunk chunk: a handler's call is two longer than its catch frame.
pub const ROOM_WORDS: usize = 2;

/// A chunk with fewer words free than this is not worth copying twice.
const WORTH_WORDS: usize = 32;

/// May a copy of a resting thread's chunk be smaller, and does it pay?
/// # Safety
/// `s` is live.
#[inline]
pub unsafe fn is_worth_it(s: Stack) -> bool {
    let o = s.obj();
    let room = (o.sp - s.base()) / WORD;
    o.dirty != DIRTY && room >= WORTH_WORDS && s.full_size() <= u16::MAX as usize
}

/// Readies a thread to run: its current chunk has its full size, and it and the thread are dirty.
/// # Safety
/// The thread is ours and stopped, and Hp is saved.
#[inline]
pub unsafe fn make_ready(hec: &mut Hec, t: Tso) {
    dirty_tso(&mut hec.remembered, t);
    let stack = t.obj().stackobj;
    if stack.obj().full_size == 0 {
        dirty_stack(hec, stack);
    } else {
        restore(hec, t);
    }
}

#[cold]
unsafe fn restore(hec: &mut Hec, t: Tso) {
    let small = t.obj().stackobj;
    let sp = small.obj().sp;
    let words = (small.top() - sp) / WORD;
    let full = new_chunk(hec, small.full_size());
    let to = full.top() - words * WORD;
    std::ptr::copy_nonoverlapping(sp as *const usize, to as *mut usize, words);
    full.obj().sp = to;
    t.obj().stackobj = full;
    // It may be in a remembered set: then it should keep nothing alive.
    small.obj().sp = small.top();
}
