//! Claiming thunks, and waiting for those that others have claimed.
//!
//! A thunk goes through these states; the header says which:
//!
//! ```text
//!   thunk ──claim──▶ BLACKHOLE(owner TSO) ──block──▶ BLACKHOLE(queue) ──update──▶ IND(value)
//!     └──────────────────────────update (never claimed)────────────────────────────▲
//! ```
//!
//! Claims are lazy (2005 paper, §4.1): code that enters a thunk only pushes an update frame, and
//! when the thread stops, [`thread_paused`] claims the thunks of all frames pushed since it
//! stopped last and marks those frames. So a thread never sees an unclaimed thunk that another
//! stopped thread is evaluating; under several HECs two threads may race to the claim, and the
//! exchange of the header by WHITEHOLE decides. Whoever lost, or finds the value there already,
//! has its redundant work cut off (`freeze::cut`) and enters the thunk anew.
//!
//! A thread that meets a claimed thunk waits in a queue of its own (2010 paper, §8.3): the
//! indirectee becomes a BLOCKING_QUEUE {link, thunk, owner, entries}, whose entries are
//! MSG_BLACKHOLE {link, thread, thunk}, latest first. Whoever overwrites the claim finds the
//! queue in the old indirectee and wakes all of it, so the owner need not keep a list of its
//! queues (`TSO.bq` stays empty). An entry that was given up has no thread.
//!
//! `<<loop>>`: a thread that enters a thunk it evaluates itself waits for its own claim, or, if
//! it had not stopped in between and so had not claimed, has two frames for the thunk, of which
//! the older is found owned: the work in between is cut off, and it waits too. A collection that
//! finds the waiting thread unreachable throws NonTermination (`sync::deadlock`).
use super::frames::{set_top, Frame};
use super::{freeze, update::update};
use crate::contract::closure::fields::*;
use crate::contract::symbols::is_blackhole_info;
use crate::contract::{layout::*, Closure, Info, Tso};
use crate::hec::Hec;
use crate::info;
use crate::thread::door;
use std::sync::atomic::{AtomicUsize, Ordering};

const MSG_LINK: usize = 1;
const MSG_TSO: usize = 2;
const MSG_BH: usize = 3;
const MSG_WORDS: usize = 4;
const BQ_WORDS: usize = 5;

/// What the indirectee of a black hole is.
enum Claim {
    By(Tso),
    Queue(Closure),
    /// The value has come.
    Value,
}

unsafe fn read_claim(indirectee: Closure) -> Claim {
    if indirectee.tag() != 0 {
        return Claim::Value;
    }
    let i = indirectee.info();
    if i == info!(stg_TSO_info) {
        Claim::By(Tso(indirectee.0))
    } else if i == info!(stg_BLOCKING_QUEUE_CLEAN_info) || i == info!(stg_BLOCKING_QUEUE_DIRTY_info) {
        Claim::Queue(indirectee)
    } else {
        Claim::Value
    }
}

/// A thunk as the thread that has an update frame for it finds it.
pub(super) enum State {
    Unclaimed,
    Mine,
    /// Another thread evaluates it, or it has its value.
    NotMine,
}

pub(super) unsafe fn state(thunk: Closure, t: Tso) -> State {
    let header = thunk.info();
    if header == info!(stg_IND_info) {
        return State::NotMine;
    }
    if !is_blackhole_info(header) {
        return State::Unclaimed;
    }
    let owner = match read_claim(thunk.field(INDIRECTEE)) {
        Claim::By(owner) => owner,
        Claim::Queue(q) => Tso(q.word(BQ_OWNER)),
        Claim::Value => Tso::NULL,
    };
    if owner == t {
        State::Mine
    } else {
        State::NotMine
    }
}

