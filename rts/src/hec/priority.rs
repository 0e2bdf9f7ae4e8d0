//! Scheduling priority of threads: a two-level feedback queue.
//!
//! *Interactive* threads run for moments before they block, as the threads of a server do. *Batch* threads are
//! CPU-bound. The run queue serves interactive threads first (`run_queue.rs`). So an interactive thread that is woken
//! waits for one time slice only, not for a round of all threads.
//!
//! Round robin among many CPU-bound threads would keep all of them half done. All data they have built would be alive
//! at once, and out of the caches when they continue. So a batch thread runs in a *burst* of several time slices.
//! Bursts are longer the more threads wait, but the length of a round is bounded.
//!
//! *States*
//! ```text
//!                        seen at work                       seen again, without
//!                                                           blocking in between
//!      INTERACTIVE ------------------> INTERACTIVE SEEN ------------------------> BATCH, burst not begun
//!        ^  ^   |                        |                                          ^
//!        |  |   | seen, has done much    | blocks                                   |
//!        |  |   +------------------------|------------------------------------------+
//!        |  +----------------------------+
//!        |
//!        |               seen at work
//!        |       BATCH <-----------------> BATCH SEEN
//!        |         |     seen again, blocks  |
//!        +---------+-------------------------+
//!          has blocked 4 times without having been seen twice in between
//! ```
//!
//! *Seen* means that the ticker found the thread at work at the end of a time slice. One such event can happen to any
//! thread, so it takes two in a row to change the priority. One is enough if the thread has allocated much since it
//! blocked, and much more than it usually does before it blocks.
//!
//! *Rules*
//!
//! | event | effect |
//! |---|---|
//! | a batch thread is queued | its burst begins, unless it has begun |
//! | a batch thread blocks during its burst | it keeps the rest, and runs before threads whose bursts began later |
//! | a batch thread blocks before it was ever seen | its burst has not begun, and it waits at the back |
//! | a burst has used its slices, or the thread yields | the burst ends; the next begins when the thread is queued |
//! | a thread forks | the child is interactive or batch as its parent is |
//! | C code calls in, or a signal is handled | the thread is interactive |
//! | another thread waits for a thunk of the thread | it becomes interactive at the end of its slice |
//! | an interactive thread is seen | a batch thread runs next, so these get about half the time |
//! | `-C` is given | there are no bursts and no levels |
//!
//! The threads of a named queue have no level. They have the number of the queue, and a key, which is their priority in
//! it if it has such an order.
//!
//! *Invariants*
//! - A running burst is not interrupted for a batch thread that was woken.
//! - The ticker finds threads at work in proportion to the time they use, so no burst lasts for ever.
//!
//! *Checked by*: the unit tests in `rts/src/thread/tests.rs`.
use crate::abi::tso::{Priority, TSO_PREEMPTS};
use crate::abi::Tso;
use crate::base::clock;
use crate::hec::named_queues;
use crate::hec::run_order::RunOrder;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most time slices of one burst: longer ones would make other batch threads wait without sparing memory.
const MAX_BURST_SLICES: usize = 10;
/// The most time slices of all bursts of a round together: at 20 ms a slice, 1.5 seconds.
const MAX_ROUND_SLICES: usize = 75;
/// The number of nursery chunks whose use is much for an interactive thread. A request of a server uses fewer.
const LARGE_USE_CHUNKS: u16 = 16;
/// A batch thread becomes interactive when it has blocked this often without having been seen twice in between. Some
/// interactive threads use most of a time slice before they block.
const BLOCKS_TO_INTERACTIVE: u8 = 4;
/// The times at which bursts begin are in units of 2^20 ticks of the processor, a fraction of a millisecond, so that
/// they fit into 32 bits.
const LOG_TICKS: u32 = 20;

static BURSTS_DISABLED: AtomicBool = AtomicBool::new(false);

/// Disables bursts and levels: every thread goes to the back after one slice, and when it is woken.
pub fn disable_bursts() {
    BURSTS_DISABLED.store(true, Ordering::Relaxed);
}

/// Is the thread one that the built-in queue serves before CPU-bound ones?
/// # Safety
/// This HEC owns the thread.
#[inline(always)]
pub unsafe fn is_interactive(t: Tso) -> bool {
    matches!(t.obj().priority, Priority::Interactive | Priority::InteractiveSeen)
}

/// The number of the named queue that the thread belongs to, if it does.
/// # Safety
/// This HEC owns the thread.
#[inline]
pub unsafe fn named_queue(t: Tso) -> Option<usize> {
    match t.obj().priority {
        Priority::Named { queue } => Some(u16::from_le_bytes(queue) as usize),
        _ => None,
    }
}

/// The key of a thread of a named queue.
/// # Safety
/// This HEC owns the thread, which belongs to a named queue.
pub unsafe fn key(t: Tso) -> i32 {
    t.obj().burst_began as i32
}

/// Changes the key of a thread of a named queue.
/// # Safety
/// This HEC owns the thread, which belongs to a named queue and is on no queue.
pub unsafe fn set_key(t: Tso, key: i32) {
    t.obj().burst_began = key as u32;
}

