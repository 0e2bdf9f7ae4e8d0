//! Thunks that other processing elements (PEs) evaluate: the heap's side of `cluster/loan.rs`.
//!
//! *Protocol*
//! 1. To lend a thunk, its holder packs it and claims it for a new thread, the *lender's thread*. To all others here
//!    the thunk is under evaluation, by a thread that is blocked. That thread has the update frame of the thunk on its
//!    stack, and above it a frame that enters the result, once that is known.
//! 2. The borrower makes the thunk anew, and a thread that evaluates it like a service thread (`readers.rs`).
//! 3. With the result, or with the thunk itself if it was not evaluated there, the lender's thread goes on: its update
//!    frame updates the thunk and wakes those who wait.
//!
//! *Lenient sparks* are lent if there are no others. The borrower evaluates such a thunk by a lenient thread, and the
//! lender's thread is lenient, too (`lenient_loans.rs`).
//!
//! *Invariant*: a lent thunk is kept alive by its lender's thread, which is kept under the loan's name.
use crate::abi::tso::BlockedOnAbsent;
use crate::abi::{Closure, Tso};
use crate::base::fatal::broken;
use crate::cluster::ids::Address;
use crate::cluster::message::Reason;
use crate::eval::frames::{set_top, Frame};
use crate::eval::lazy_blackholing;
use crate::hec::lenient_pool::{LenientSpark, MAX_NESTING};
use crate::hec::run_queue::dirty_tso;
use crate::hec::{self, Hec};
use crate::sched::{lenient, settings, spark};
use crate::spread::cell::{resolve, Target};
use crate::spread::graph::Graph;
use crate::spread::pack::{pack_thunk, LOAN_BUDGET};
use crate::spread::readers::{make_runnable, serve, serve_leniently};
use crate::spread::{kept, placed};
use crate::thread::create::{new_eval_thread, new_thread, push};
use crate::thread::park;
use crate::thread::stack::dirty_stack;
use crate::{info, static_closure};

/// Sparks that are examined for one request. What may not travel now may not travel soon.
const TRIES: usize = 16;

/// A thunk that may travel.
pub struct Lendable {
    /// What the loan will call it.
    pub name: Address,
    pub thunk: Closure,
    pub graph: Graph,
    /// In how many lenient evaluations it is nested, if it may never be needed.
    pub lenient: Option<usize>,
}

/// Takes the oldest spark that may travel; if there is none, a lenient one. Others are given back to the newer end of
/// this HEC's pool.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn take_spark(hec: &mut Hec) -> Option<Lendable> {
    let mut kept = Vec::new();
    let mut found = None;
    for _ in 0..TRIES {
        let Some(spark) = spark::take_oldest(hec) else { break };
        found = lendable(hec, spark);
        if found.is_some() {
            break;
        }
        kept.push(spark);
    }
    kept.into_iter().for_each(|spark| spark::give_back(hec, spark));
    found.or_else(|| take_lenient(hec))
}

unsafe fn take_lenient(hec: &mut Hec) -> Option<Lendable> {
    let spark = lenient::take_oldest(hec)?;
    let lendable = lendable(hec, spark.thunk);
    if lendable.is_none() {
        lenient::give_back(hec, spark);
    }
    lendable.map(|lendable| Lendable { lenient: Some(spark.nesting), ..lendable })
}

/// The thunk is not lent, after all: a spark goes back to its pool.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn give_back(hec: &mut Hec, lendable: &Lendable) {
    keep_no_longer(lendable);
    match lendable.lenient {
        Some(nesting) => lenient::give_back(hec, LenientSpark { thunk: lendable.thunk, nesting }),
        None => spark::give_back(hec, lendable.thunk),
    }
}

/// The thunk that an own cell stands for, if this HEC has other work, no HEC is idle, and it may travel: whoever needs
/// its value is idle for as long as it waits, and evaluates it.
/// # Safety
/// As for [`take_spark`]. The address is that of an own fixed object.
pub unsafe fn wanted(hec: &mut Hec, cell: Address) -> Option<Lendable> {
    let is_busy = hec.has_runnable() && hec::idle_available() == 0;
    match resolve(Closure(cell.0 as usize)) {
        Target::Exit(_, thunk) if is_busy => lendable(hec, thunk),
        _ => None,
    }
}

/// The thunk behind a closure, packed; `None` if it is none, or may not travel.
/// # Safety
/// As for [`take_spark`].
pub unsafe fn lendable(hec: &mut Hec, closure: Closure) -> Option<Lendable> {
    let Target::Local(thunk) = resolve(closure) else { return None };
    let thunk = thunk.untag();
    let graph = pack_thunk(hec, thunk, LOAN_BUDGET).ok()?;
    Some(Lendable { name: kept::keep(thunk), thunk, graph, lenient: None })
}

/// The thunk is not lent, after all.
pub fn keep_no_longer(lendable: &Lendable) {
    kept::release(lendable.name);
}

/// Claims the thunk for a lender's thread, which takes its name. `None` if another thread was faster.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn claim(hec: &mut Hec, lendable: Lendable) -> Option<Graph> {
    let Lendable { name, thunk, graph, lenient } = lendable;
    let t = new_thread(hec, &settings().stack);
    let nothing = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    push(t.obj().stackobj, &[info!(stg_enter_info).0, nothing.0, info!(stg_marked_upd_frame_info).0, thunk.0]);
    if let Some(nesting) = lenient {
        // Before anyone can wait for it.
        lenient::make_lenient(t, nesting);
    }
    park::block(hec, t, BlockedOnAbsent, 0);
    if lazy_blackholing::claim(hec, thunk, t) {
        kept::replace(name, t.closure());
        match lenient {
            Some(_) => hec.lenient.counts.converted += 1,
            None => spark::note_lent(hec),
        }
        return Some(graph);
    }
    kept::release(name);
    None
}

/// The thunk of a loan has this value, or is this thunk, which is then `to_evaluate`: its lender's thread goes on. What
/// is left to evaluate may still not be needed.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn close(hec: &mut Hec, name: Address, with: Closure, to_evaluate: bool) {
    let Some(t) = kept::release(name).map(|c| Tso(c.0)) else { broken("a loan that is not open") };
    let Some(claim) = park::claim(hec, t, |why, _| why == BlockedOnAbsent) else { return };
    dirty_tso(&mut hec.remembered, t);
    let stack = t.obj().stackobj;
    dirty_stack(hec, stack);
    let update_frame = Frame::youngest(stack).older();
    set_top(t, update_frame, &[info!(stg_enter_info).0, with.0]);
    if !to_evaluate {
        park::end_leniency(hec, t);
    }
    claim.resume(hec);
}

/// Makes a thread for a borrowed thunk, or adds it to the placed calls. Returns the thunk's name.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn evaluate(hec: &mut Hec, thunk: Closure, reason: Reason) -> Address {
    let name = kept::keep(thunk);
    match reason {
        Reason::Placed => placed::add(hec, name),
        Reason::Lenient(nesting) => serve_leniently(hec, name, usize::from(nesting).min(MAX_NESTING - 1)),
        Reason::Stolen | Reason::Wanted(_) => serve(hec, name),
    }
    name
}

/// The lender needs the value of a thunk that is evaluated leniently. A thread that waits for it, or evaluates it, says
/// so to who does.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn demand(hec: &mut Hec, name: Address) {
    if let Some(thunk) = kept::get(name) {
        let t = new_eval_thread(hec, thunk, &settings().stack);
        make_runnable(hec, t);
    }
}
