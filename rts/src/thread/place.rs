//! A thread's place in the run queue.
//!
//! Who is woken goes to the back of the queue, and so does who has used up a time slice. But to go round
//! among many threads that compute is to keep all of them half done: all that they have built so far is alive
//! at once, and out of the caches when they go on. So where several threads wait, one that has used up a slice has its
//! *turn*: it goes on for some more, and should it block in between, it comes to the front when it is
//! woken. The others wait that much longer, but a round no more than about a second and a half.
//!
//! They need not if they only ever run for a moment before they block. When such a thread is woken it
//! comes before those that have their turn: so it waits for a time slice only, not for a round.
//!
//! The ticker finds threads at work in proportion to the time that they use, so nobody's turn is for ever. Who names
//! the length of time slices (`-C`) gets them as they are, and no turns.
use crate::contract::thread::Place;
use crate::contract::Tso;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many must wait.
const SEVERAL: usize = 3;
/// How many slices a turn has, and how many all turns of a round have together.
const SLICES: usize = 5;
const ROUND: usize = 75;
/// A thread runs for moments if it has blocked so often since it was last found at work.
pub const BRIEF_RUNS: u8 = 4;

static NO_TURNS: AtomicBool = AtomicBool::new(false);

/// Every thread goes to the back after one slice, and when it is woken.
pub fn have_no_turns() {
    NO_TURNS.store(true, Ordering::Relaxed);
}

/// A thread has used up a time slice while so many waited.
/// # Safety
/// It is ours.
pub unsafe fn slice_ends(t: Tso, waiting: usize) {
    let several = waiting >= SEVERAL && !NO_TURNS.load(Ordering::Relaxed);
    let slices = if several { SLICES.min(ROUND / waiting) } else { 1 };
    let o = t.obj();
    let used = match o.place {
        Place::Waits(_) => 1,
        Place::Turn(used) => used + 1,
    };
    o.place = if (used as usize) < slices { Place::Turn(used) } else { Place::Waits(0) };
}

/// A thread gives up its turn.
/// # Safety
/// It is ours.
pub unsafe fn yields(t: Tso) {
    if let Place::Turn(_) = t.obj().place {
        t.obj().place = Place::Waits(0);
    }
}

/// A thread has blocked.
/// # Safety
/// It is ours.
pub unsafe fn blocks(t: Tso) {
    if let Place::Waits(n) = &mut t.obj().place {
        *n = if NO_TURNS.load(Ordering::Relaxed) { 0 } else { n.saturating_add(1) };
    }
}
