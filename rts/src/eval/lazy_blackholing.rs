//! Lazy black-holing: claiming the thunks that a thread evaluates when it stops [HMP05, §4.1].
//!
//! *Protocol*
//! 1. Code that enters a thunk only pushes an update frame.
//! 2. When the thread stops, [`thread_paused`] claims the thunks of all frames pushed since it last stopped, and marks
//!    those frames. It does not do so when only the stack grows, because most frames of a deep recursion are gone
//!    before the thread stops.
//! 3. Two threads that run at the same time may race for a claim, which [`thunk`] decides. The one that loses, or finds
//!    a value, has its redundant work cut off ([`raise_async::truncate`]) and enters the thunk again.
//!
//! *Invariant*: a thread never finds a thunk unclaimed that a stopped thread is evaluating.
//!
//! *`<<loop>>`*: a thread that enters a thunk it evaluates itself waits for its own claim. If it had not stopped in
//! between, and so had not claimed the thunk, it has two frames for it. The older one is then found owned, the work in
//! between is cut off, and the thread waits as well. A collection that finds the waiting thread unreachable throws
//! NonTermination (`sync/deadlock.rs`).
//!
//! *Losing a claim*: a waiting thread may steal the claim of a thread that is runnable but far back in the run queue
//! ([`crate::eval::thunk_steal`]). Otherwise that thread runs soon, or moves to an idle HEC. A thread that is blocked
//! for ever releases its claims when the collector finds it: the exception that it gets freezes its work.
//!
//! *Checked by*: the unit tests in `rts/src/eval/tests.rs`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Tso};
use crate::eval::atomic_modify::{defer_all as defer_modifications, mark_resumed};
use crate::eval::blackhole::release_queues;
use crate::eval::claim_state::{claim_state, ClaimState};
use crate::eval::find_update_frame::next_update;
use crate::eval::frames::Frame;
use crate::eval::stack_squeeze::squeeze;
use crate::eval::thunk;
use crate::eval::thunk_copy;
use crate::eval::thunk_words::Heap;
use crate::eval::{raise_async, update};
use crate::hec::Hec;
use crate::info;
use crate::observe::blackhole_profile;
use crate::thread::stack::SCANNED;

/// Claims an unclaimed thunk. Returns false if another thread was faster.
/// # Safety
/// The caller holds the HEC, which owns the thread. The thread is at rest, and its stack has an update frame for the
/// thunk.
pub unsafe fn claim(hec: &mut Hec, thunk: Closure, t: Tso) -> bool {
    let Some(header) = thunk::claim(&Heap, thunk.0, t.0) else { return false };
    hec.remember(thunk);
    blackhole_profile::claimed(thunk, Info(header));
    true
}

/// Handles the thunk of an update frame. `younger` is the thunk of the update frame directly above it, if there is one.
/// Returns true if the thunk is this thread's to evaluate. (From the first marked frame of a chunk on, all frames have
/// been handled before.)
unsafe fn claim_frame(hec: &mut Hec, t: Tso, frame: Frame, younger: Option<Closure>) -> bool {
    let thunk = frame.closure(UPD_FRAME_UPDATEE);
    match (claim_state(thunk, t), younger) {
        (ClaimState::Foreign, _) => false,
        (ClaimState::Free, None) => claim(hec, thunk, t),
        (ClaimState::Free, Some(younger)) => update::fill(hec, thunk, younger),
        // An unmarked frame for a thunk that this thread has claimed already is a second one, unless compiled code
        // has made the claim.
        (ClaimState::Own, _) if frame.info() == info!(stg_upd_frame_info) => false,
        (ClaimState::Own, Some(younger)) => update::finish(hec, t, thunk, younger) == younger,
        (ClaimState::Own, None) => {
            // Compiled code that claims does not use the write barrier.
            if frame.info() == info!(stg_bh_upd_frame_info) {
                hec.remember(thunk);
            }
            true
        }
    }
}

/// Claims the thunks that the thread is evaluating. Called whenever a thread stops. So a scan may end at the first
/// marked frame, and at a chunk below the current one that has been scanned since it became that.
///
/// Update frames directly above each other in the current chunk are squeezed into one: the older thunk becomes an
/// indirection to the younger. This is also called when the stack is full ([`has_squeezable_frames`]), so that a
/// tail-recursive loop over thunks keeps its stack flat.
///
/// Returns true if redundant work was cut off. The thread then enters a thunk next, whatever it was about to do.
/// # Safety
/// The thread is stopped, and its stack is dirty because it was running. If it leaves for a foreign call, its TSO
/// already says so.
pub unsafe fn thread_paused(hec: &mut Hec, t: Tso) -> bool {
    let chunk = t.obj().stackobj;
    match next_update(chunk, Frame::youngest(chunk)) {
        Some(frame) => claim_from(hec, t, frame),
        // Most threads that block evaluate no thunk.
        None => false,
    }
}

