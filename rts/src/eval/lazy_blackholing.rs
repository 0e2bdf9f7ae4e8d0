//! Claiming what a thread evaluates when it stops (2005 paper, §4.1).
//!
//! Code that enters a thunk only pushes an update frame. When the thread stops, [`thread_paused`]
//! claims the thunks of all frames pushed since it stopped last and marks those frames (but not when
//! its stack grows: most frames of a deep recursion are gone before it stops). So a
//! thread never sees an unclaimed thunk that another stopped thread is evaluating; two that run
//! at the same time may race to the claim, which `thunk.rs` decides. Whoever lost, or finds the
//! value there already, has its redundant work cut off (`raise_async::truncate`) and enters the thunk anew.
//!
//! `<<loop>>`: a thread that enters a thunk it evaluates itself waits for its own claim, or, if
//! it had not stopped in between and so had not claimed, has two frames for the thunk, of which
//! the older is found owned: the work in between is cut off, and it waits too. A collection that
//! finds the waiting thread unreachable throws NonTermination (`sync::deadlock`).
//!
//! A claim is taken from a thread that is runnable but does not run where others would wait for its turn for long
//! (`thunk_steal.rs`); as a rule it has its turn at once, or moves to a HEC that is idle. One that is blocked for good gives its claims up
//! when the collector finds it, by the exception that freezes its work.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Tso};
use crate::eval::atomic_modify::{may_be_resumed, settle as settle_modifications};
use crate::eval::blackhole::settle;
use crate::eval::find_update_frame::next_update;
use crate::eval::frames::{set_top, Frame};
use crate::eval::stack_squeeze::squeeze;
use crate::eval::thunk;
use crate::eval::thunk::State;
use crate::eval::thunk_words::Heap;
use crate::eval::{raise_async, update};
use crate::hec::Hec;
use crate::info;
use crate::observe::blackhole_profile;
use crate::thread::stack::SEEN;

/// A thunk as the thread that has an update frame for it finds it.
#[derive(PartialEq, Eq)]
pub(super) enum ClaimState {
    Free,
    Own,
    /// Another thread evaluates it, or it has its value.
    Foreign,
}

/// Who has the thunk?
/// # Safety
/// `thunk` is live and untagged.
pub(super) unsafe fn claim_state(thunk: Closure, t: Tso) -> ClaimState {
    match thunk::look(&Heap, thunk.0) {
        State::Unclaimed => ClaimState::Free,
        State::Claimed(_, claim) if thunk::owner(&Heap, claim) == Some(t.0) => ClaimState::Own,
        State::Claimed(..) | State::BeingClaimed => ClaimState::Foreign,
    }
}

/// Claims an unclaimed thunk. False if somebody else was faster.
unsafe fn claim(hec: &mut Hec, thunk: Closure, t: Tso) -> bool {
    let Some(header) = thunk::claim(&Heap, thunk.0, t.0) else { return false };
    hec.remember(thunk);
    blackhole_profile::claimed(thunk, Info(header));
    true
}

/// Sees to the thunk of an update frame that lies directly below another for `younger`, and of one
/// that does not. True if the thunk was this thread's to evaluate. (In a chunk, from the first
/// marked frame on, all frames have been seen.)
unsafe fn see(hec: &mut Hec, t: Tso, frame: Frame, younger: Option<Closure>) -> bool {
    let thunk = frame.closure(UPD_FRAME_UPDATEE);
    match (claim_state(thunk, t), younger) {
        (ClaimState::Foreign, _) => false,
        (ClaimState::Free, None) => claim(hec, thunk, t),
        (ClaimState::Free, Some(younger)) => update::fill(hec, thunk, younger),
        // An unmarked frame for what is claimed already is a second one, unless compiled code
        // has claimed.
        (ClaimState::Own, _) if frame.info() == info!(stg_upd_frame_info) => false,
        (ClaimState::Own, Some(younger)) => update::finish(hec, t, thunk, younger) == younger,
        (ClaimState::Own, None) => {
            // Compiled code that claims does not tell the collector.
            if frame.info() == info!(stg_bh_upd_frame_info) {
                hec.remember(thunk);
            }
            true
        }
    }
}

/// Claims what the thread is evaluating. Called whenever a thread stops; so a scan may end at the
/// first marked frame, and at a chunk below the current one that has been seen since it was that.
///
/// Update frames that lie directly on each other in the current chunk are squeezed into one: the
/// older thunk becomes an indirection to the younger. A tail-recursive loop over thunks so keeps its
/// stack flat, if this is called when its stack is full, too ([`piles_up`]).
///
/// True if redundant work was cut off: the thread will enter a thunk next, whatever it was about
/// to do.
/// # Safety
/// The thread is stopped, its stack is dirty (it was running), and if it leaves for a foreign call
/// its TSO says so already.
pub unsafe fn thread_paused(hec: &mut Hec, t: Tso) -> bool {
    let chunk = t.obj().stackobj;
    match next_update(chunk, Frame::youngest(chunk)) {
        Some(frame) => see_from(hec, t, frame),
        // Most threads that block evaluate nothing.
        None => false,
    }
}