/// The thread belongs to this named queue from now on, or to the built-in queue if that is 0.
/// # Safety
/// This HEC owns the thread, which is on no queue.
pub unsafe fn join(t: Tso, queue: usize, key: i32) {
    let o = t.obj();
    o.flags &= !TSO_PREEMPTS;
    if queue == 0 {
        o.priority = Priority::Interactive;
        o.burst_began = 0;
        return;
    }
    o.priority = Priority::Named { queue: (queue as u16).to_le_bytes() };
    set_key(t, key);
    if named_queues::order(queue) == RunOrder::Priority {
        o.flags |= TSO_PREEMPTS;
    }
}

/// Does a thread that is woken preempt the running one? It has a higher key in the same queue.
/// # Safety
/// This HEC owns both threads.
pub unsafe fn preempts(woken: Tso, running: Tso) -> bool {
    named_queue(woken) == named_queue(running) && key(woken) > key(running)
}

/// Does the thread run after interactive ones?
/// # Safety
/// This HEC owns the thread.
pub unsafe fn is_cpu_bound(t: Tso) -> bool {
    matches!(t.obj().priority, Priority::Batch { .. } | Priority::BatchSeen { .. })
        && !BURSTS_DISABLED.load(Ordering::Relaxed)
}

/// Gives a new thread the level or the named queue of `parent`, which makes it.
/// # Safety
/// This HEC owns the threads.
pub unsafe fn inherit(child: Tso, parent: Tso) {
    if is_interactive(parent) {
        return;
    }
    if let Some(queue) = named_queue(parent) {
        join(child, queue, key(parent));
    } else if is_cpu_bound(parent) {
        child.obj().priority = Priority::Batch { slices: 0, blocks: 0 };
    }
}

/// Begins the burst of a batch thread that is queued, unless it has begun.
/// # Safety
/// This HEC owns the thread.
#[inline]
pub unsafe fn enqueue(t: Tso) {
    if t.obj().burst_began == 0 {
        t.obj().burst_began = (clock::ticks() >> LOG_TICKS) as u32 | 1;
    }
}

/// Did the burst of `a` begin before that of `b`?
/// # Safety
/// Both are on a run queue of this HEC.
pub unsafe fn is_before(a: Tso, b: Tso) -> bool {
    (a.obj().burst_began.wrapping_sub(b.obj().burst_began) as i32) < 0
}

/// Is a thread that has run in a burst that has not ended?
/// # Safety
/// This HEC owns the thread.
pub unsafe fn is_in_burst(t: Tso) -> bool {
    is_cpu_bound(t) && t.obj().burst_began != 0
}

/// A thread has used up a time slice while `waiting` threads were queued. `awaited`: another thread waits for a thunk
/// of it.
/// # Safety
/// This HEC owns the thread.
pub unsafe fn on_slice_end(t: Tso, waiting: usize, awaited: bool) {
    let o = t.obj();
    let max_slices = MAX_BURST_SLICES.min(1 + waiting).min(MAX_ROUND_SLICES / waiting.max(1)) as u8;
    o.priority = match o.priority {
        Priority::Named { .. } => return,
        _ if awaited => Priority::InteractiveSeen,
        Priority::Interactive if o.chunks_used < LARGE_USE_CHUNKS.max(o.usual_chunks.saturating_mul(2)) => {
            Priority::InteractiveSeen
        }
        // It has had two slices already, and now waits for a burst.
        Priority::Interactive | Priority::InteractiveSeen => Priority::Batch { slices: max_slices, blocks: 0 },
        Priority::Batch { slices, blocks } => Priority::BatchSeen { slices: slices + 1, blocks },
        Priority::BatchSeen { slices, .. } => Priority::Batch { slices: slices + 1, blocks: 0 },
    };
    if let Priority::Batch { slices, .. } | Priority::BatchSeen { slices, .. } = o.priority {
        if slices >= max_slices {
            end_burst(t);
        }
    }
}

/// Ends the thread's burst, if it is in one.
/// # Safety
/// This HEC owns the thread.
pub unsafe fn end_burst(t: Tso) {
    if let Priority::Batch { slices, .. } | Priority::BatchSeen { slices, .. } = &mut t.obj().priority {
        *slices = 0;
        t.obj().burst_began = 0;
    }
}

/// A thread has blocked.
/// # Safety
/// This HEC owns the thread.
pub unsafe fn on_block(t: Tso) {
    let o = t.obj();
    let chunks_used = std::mem::take(&mut o.chunks_used);
    if chunks_used > 0 {
        o.usual_chunks = chunks_used.max(o.usual_chunks - o.usual_chunks / 4);
    }
    if is_interactive(t) {
        o.priority = Priority::Interactive;
        return;
    }
    o.priority = match o.priority {
        Priority::Named { .. } => return,
        Priority::Batch { slices, blocks } | Priority::BatchSeen { slices, blocks }
            if blocks + 1 < BLOCKS_TO_INTERACTIVE =>
        {
            // Its burst has not begun.
            if slices == 0 && blocks == 0 {
                o.burst_began = 0;
            }
            Priority::Batch { slices, blocks: blocks + 1 }
        }
        _ => Priority::Interactive,
    };
}