/// [`thread_paused`], from the frame of the current chunk that [`next_update`] has found.
#[inline(never)]
unsafe fn claim_from(hec: &mut Hec, t: Tso, frame: Frame) -> bool {
    let current = t.obj().stackobj;
    let mut chunk = current;
    // The frame to cut off at, and its chunk.
    let mut cut = None;
    let mut squeezed: Vec<Frame> = Vec::new();
    // The update frame that ends directly above `frame`.
    let mut neighbour: Option<Frame> = None;
    let mut next = Some(frame);
    while let Some(frame) = next {
        if frame.info().kind() == UNDERFLOW_FRAME {
            chunk = frame.next_chunk();
            if chunk.obj().marking == SCANNED {
                break;
            }
            chunk.obj().marking = SCANNED;
            neighbour = None;
            next = next_update(chunk, Frame::youngest(chunk));
            continue;
        }
        let marked = [info!(stg_marked_upd_frame_info), info!(hec_once_upd_frame_info)].contains(&frame.info());
        let younger = neighbour.map(|n| n.closure(UPD_FRAME_UPDATEE));
        if !claim_frame(hec, t, frame, younger) {
            cut = Some((frame, chunk));
            neighbour = None;
        } else if younger.is_some() {
            squeezed.push(frame);
        } else {
            if !marked {
                frame.set_info(info!(stg_marked_upd_frame_info));
            }
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
    // A foreign call returns to the frame on top of the stack, so redundant work is then left alone.
    let Some((frame, _)) = cut.filter(|_| t.obj().why_blocked as usize == NotBlocked) else {
        return false;
    };
    cut_off(hec, t, frame);
    true
}

/// The number of youngest frames that are examined to tell what a full chunk contains.
const SAMPLE: usize = 64;
/// The number of these that must be update frames directly below others, for squeezing to free a good part of the
/// chunk.
const MIN_PILED: usize = SAMPLE / 4;

/// Are many of the frames in the thread's current chunk update frames that can be squeezed?
/// # Safety
/// The thread is stopped.
pub unsafe fn has_squeezable_frames(t: Tso) -> bool {
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
    piled >= MIN_PILED
}

/// Discards what the thread does above a frame whose thunk it does not own, and makes it enter the thunk.
unsafe fn cut_off(hec: &mut Hec, t: Tso, frame: Frame) {
    blackhole_profile::cut_off();
    let unwound = raise_async::truncate(hec, t, frame);
    let thunk = frame.closure(UPD_FRAME_UPDATEE);
    let mut below = frame;
    if claim_state(thunk, t) == ClaimState::Own {
        // A frame for the thread's own claim stays, so that the event that ends the wait finds it.
        frame.set_info(info!(stg_marked_upd_frame_info));
    } else {
        below = Frame(frame.0.add(UPD_FRAME_WORDS));
        release_queues(hec, t);
    }
    unwound.continue_at(t, below, &[info!(stg_enter_info).0, thunk.0]);
}

/// `noDuplicate#`: the running thread claims the thunks it evaluates before it continues. So of several threads that
/// have entered the same thunk at the same time only one continues; the others are cut off.
/// # Safety
/// Called from Cmm with Sp and Hp saved; the frame on top needs no register.
#[no_mangle]
pub unsafe extern "C" fn hec_no_duplicate(hec: &mut Hec) {
    let t = hec.current();
    defer_modifications(hec, t);
    if !thread_paused(hec, t) {
        thunk_copy::no_duplicate(hec, t);
    }
}

/// Claims a thunk for the running thread as it enters it. Returns 0 if another thread was faster.
/// # Safety
/// Called from Cmm. Hp is in its register, so nothing may be allocated in the nursery.
#[no_mangle]
pub unsafe extern "C" fn hec_claim_thunk(hec: &mut Hec, thunk: Closure) -> usize {
    let t = hec.current();
    hec.modify_predictor.on_forced(thunk.0);
    if thunk.info() != info!(hec_modify_info) {
        mark_resumed(t);
    }
    claim(hec, thunk, t) as usize
}