/// [`thread_paused`], from the frame of the current chunk on that [`next_update`] has found.
#[inline(never)]
unsafe fn see_from(hec: &mut Hec, t: Tso, frame: Frame) -> bool {
    let current = t.obj().stackobj;
    let mut chunk = current;
    // With the chunk that it is in.
    let mut cut = None;
    let mut squeezed: Vec<Frame> = Vec::new();
    // The update frame that ends right where `frame` begins.
    let mut neighbour: Option<Frame> = None;
    let mut next = Some(frame);
    while let Some(frame) = next {
        if frame.info().kind() == UNDERFLOW_FRAME {
            chunk = frame.next_chunk();
            if chunk.obj().marking == SEEN {
                break;
            }
            chunk.obj().marking = SEEN;
            neighbour = None;
            next = next_update(chunk, Frame::youngest(chunk));
            continue;
        }
        let marked = frame.info() == info!(stg_marked_upd_frame_info);
        let younger = neighbour.map(|n| n.closure(UPD_FRAME_UPDATEE));
        if !see(hec, t, frame, younger) {
            cut = Some((frame, chunk));
            neighbour = None;
        } else if younger.is_some() {
            squeezed.push(frame);
        } else {
            frame.set_info(info!(stg_marked_upd_frame_info));
            neighbour = (chunk == current).then_some(frame);
        }
        if marked {
            break;
        }
        let older = Frame(frame.0.add(UPD_FRAME_WORDS));
        next = next_update(chunk, older);
        if next != Some(older) {
            neighbour = None;
        }
    }
    if !squeezed.is_empty() {
        let here = cut.filter(|&(_, c)| c == current).map(|(f, _)| f);
        let shift = squeeze(t, &squeezed, here);
        cut = cut.map(|(f, c)| if c == current { (Frame(f.0.add(shift)), c) } else { (f, c) });
    }
    // A foreign call returns to the frame on top of the stack: then redundant work is let be.
    let Some((frame, _)) = cut.filter(|_| t.obj().why_blocked as usize == NotBlocked) else {
        return false;
    };
    cut_off(hec, t, frame);
    true
}

/// How many of its youngest frames tell what a full chunk is full of, and what part of these must be
/// update frames that lie directly on others.
const SAMPLE: usize = 64;
const PILED: usize = SAMPLE / 4;

/// Is a good part of the thread's current chunk update frames that can be squeezed?
/// # Safety
/// The thread is stopped.
pub unsafe fn piles_up(t: Tso) -> bool {
    let top = t.obj().stackobj.top();
    let mut frame = Frame::youngest(t.obj().stackobj);
    let (mut piled, mut neighbour) = (0, false);
    for _ in 0..SAMPLE {
        if frame.0 as usize >= top {
            break;
        }
        let update = frame.info().kind() == UPDATE_FRAME;
        piled += (update && neighbour) as usize;
        neighbour = update;
        frame = frame.older();
    }
    piled >= PILED
}

/// Gives up what the thread does above a frame whose thunk is not its own, to enter that.
unsafe fn cut_off(hec: &mut Hec, t: Tso, frame: Frame) {
    blackhole_profile::cut_off();
    raise_async::truncate(hec, t, frame);
    let thunk = frame.closure(UPD_FRAME_UPDATEE);
    let mut below = frame;
    if claim_state(thunk, t) == ClaimState::Own {
        // A frame for our own claim stays, to be found by whatever ends the wait.
        frame.set_info(info!(stg_marked_upd_frame_info));
    } else {
        below = Frame(frame.0.add(UPD_FRAME_WORDS));
        settle(hec, t);
    }
    set_top(t, below, &[info!(stg_enter_info).0, thunk.0]);
}

/// `noDuplicate#`: the running thread claims what it evaluates before it goes on, so that of
/// several that have entered the same thunk at the same time one does. The others are cut off.
/// # Safety
/// Called from Cmm with Sp and Hp saved; the frame on top needs no register.
#[no_mangle]
pub unsafe extern "C" fn hec_no_duplicate(hec: &mut Hec) {
    let t = hec.current();
    settle_modifications(hec, t);
    thread_paused(hec, t);
}

/// Claims a thunk for the running thread as it enters it. False (0) if somebody else was faster.
/// # Safety
/// Called from Cmm; Hp is in its register, so the nursery is out of bounds.
#[no_mangle]
pub unsafe extern "C" fn hec_claim_thunk(hec: &mut Hec, thunk: Closure) -> usize {
    let t = hec.current();
    hec.modify_predictor.on_forced(thunk.0);
    if thunk.info() != info!(hec_modify_info) {
        may_be_resumed(t);
    }
    claim(hec, thunk, t) as usize
}
