//! A thread's place in the run queue.
//!
//! Who is woken goes to the back of the queue, and so does who has used up a time slice. But to go round
//! among many threads that compute is to keep all of them half done: all that they have built so far is alive
//! at once, and out of the caches when they go on. So those that compute have *turns* of several slices, the more the more others
//! wait, but a round takes no longer than about a second and a half. They have them in the order in which they began to wait for them. Who blocks during
//! its turn has the rest of it when it is woken, before all whose turns began later; but nobody's
//! turn is interrupted for that. Who blocks for the first time without having been found at work has not begun, and waits at the back.
//!
//! They need not wait who only ever run for a moment before they block, as the threads of a server do. When such a *brief* thread is
//! woken it comes before all that compute: so it waits for a time slice only, not for a round. It is brief until it has been found at work
//! twice without having blocked in between: to be found once may happen to anybody. (Once is enough if it has done much since it
//! blocked, and much more than it usually does before it blocks.) And it is brief again when it has blocked four times without having been found
//! twice in between, as a thread is that draws pictures, each in less than a slice. A new thread is
//! what the thread is that makes it: a server's counts as brief, and those among which a computation is divided do not, as they would
//! all be half done again. What C calls and what handles signals counts as brief; and so does a thread that evaluates what
//! another one waits for, as long as that lasts.
//!
//! The ticker finds threads at work in proportion to the time that they use, so nobody's turn is for ever; and each time that it finds a
//! brief one, one of those that compute is next: they have about half of the time.
//! Who names the length of time slices (`-C`) gets them as they are, and no turns.
use crate::abi::tso::Priority;
use crate::abi::Tso;
use crate::base::clock;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many slices a turn has at most, and how many all turns of a round have together.
const SLICES: usize = 10;
const ROUND: usize = 75;
/// So many pieces of its nursery are much for a thread that runs for moments.
const MUCH: u16 = 16;
/// Who has blocked so often without having been found at work twice in between runs for moments.
const MOMENTS: u8 = 4;
/// The times at which turns begin are in units of two to this power of what a processor counts: a fraction of a millisecond.
const LOG_TICKS: u32 = 20;

static NO_TURNS: AtomicBool = AtomicBool::new(false);

/// Every thread goes to the back after one slice, and when it is woken.
pub fn have_no_turns() {
    NO_TURNS.store(true, Ordering::Relaxed);
}

/// Does the thread come after brief ones?
/// # Safety
/// It is ours.
pub unsafe fn is_cpu_bound(t: Tso) -> bool {
    matches!(t.obj().priority, Priority::Batch { .. } | Priority::BatchSeen { .. }) && !NO_TURNS.load(Ordering::Relaxed)
}

/// Of a thread that `parent` makes.
/// # Safety
/// It is ours.
pub unsafe fn of_child(parent: Tso) -> Priority {
    if is_cpu_bound(parent) {
        Priority::Batch { slices: 0, moments: 0 }
    } else {
        Priority::Interactive
    }
}

/// A thread that computes waits for its turn, or for the rest of it.
/// # Safety
/// It is ours.
#[inline]
pub unsafe fn enqueue(t: Tso) {
    if t.obj().began == 0 {
        t.obj().began = (clock::ticks() >> LOG_TICKS) as u32 | 1;
    }
}

/// Has the turn of `a` begun before that of `b`?
/// # Safety
/// They are on a run queue of ours.
pub unsafe fn is_before(a: Tso, b: Tso) -> bool {
    (a.obj().began.wrapping_sub(b.obj().began) as i32) < 0
}

/// Does a thread that has run compute, and is its turn not over?
/// # Safety
/// It is ours.
pub unsafe fn turn_goes_on(t: Tso) -> bool {
    is_cpu_bound(t) && t.obj().began != 0
}

/// A thread has used up a time slice while so many waited for their turns. Does another wait for what it evaluates?
/// # Safety
/// It is ours.
pub unsafe fn on_slice_end(t: Tso, waiting: usize, awaited: bool) {
    let o = t.obj();
    let most = SLICES.min(1 + waiting).min(ROUND / waiting.max(1)) as u8;
    o.priority = match o.priority {
        _ if awaited => Priority::InteractiveSeen,
        Priority::Interactive if o.worked < MUCH.max(o.usual.saturating_mul(2)) => Priority::InteractiveSeen,
        // It has had so much already, and waits for a turn as others do.
        Priority::Interactive | Priority::InteractiveSeen => Priority::Batch { slices: most, moments: 0 },
        Priority::Batch { slices, moments } => Priority::BatchSeen { slices: slices + 1, moments },
        Priority::BatchSeen { slices, .. } => Priority::Batch { slices: slices + 1, moments: 0 },
    };
    if let Priority::Batch { slices, .. } | Priority::BatchSeen { slices, .. } = o.priority {
        if slices >= most {
            end_burst(t);
        }
    }
}

/// A thread gives up its turn, if it has one.
/// # Safety
/// It is ours.
pub unsafe fn end_burst(t: Tso) {
    if let Priority::Batch { slices, .. } | Priority::BatchSeen { slices, .. } = &mut t.obj().priority {
        *slices = 0;
        t.obj().began = 0;
    }
}

/// A thread has blocked.
/// # Safety
/// It is ours.
pub unsafe fn on_block(t: Tso) {
    let o = t.obj();
    let worked = std::mem::take(&mut o.worked);
    if worked > 0 {
        o.usual = worked.max(o.usual - o.usual / 4);
    }
    o.priority = match o.priority {
        Priority::Batch { slices, moments } | Priority::BatchSeen { slices, moments } if moments + 1 < MOMENTS => {
            // It has not begun.
            if slices == 0 && moments == 0 {
                o.began = 0;
            }
            Priority::Batch { slices, moments: moments + 1 }
        }
        _ => Priority::Interactive,
    };
}
