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
//! *Invariant*: a lent thunk is kept alive by its lender's thread, which is kept under the loan's name.
use crate::abi::tso::BlockedOnAbsent;
use crate::abi::{Closure, Tso};
use crate::base::fatal::broken;
use crate::cluster::ids::Address;
use crate::eval::frames::{set_top, Frame};
use crate::eval::lazy_blackholing;
use crate::hec::run_queue::dirty_tso;
use crate::hec::{self, Hec};
use crate::sched::{settings, spark};
use crate::spread::cell::{resolve, Target};
use crate::spread::graph::Graph;
use crate::spread::pack::{pack_thunk, LOAN_BUDGET};
use crate::spread::readers::serve;
use crate::spread::{kept, placed};
use crate::thread::create::{new_thread, push};
use crate::thread::park;
use crate::thread::stack::dirty_stack;
use crate::{info, static_closure};

/// Sparks that are examined for one request. What may not travel now may not travel soon.
const TRIES: usize = 16;

/// A spark that may travel.
pub struct Lendable {
    /// What the loan will call it.
    pub name: Address,
    pub thunk: Closure,
    pub graph: Graph,
}

/// Takes the oldest spark that may travel. Others are given back to the newer end of this HEC's pool.
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
    found
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
    Some(Lendable { name: kept::keep(thunk), thunk, graph })
}

/// The thunk is not lent, after all.
pub fn keep_no_longer(lendable: &Lendable) {
    kept::release(lendable.name);
}

/// Claims the thunk for a lender's thread, which takes its name. `None` if another thread was faster.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn claim(hec: &mut Hec, lendable: Lendable) -> Option<Graph> {
    let Lendable { name, thunk, graph } = lendable;
    let t = new_thread(hec, &settings().stack);
    let nothing = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    push(t.obj().stackobj, &[info!(stg_enter_info).0, nothing.0, info!(stg_marked_upd_frame_info).0, thunk.0]);
    park::block(hec, t, BlockedOnAbsent, 0);
    if lazy_blackholing::claim(hec, thunk, t) {
        kept::replace(name, t.closure());
        spark::note_lent(hec);
        return Some(graph);
    }
    kept::release(name);
    None
}

/// The thunk of a loan has this value, or is this thunk: its lender's thread goes on.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn close(hec: &mut Hec, name: Address, with: Closure) {
    let Some(t) = kept::release(name).map(|c| Tso(c.0)) else { broken("a loan that is not open") };
    let Some(claim) = park::claim(hec, t, |why, _| why == BlockedOnAbsent) else { return };
    dirty_tso(&mut hec.remembered, t);
    let stack = t.obj().stackobj;
    dirty_stack(hec, stack);
    let update_frame = Frame::youngest(stack).older();
    set_top(t, update_frame, &[info!(stg_enter_info).0, with.0]);
    claim.resume(hec);
}

/// Makes a thread for a borrowed thunk, or adds it to the placed calls. Returns the thunk's name.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn evaluate(hec: &mut Hec, thunk: Closure, is_placed: bool) -> Address {
    let name = kept::keep(thunk);
    if is_placed {
        placed::add(hec, name);
    } else {
        serve(hec, name);
    }
    name
}
