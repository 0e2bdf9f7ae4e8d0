//! A thread's place in the run queue.
//!
//! Who is woken goes to the back of the queue, and so does who has used up a time slice. But to go round
//! among many threads that compute is to keep all of them half done: all that they have built so far is alive
//! at once, and out of the caches when they go on. So where several threads wait, one that has used up a slice has its
//! *turn*: it goes on for some more, and should it block in between, it comes to the front when it is
//! woken. The others wait that much longer, but a round no more than about a second and a half.
//!
//! They need not if they only ever run for a moment before they block, as the threads of a server do. When such a *brief* thread is
//! woken it comes before all that compute: so it waits for a time slice only, not for a round. It is brief until it has been found at work
//! twice without having blocked in between: to be found once may happen to anybody. A new thread is
//! what the thread is that makes it: a server's counts as brief, and those among which a computation is divided do not, as they would
//! all be half done again. What C calls and what handles signals counts as brief; and so does a thread that evaluates what
//! another one waits for, as long as that lasts.
//!
//! The ticker finds threads at work in proportion to the time that they use, so nobody's turn is for ever; and each time that it finds a
//! brief one, one of those that compute is next: they have about half of the time.
//! Who names the length of time slices (`-C`) gets them as they are, and no turns.
use crate::contract::thread::Place;
use crate::contract::Tso;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many must wait.
const SEVERAL: usize = 3;
/// How many slices a turn has, and how many all turns of a round have together.
const SLICES: usize = 10;
const ROUND: usize = 75;

static NO_TURNS: AtomicBool = AtomicBool::new(false);

/// Every thread goes to the back after one slice, and when it is woken.
pub fn have_no_turns() {
    NO_TURNS.store(true, Ordering::Relaxed);
}

/// Does the thread come after brief ones?
/// # Safety
/// It is ours.
pub unsafe fn computes(t: Tso) -> bool {
    matches!(t.obj().place, Place::Works | Place::Turn(_)) && !NO_TURNS.load(Ordering::Relaxed)
}

/// Of a thread that `parent` makes.
/// # Safety
/// It is ours.
pub unsafe fn of_child(parent: Tso) -> Place {
    if computes(parent) { Place::Works } else { Place::Brief }
}

/// A thread has used up a time slice while so many waited for their turns. Does another wait for what it evaluates?
/// # Safety
/// It is ours.
pub unsafe fn slice_ends(t: Tso, waiting: usize, awaited: bool) {
    let several = waiting >= SEVERAL && !NO_TURNS.load(Ordering::Relaxed);
    let slices = if several { SLICES.min(ROUND / waiting) } else { 1 };
    let o = t.obj();
    o.place = match o.place {
        _ if awaited => Place::Lingers,
        Place::Brief => Place::Lingers,
        Place::Lingers | Place::Works if slices > 1 => Place::Turn(1),
        Place::Turn(used) if (used as usize) + 1 < slices => Place::Turn(used + 1),
        Place::Lingers | Place::Works | Place::Turn(_) => Place::Works,
    };
}

/// A thread gives up its turn.
/// # Safety
/// It is ours.
pub unsafe fn yields(t: Tso) {
    if let Place::Turn(_) = t.obj().place {
        t.obj().place = Place::Works;
    }
}

/// A thread has blocked.
/// # Safety
/// It is ours.
pub unsafe fn blocks(t: Tso) {
    if let Place::Lingers | Place::Works = t.obj().place {
        t.obj().place = Place::Brief;
    }
}
