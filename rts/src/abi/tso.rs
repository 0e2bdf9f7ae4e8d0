//! Thread state objects (TSOs) and stack chunks: heap objects with fields that compiled code uses around foreign calls.
//!
//! *Invariants*
//!
//! - Fields that compiled code knows have the offsets of the headers, which the assertions below check.
//! - Fields of this runtime's own lie in gaps of the headers' layout, in the place of `global_link`, which no compiled
//!   code uses, and behind the last field of the headers: only the runtime allocates TSOs.
use crate::abi::layout::*;
use crate::abi::{Closure, WORD};
use std::mem::{offset_of, size_of};

/// `StgTSO`, and one word more.
#[repr(C)]
pub struct TsoObj {
    pub info: usize,
    /// Next thread in the queue that it is in; [`Tso::end`] at the end.
    pub link: Tso,
    /// Nursery chunks that the thread used up since it last blocked, and that it usually uses up before it blocks
    /// (`hec/priority.rs`).
    pub chunks_used: u16,
    pub usual_chunks: u16,
    /// Start of its current burst, or of the one that it waits for, if it is CPU-bound (`hec/priority.rs`). 0: at its
    /// next enqueueing. If the thread belongs to a named queue: its key, an `i32`.
    pub burst_began: u32,
    pub stackobj: Stack,
    pub what_next: u16,
    pub why_blocked: u16,
    pub flags: u32,
    /// What the thread is blocked on: a closure, or a number (descriptor, deadline).
    pub block_info: usize,
    pub id: u64,
    pub saved_errno: u32,
    /// Nonzero if the thread is in a remembered set, or young.
    pub dirty: u32,
    /// The in-call that the thread is bound to, or null.
    pub bound: usize,
    pub cap: usize,
    /// Transaction record, used by STM.
    pub trec: usize,
    /// Chain of `MSG_THROWTO` closures: exceptions that wait until this thread can receive them.
    pub blocked_exceptions: Closure,
    /// Chain of `BLOCKING_QUEUE`s for black holes of this thread.
    pub bq: Closure,
    pub alloc_limit: i64,
    /// Sum of the full sizes of all chunks, in words.
    pub tot_stack_size: u32,
    /// Its place in the run queue (`hec/priority.rs`).
    pub priority: Priority,
    /// Binary logarithm of how often its transaction was overtaken (`sync/stm`).
    pub losses: u8,
    /// The thread's scheduling record (`thread/sched_record.rs`); [`Tso::end`] if it has none.
    pub sched: Closure,
}

/// Words of a TSO.
pub const TSO_WORDS: usize = size_of::<TsoObj>() / WORD;

/// The priority of a thread in the run queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Priority {
    /// Runs only for a moment before it blocks.
    Interactive,
    /// The same, but a time slice ended once while it ran, since it last blocked.
    InteractiveSeen,
    /// CPU-bound. `slices` counts the time slices of its burst. `blocks` counts how often it blocked without using
    /// two slices in between.
    Batch { slices: u8, blocks: u8 },
    /// The same, but a time slice ended once while it ran, since it last blocked.
    BatchSeen { slices: u8, blocks: u8 },
    /// Belongs to the named queue with this number (`hec/named_queues.rs`), which is at an odd address.
    Named { queue: [u8; 2] },
}

/// A thread flag of this runtime's own: a modification of a variable may be in progress on the stack
/// (`eval/atomic_modify.rs`).
pub const TSO_MODIFIES: u32 = 1 << 31;
/// The thread is in the transaction of a `switch` (`sync/substrate.rs`).
pub const TSO_SWITCHES: u32 = 1 << 30;
/// The thread was made by `newSCont` and has not run yet.
pub const TSO_UNSTARTED: u32 = 1 << 29;
/// The thread has activations of its own, which are in effect: a user scheduler decides when it runs.
pub const TSO_USER: u32 = 1 << 28;
/// The thread is in the user slot of its HEC (`hec/user_slot.rs`).
pub const TSO_SLOT: u32 = 1 << 27;
/// The thread makes an upcall (`sync/upcall.rs`).
pub const TSO_UPCALL: u32 = 1 << 26;
/// When the thread ends in the user slot of a HEC, its scheduler chooses the next thread there.
pub const TSO_PASSES_ON: u32 = 1 << 25;
/// The thread belongs to a named queue that is served by priority. It preempts one with a lower key when it is woken
/// (`hec/priority.rs`).
pub const TSO_PREEMPTS: u32 = 1 << 24;
/// The thread evaluates no copies of others' work, and its own is not copied (`eval/thunk_copy.rs`).
pub const TSO_NO_COPIES: u32 = 1 << 23;
/// The thread evaluates what may be needed later (`sched/lenient.rs`). The three bits at the shift say in how many
/// other such evaluations it is nested.
pub const TSO_LENIENT: u32 = 1 << 22;
/// The thread waits for an operation that another processing element performs, which an exception cancels.
pub const TSO_REMOTE_OP: u32 = 1 << 21;
pub const LENIENT_NESTING_SHIFT: u32 = 19;
/// The thread stays on its HEC.
pub const TSO_STAYS: u32 = TSO_LOCKED as u32 | TSO_SLOT | TSO_UPCALL;
const _: () = {
    let all = TSO_LOCKED | TSO_BLOCKEX | TSO_INTERRUPTIBLE | TSO_ALLOC_LIMIT;
    let own = TSO_MODIFIES | TSO_SWITCHES | TSO_UNSTARTED | TSO_USER | TSO_SLOT | TSO_UPCALL | TSO_PASSES_ON;
    let own = own | TSO_PREEMPTS | TSO_NO_COPIES | TSO_LENIENT | 7 << LENIENT_NESTING_SHIFT;
    assert!(all & own as usize == 0);
};

