//! Objects of other processing elements (PEs) that are needed here, and own ones that others need: the heap's side of
//! `cluster/fetch.rs`.
//!
//! *Protocol*
//! 1. A thread that enters an absent object waits (`absent_objects.rs`).
//! 2. The owner looks at its object ([`look`]). If it is not evaluated, a *service thread* evaluates it ([`serve`]).
//!    That is a thread like any: it claims, waits, and holds nothing. At its end (`hec_served`, `api/remote.rs`) the
//!    object is looked at again, and the answer sent.
//! 3. The answer wakes the threads, which enter the object again ([`wake`]), or raises an exception in them
//!    ([`raise`]). The exception freezes what they evaluate and is stored nowhere; handlers within it do not get it.
//!
//! *Locking*: all is done under the element's lock.
use crate::abi::layout::*;
use crate::abi::tso::BlockedOnAbsent;
use crate::abi::{Closure, Tso};
use crate::base::fatal::broken;
use crate::cluster::element::Object;
use crate::cluster::ids::{Address, Thread};
use crate::cluster::message::Unavailable;
use crate::eval::raise_async::raise_outside_thunks;
use crate::hec::Hec;
use crate::sched::{lenient, settings};
use crate::spread::cell::{contents, Contents};
use crate::spread::exceptions;
use crate::spread::graph::Graph;
use crate::spread::kept;
use crate::spread::pack::{pack, BUDGET};
use crate::thread::create::{apply, boxed, new_io_thread};
use crate::thread::park;
use crate::{info, static_closure};

unsafe fn claim(hec: &mut Hec, thread: Thread) -> Option<park::Claim> {
    let t = Tso(kept::release(Address(thread.0))?.0);
    park::claim(hec, t, |why, _| why == BlockedOnAbsent)
}

/// Wakes a thread that waits.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn wake(hec: &mut Hec, thread: Thread) {
    if let Some(claim) = claim(hec, thread) {
        claim.resume(hec);
    }
}

/// Raises an exception in a thread that waits, whatever its masking state.
/// # Safety
/// As for [`wake`].
pub unsafe fn raise(hec: &mut Hec, thread: Thread, why: &Unavailable) {
    if let Some(claim) = claim(hec, thread) {
        let exception = exceptions::of(hec, why);
        raise_outside_thunks(hec, claim.thread, exception);
        claim.resume(hec);
    }
}

/// The state of an own object, packed if it is evaluated.
/// # Safety
/// The caller holds the HEC. The address is that of an own fixed object, or of a kept thunk.
pub unsafe fn look(hec: &mut Hec, address: Address) -> Object<Graph> {
    look_with(hec, address, BUDGET)
}

/// The same, with at most `budget` bytes of it.
/// # Safety
/// As for [`look`].
pub unsafe fn look_with(hec: &mut Hec, address: Address, budget: usize) -> Object<Graph> {
    let closure = closure_at(address);
    if matches!(contents(closure), Contents::Unevaluated(_)) {
        return Object::Unevaluated;
    }
    match pack(hec, &[closure], budget) {
        Ok(graph) => Object::Evaluated(graph),
        Err(stays) => Object::Stays(stays.0.to_owned()),
    }
}

unsafe fn closure_at(address: Address) -> Closure {
    if kept::is_name(address) {
        kept::get(address).unwrap_or_else(|| broken("a thunk that is not kept"))
    } else {
        Closure(address.0 as usize)
    }
}

/// Makes a service thread for an own object.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn serve(hec: &mut Hec, address: Address) {
    let t = new_service(hec, address);
    make_runnable(hec, t);
}

/// Makes a lenient service thread for a borrowed thunk.
/// # Safety
/// As for [`serve`]. The nesting is that of a lenient spark.
pub unsafe fn serve_leniently(hec: &mut Hec, name: Address, nesting: usize) {
    let t = new_service(hec, name);
    lenient::add(hec, t, nesting);
}

unsafe fn new_service(hec: &mut Hec, address: Address) -> Tso {
    let number = boxed(hec, info!(ghczmprim_GHCziTypes_Wzh_con_info), address.0 as usize);
    let action = apply(hec, static_closure!(hecatonzmrts_Spread_serve_closure), &[closure_at(address), number]);
    let t = new_io_thread(hec, action, &settings().stack);
    mask(t);
    kept::keep_service(address, t.closure());
    t
}

/// Makes a thread that performs an action, which begins masked: so no exception comes before its handler is there.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn start_masked(hec: &mut Hec, action: Closure) -> Tso {
    let t = new_io_thread(hec, action, &settings().stack);
    mask(t);
    make_runnable(hec, t);
    t
}

unsafe fn mask(t: Tso) {
    t.obj().flags |= (TSO_BLOCKEX | TSO_INTERRUPTIBLE) as u32;
}

/// Puts a new thread on the run queue.
/// # Safety
/// The caller holds the HEC, which has made it.
pub unsafe fn make_runnable(hec: &mut Hec, t: Tso) {
    hec.run_queue.push_back(&mut hec.remembered, t);
    hec.balance_soon(hec.run_queue.len() == 1);
}
