//! Shrinking the stack chunks of threads that do not run.
//!
//! Most of a blocked thread's memory is stack that it does not use.
//!
//! *Protocol*
//! 1. A collection copies the current chunks of threads. If a thread has not run since the last collection, the copy is
//!    as small as its contents (`collector/trace/stacks.rs`), and `full_size` holds the chunk's size. A thread that
//!    runs in every cycle never gets such a chunk.
//! 2. The chunk gets its full size again before the thread runs ([`make_ready`]), not when it overflows. Code that is
//!    returned to relies on a stack check made when its frame was pushed. That check may cover far more words than the
//!    frame has, and only it knows how many. A chunk of full size has at least the room that it had then.
//!
//! *Invariants*
//! - A HEC that wakes a thread or raises an exception in it replaces its youngest frames by others. A shrunk chunk
//!   keeps [`ROOM_WORDS`] free for the difference.
//! - Threads in foreign calls, which resume without the scheduler, and older chunks are not shrunk.
//! - `tot_stack_size` counts chunks at their full size, so that a stack limit does not depend on when a thread was
//!   shrunk.
//!
//! *Checked by*: the unit tests in `rts/src/thread/tests.rs`.
use crate::abi::{Stack, Tso, WORD};
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::thread::stack::{dirty_stack, new_chunk, DIRTY};

/// The words free in a shrunk chunk. A handler's call is two words longer than its catch frame.
pub const ROOM_WORDS: usize = 2;

/// The least number of free words in a chunk that is shrunk. Fewer do not pay for copying the chunk twice.
const MIN_FREE_WORDS: usize = 32;

/// May a copy of a resting thread's chunk be smaller, and is enough of it unused?
/// # Safety
/// `s` is live.
#[inline]
pub unsafe fn is_shrinkable(s: Stack) -> bool {
    let o = s.obj();
    let room = (o.sp - s.base()) / WORD;
    o.dirty != DIRTY && room >= MIN_FREE_WORDS && s.full_size() <= u16::MAX as usize
}

/// Prepares a thread to run: its current chunk has its full size, and both the chunk and the thread are dirty.
/// # Safety
/// This HEC owns the thread, which is stopped, and Hp is saved.
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
    // The small chunk may be in a remembered set, where it must keep nothing alive.
    small.obj().sp = small.top();
}