/// Claims an unclaimed thunk. False if somebody else was faster.
unsafe fn claim(hec: &mut Hec, thunk: Closure, t: Tso) -> bool {
    let header = &*(thunk.slot(0) as *const AtomicUsize);
    let seen = header.load(Ordering::Acquire);
    let free = seen != info!(stg_IND_info).0
        && seen != info!(stg_WHITEHOLE_info).0
        && !is_blackhole_info(Info(seen));
    // AcqRel: the winner's store of the owner below must not pass the exchange.
    let hole = info!(stg_WHITEHOLE_info).0;
    if !free || header.compare_exchange(seen, hole, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return false;
    }
    thunk.set_word(INDIRECTEE, t.0);
    header.store(info!(stg_BLACKHOLE_info).0, Ordering::Release);
    hec.remember(thunk);
    true
}

/// Claims what the thread is evaluating. Called whenever a thread stops, and before its stack
/// grows; so a scan may end at the first marked frame, and at the end of the chunk.
///
/// Update frames that lie directly on each other are squeezed into one: the older thunk becomes
/// an indirection to the younger. A tail-recursive loop over thunks so keeps its stack flat.
///
/// True if redundant work was cut off: the thread will enter a thunk next, whatever it was about
/// to do.
/// # Safety
/// The thread is stopped, its stack is dirty (it was running), and if it leaves for a foreign call
/// its TSO says so already.
pub unsafe fn thread_paused(hec: &mut Hec, t: Tso) -> bool {
    let stack = t.obj().stackobj;
    let top = Frame(stack.top() as *mut usize);
    let mut frame = Frame::youngest(stack);
    let mut cut = None;
    let mut squeezed: Vec<Frame> = Vec::new();
    // The update frame that ends right where `frame` begins.
    let mut neighbour: Option<Frame> = None;
    while frame.0 < top.0 {
        let kind = frame.info().kind();
        if kind == UNDERFLOW_FRAME || kind == STOP_FRAME {
            break;
        }
        if kind != UPDATE_FRAME {
            neighbour = None;
            frame = frame.older();
            continue;
        }
        let marked = frame.info() == info!(stg_marked_upd_frame_info);
        let eager = frame.info() == info!(stg_bh_upd_frame_info);
        let thunk = frame.closure(UPD_FRAME_UPDATEE);
        let ours = match state(thunk, t) {
            State::Mine => marked || eager,
            State::NotMine => false,
            State::Unclaimed => match neighbour {
                Some(_) => true,
                None => claim(hec, thunk, t),
            },
        };
        match neighbour {
            _ if !ours => {
                cut = Some(frame);
                neighbour = None;
            }
            Some(younger) => {
                update(hec, thunk, younger.closure(UPD_FRAME_UPDATEE));
                squeezed.push(frame);
            }
            None => {
                frame.set_info(info!(stg_marked_upd_frame_info));
                neighbour = Some(frame);
            }
        }
        if marked {
            break;
        }
        frame = Frame(frame.0.add(UPD_FRAME_WORDS));
    }
    if !squeezed.is_empty() {
        let shift = squeeze(t, &squeezed, cut);
        cut = cut.map(|f| Frame(f.0.add(shift)));
    }
    // A foreign call returns to the frame on top of the stack: then redundant work is let be.
    let Some(frame) = cut.filter(|_| t.obj().why_blocked as usize == NotBlocked) else {
        return false;
    };
    freeze::cut(hec, t, frame);
    let thunk = frame.closure(UPD_FRAME_UPDATEE);
    let mut below = frame;
    match state(thunk, t) {
        // A frame for our own claim stays, to be found by whatever ends the wait.
        State::Mine => frame.set_info(info!(stg_marked_upd_frame_info)),
        _ => below = Frame(frame.0.add(UPD_FRAME_WORDS)),
    }
    set_top(t, below, &[info!(stg_enter_info).0, thunk.0]);
    true
}