/// A reason to be blocked beyond those of the headers: the thread is passive, and a user scheduler decides when it runs
/// (`sync/stm/scont_protocol.rs`).
pub const BlockedOnScheduler: usize = 64;
/// Another one: the thread waits for an object of another processing element, whose address is no pointer that a
/// collection follows (`cmm/Remote.cmm`).
pub const BlockedOnAbsent: usize = 65;

/// `StgStack`, without its words.
#[repr(C)]
pub struct StackObj {
    pub info: usize,
    /// Words in `stack`.
    pub size: u32,
    pub dirty: u8,
    pub marking: u8,
    /// Words that `stack` needs when the thread runs, if a collection has shrunk the chunk (`thread/stack_shrink.rs`);
    /// else 0.
    pub full_size: u16,
    pub sp: usize,
}

/// Address of a thread state object.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Tso(pub usize);

/// Address of a stack chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Stack(pub usize);

impl std::fmt::Debug for Tso {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "thread object {:#x}", self.0)
    }
}

impl Tso {
    pub const NULL: Tso = Tso(0);
    pub fn is_null(self) -> bool {
        self.0 == 0
    }
    /// The end of a queue of threads.
    #[inline(always)]
    pub fn end() -> Tso {
        Tso(crate::abi::symbols::address(&crate::abi::symbols::stg_END_TSO_QUEUE_closure))
    }
    #[inline(always)]
    pub fn is_end(self) -> bool {
        self == Tso::end()
    }
    #[inline(always)]
    pub fn closure(self) -> Closure {
        Closure(self.0)
    }
    /// # Safety
    /// The address is that of a live TSO, and no other reference to it is in use.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn obj<'a>(self) -> &'a mut TsoObj {
        &mut *(self.0 as *mut TsoObj)
    }
}

impl Stack {
    #[inline(always)]
    pub fn closure(self) -> Closure {
        Closure(self.0)
    }
    /// # Safety
    /// As for [`Tso::obj`].
    #[inline(always)]
    pub unsafe fn obj<'a>(self) -> &'a mut StackObj {
        &mut *(self.0 as *mut StackObj)
    }
    /// Address of the lowest word of the chunk.
    #[inline(always)]
    pub fn base(self) -> usize {
        self.0 + OFFSET_STACK_stack
    }
    /// Address one past the highest word.
    /// # Safety
    /// The chunk is live.
    #[inline(always)]
    pub unsafe fn top(self) -> usize {
        self.base() + self.obj().size as usize * 8
    }
    /// Words in the chunk when its thread runs.
    /// # Safety
    /// The chunk is live.
    #[inline(always)]
    pub unsafe fn full_size(self) -> usize {
        let o = self.obj();
        if o.full_size == 0 {
            o.size as usize
        } else {
            o.full_size as usize
        }
    }
    /// The stack limit that compiled code compares Sp with.
    #[inline(always)]
    pub fn sp_lim(self) -> usize {
        self.base() + RESERVED_STACK_WORDS * 8
    }
}

const _: () = {
    assert!(size_of::<TsoObj>() == SIZEOF_StgTSO + WORD);
    assert!(offset_of!(TsoObj, sched) == SIZEOF_StgTSO);
    assert!(offset_of!(TsoObj, stackobj) == OFFSET_TSO_stackobj);
    assert!(offset_of!(TsoObj, what_next) == OFFSET_TSO_what_next);
    assert!(offset_of!(TsoObj, why_blocked) == OFFSET_TSO_why_blocked);
    assert!(offset_of!(TsoObj, flags) == OFFSET_TSO_flags);
    assert!(offset_of!(TsoObj, block_info) == OFFSET_TSO_block_info);
    assert!(offset_of!(TsoObj, id) == OFFSET_TSO_id);
    assert!(offset_of!(TsoObj, saved_errno) == OFFSET_TSO_saved_errno);
    assert!(offset_of!(TsoObj, dirty) == OFFSET_TSO_dirty);
    assert!(offset_of!(TsoObj, bound) == OFFSET_TSO_bound);
    assert!(offset_of!(TsoObj, cap) == OFFSET_TSO_cap);
    assert!(offset_of!(TsoObj, trec) == OFFSET_TSO_trec);
    assert!(offset_of!(TsoObj, blocked_exceptions) == OFFSET_TSO_blocked_exceptions);
    assert!(offset_of!(TsoObj, bq) == OFFSET_TSO_bq);
    assert!(offset_of!(TsoObj, alloc_limit) == OFFSET_TSO_alloc_limit);
    assert!(offset_of!(TsoObj, tot_stack_size) == OFFSET_TSO_tot_stack_size);
    assert!(size_of::<StackObj>() == SIZEOF_StgStack);
    assert!(offset_of!(StackObj, size) == OFFSET_STACK_stack_size);
    assert!(offset_of!(StackObj, dirty) == OFFSET_STACK_dirty);
    assert!(offset_of!(StackObj, marking) == OFFSET_STACK_marking);
    assert!(offset_of!(StackObj, sp) == OFFSET_STACK_sp);
    assert!(size_of::<StackObj>() == OFFSET_STACK_stack);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmm_defines_the_same_flags() {
        let source = include_str!("../../../cmm/Thread.cmm");
        let of = [("SWITCHES", TSO_SWITCHES), ("USER", TSO_USER), ("UPCALL", TSO_UPCALL), ("LENIENT", TSO_LENIENT)];
        for (name, value) in of {
            let prefix = format!("#define TSO_{name} ");
            let found = source.lines().find_map(|line| line.strip_prefix(&prefix)).map(str::trim);
            assert_eq!(found, Some(format!("{value:#010x}").as_str()), "{name}");
        }
    }
}
