//! A thread's place in the run queue.
//!
//! Who is woken goes to the back of the queue, and so does who has used up a time slice. But to go round
//! among many threads that compute is to keep all of them half done: all that they have built so far is alive
//! at once, and out of the caches when they go on. So one that computes and is chosen has its *turn*: it goes on for several slices
//! though others wait, the more slices the more there are, and should it block in between, it comes to the front of those that compute when it is
//! woken. The others wait that much longer, but a round no more than about a second and a half. They have their turns in the order in
//! which they began to compute; and however many come that have a turn already, the next one has to wait for no more slices than one turn has.
//!
//! They need not if they only ever run for a moment before they block, as the threads of a server do. When such a *brief* thread is
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
use crate::contract::thread::Place;
use crate::contract::Tso;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many slices a turn has at most, and how many all turns of a round have together.
const SLICES: usize = 10;
const ROUND: usize = 75;
/// So many pieces of its nursery are much for a thread that runs for moments.
const MUCH: u32 = 16;
/// Who has blocked so often without having been found at work twice in between runs for moments.
const MOMENTS: u8 = 4;

static NO_TURNS: AtomicBool = AtomicBool::new(false);

/// Every thread goes to the back after one slice, and when it is woken.
pub fn have_no_turns() {
    NO_TURNS.store(true, Ordering::Relaxed);
}

/// Does the thread come after brief ones?
/// # Safety
/// It is ours.
pub unsafe fn computes(t: Tso) -> bool {
    matches!(t.obj().place, Place::Works | Place::Turn(_) | Place::Seen(_)) && !NO_TURNS.load(Ordering::Relaxed)
}

/// Of a thread that `parent` makes.
/// # Safety
/// It is ours.
pub unsafe fn of_child(parent: Tso) -> Place {
    if computes(parent) { Place::Works } else { Place::Brief }
}

/// A thread is chosen to run: its turn begins, if it has waited for that. Those that had turns have used up so many slices since the last one
/// was chosen that had.
/// # Safety
/// It is ours.
#[inline]
pub unsafe fn chosen(t: Tso, slices: &mut usize) {
    if t.obj().place == Place::Works {
        t.obj().place = Place::Turn(0);
        *slices = 0;
    }
}

/// A thread has used up a time slice while so many waited for their turns; for `slices` see [`chosen`]. Does another wait for what it evaluates?
/// # Safety
/// It is ours.
pub unsafe fn slice_ends(t: Tso, waiting: usize, awaited: bool, slices: &mut usize) {
    *slices += computes(t) as usize;
    let goes_on = *slices < SLICES.min(1 + waiting).min(ROUND / waiting.max(1));
    let o = t.obj();
    o.place = match o.place {
        _ if awaited => Place::Lingers,
        Place::Brief if o.worked < MUCH.max(2 * o.usual) => Place::Lingers,
        Place::Turn(moments) if goes_on => Place::Seen(moments),
        Place::Seen(_) if goes_on => Place::Turn(0),
        _ => Place::Works,
    };
}

/// A thread gives up its turn.
/// # Safety
/// It is ours.
pub unsafe fn yields(t: Tso) {
    if computes(t) {
        t.obj().place = Place::Works;
    }
}

/// A thread has blocked.
/// # Safety
/// It is ours.
pub unsafe fn blocks(t: Tso) {
    let o = t.obj();
    let worked = std::mem::take(&mut o.worked);
    if worked > 0 {
        o.usual = worked.max(o.usual - o.usual / 4);
    }
    o.place = match o.place {
        Place::Turn(moments) | Place::Seen(moments) if moments + 1 < MOMENTS => Place::Turn(moments + 1),
        _ => Place::Brief,
    };
}