/// Closes the gaps that update frames (youngest first) leave when they go. Returns how far the
/// frame `watch` has moved, in words.
unsafe fn squeeze(t: Tso, gone: &[Frame], watch: Option<Frame>) -> usize {
    let sp = t.obj().stackobj.obj().sp as *mut usize;
    let mut to = (gone[gone.len() - 1].0).add(UPD_FRAME_WORDS);
    let mut shift = 0;
    for (i, gap) in gone.iter().enumerate().rev() {
        let from = if i > 0 { gone[i - 1].0.add(UPD_FRAME_WORDS) } else { sp };
        let words = gap.0.offset_from(from) as usize;
        to = to.sub(words);
        std::ptr::copy(from, to, words);
        if watch.is_some_and(|w| w.0 < gap.0) {
            shift += UPD_FRAME_WORDS;
        }
    }
    t.obj().stackobj.obj().sp = to as usize;
    shift
}

/// Makes a thread wait for a claimed thunk. False if the value has come.
/// # Safety
/// The thread is at rest, with a frame on top that enters the thunk.
pub unsafe fn park(hec: &mut Hec, t: Tso, thunk: Closure) -> bool {
    if !is_blackhole_info(thunk.info()) {
        return false;
    }
    let claim = read_claim(thunk.field(INDIRECTEE));
    if let Claim::Value = claim {
        return false;
    }
    let entry = hec.allocate(MSG_WORDS);
    entry.set_info(info!(stg_MSG_BLACKHOLE_info));
    entry.set_word(MSG_LINK, Tso::end().0);
    entry.set_word(MSG_TSO, t.0);
    entry.set_word(MSG_BH, thunk.0);
    match claim {
        Claim::By(owner) => {
            let queue = hec.allocate(BQ_WORDS);
            queue.set_info(info!(stg_BLOCKING_QUEUE_DIRTY_info));
            queue.set_word(BQ_LINK, Tso::end().0);
            queue.set_word(BQ_BH, thunk.0);
            queue.set_word(BQ_OWNER, owner.0);
            queue.set_word(BQ_QUEUE, entry.0);
            thunk.set_word(INDIRECTEE, queue.0);
            hec.remember(thunk);
        }
        Claim::Queue(queue) => {
            entry.set_word(MSG_LINK, queue.word(BQ_QUEUE));
            queue.set_word(BQ_QUEUE, entry.0);
            if queue.info() == info!(stg_BLOCKING_QUEUE_CLEAN_info) {
                queue.set_info(info!(stg_BLOCKING_QUEUE_DIRTY_info));
                hec.remember(queue);
            }
        }
        Claim::Value => {}
    }
    door::block(hec, t, BlockedOnBlackHole, entry.0);
    true
}

/// The thread that evaluates a claimed thunk, unless it has just been done.
/// # Safety
/// `thunk` is live, and has been found claimed since the world was last stopped.
pub unsafe fn owner_of(thunk: Closure) -> Option<Tso> {
    match read_claim(thunk.field(INDIRECTEE)) {
        Claim::By(owner) => Some(owner),
        Claim::Queue(queue) => Some(Tso(queue.word(BQ_OWNER))),
        Claim::Value => None,
    }
}

/// Wakes whoever waited for a thunk: `claim` was its indirectee before the update. First come,
/// first served.
/// # Safety
/// The thunk has its value.
pub(super) unsafe fn wake(hec: &mut Hec, claim: Closure) {
    let Claim::Queue(queue) = read_claim(claim) else { return };
    let mut waiting = Vec::new();
    let mut entry = queue.field(BQ_QUEUE);
    while entry != Tso::end().closure() {
        let t = Tso(entry.word(MSG_TSO));
        if !t.is_end() {
            waiting.push(t);
        }
        entry = entry.field(MSG_LINK);
    }
    for t in waiting.into_iter().rev() {
        door::unblock(hec, t);
    }
}

/// Takes a thread out of the queue of the black hole that it waits for.
/// # Safety
/// The thread is blocked on a black hole.
pub unsafe fn stop_waiting(t: Tso) {
    Closure(t.obj().block_info).set_word(MSG_TSO, Tso::end().0);
}

/// Wakes whoever waited for a thunk that an update frame has just overwritten.
/// # Safety
/// `indirectee` is what the thunk held before.
#[no_mangle]
pub unsafe extern "C" fn hec_wake_blackhole(hec: &mut Hec, _thunk: Closure, indirectee: Closure) {
    wake(hec, indirectee)
}
