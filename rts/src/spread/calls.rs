//! `IO` actions that other processing elements (PEs) perform: the heap's side of `cluster/calls.rs`.
//!
//! *Protocol*
//! 1. `hec_call` (`api/remote.rs`) packs an action, which is a function, and sends it. The caller's MVar will get the
//!    result.
//! 2. The other PE makes a *guest* thread, which is masked but within the action, if that unmasks. So no exception
//!    comes before it has its handler, or after it has the result. It ends with `hec_call_ended`, which packs the
//!    result, `Left` or `Right`, and sends it.
//! 3. The result fills the MVar. If its PE is lost, that is filled with an exception.
use crate::abi::tso::TSO_REMOTE_OP;
use crate::abi::{Closure, Tso};
use crate::base::poison::unpoisoned;
use crate::cluster::ids::{Address, Call, Pe};
use crate::cluster::message::Unavailable;
use crate::hec::Hec;
use crate::prims::stable_ptr::{deRefStablePtr, freeStablePtr};
use crate::spread::exceptions;
use crate::spread::kept;
use crate::spread::readers::start_masked;
use crate::sync::mvar::try_put_mvar;
use crate::thread::create::{apply, boxed};
use crate::thread::park;
use crate::{info, static_closure};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Open calls: the stable pointers to their MVars.
struct Open {
    mvars: BTreeMap<Call, usize>,
    last: u64,
}

static OPEN: Mutex<Open> = Mutex::new(Open { mvars: BTreeMap::new(), last: 0 });

/// The calls that threads wait for, by their numbers, while an exception cancels the call.
static CALLERS: Mutex<BTreeMap<u64, Call>> = Mutex::new(BTreeMap::new());

/// The threads that perform actions of other PEs.
static GUESTS: Mutex<BTreeMap<(Pe, Call), Address>> = Mutex::new(BTreeMap::new());

/// Begins a call. The stable pointer to its MVar is freed when it ends.
pub fn begin(mvar: usize) -> Call {
    let mut open = unpoisoned(OPEN.lock());
    open.last += 1;
    let call = Call(open.last);
    open.mvars.insert(call, mvar);
    call
}

/// The running thread will wait for a call, which an exception is to cancel. True if one waits already.
/// # Safety
/// This HEC owns the thread, which has masked exceptions uninterruptibly.
pub unsafe fn begin_wait(t: Tso, call: Call) -> bool {
    unpoisoned(CALLERS.lock()).insert(t.obj().id, call);
    let _held = park::lock(t);
    t.obj().flags |= TSO_REMOTE_OP;
    t.obj().blocked_exceptions != Tso::end().closure()
}

/// The wait is over.
/// # Safety
/// As for [`begin_wait`].
pub unsafe fn end_wait(t: Tso) {
    let held = park::lock(t);
    t.obj().flags &= !TSO_REMOTE_OP;
    drop(held);
    unpoisoned(CALLERS.lock()).remove(&t.obj().id);
}

/// The call that a thread waits for.
/// # Safety
/// It is live.
pub unsafe fn awaited(t: Tso) -> Option<Call> {
    unpoisoned(CALLERS.lock()).get(&t.obj().id).copied()
}

/// The MVar of a call, which ends.
unsafe fn take_mvar(call: Call) -> Option<Closure> {
    let mvar = unpoisoned(OPEN.lock()).mvars.remove(&call)?;
    let closure: Closure = deRefStablePtr(mvar);
    freeStablePtr(mvar);
    Some(closure)
}

/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn on_returned(hec: &mut Hec, call: Call, result: Closure) {
    if let Some(mvar) = take_mvar(call) {
        try_put_mvar(hec, mvar.untag(), result);
    }
}

/// # Safety
/// As for [`on_returned`].
pub unsafe fn on_lost(hec: &mut Hec, call: Call) {
    let exception = exceptions::of(hec, &Unavailable::PeLost);
    let result = apply(hec, static_closure!(hecatonzmrts_Spread_failed_closure), &[exception]);
    on_returned(hec, call, result);
}

/// Makes a thread that performs an action.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn perform(hec: &mut Hec, caller: Pe, call: Call, action: Closure) {
    let name = kept::keep(action);
    let boxed_name = boxed(hec, info!(ghczmprim_GHCziTypes_Wzh_con_info), name.0 as usize);
    let main = apply(hec, static_closure!(hecatonzmrts_Spread_perform_closure), &[action, boxed_name]);
    let t = start_masked(hec, main);
    kept::replace(name, t.closure());
    unpoisoned(GUESTS.lock()).insert((caller, call), name);
}

/// The thread that performs an action, if it has not ended.
pub fn guest(caller: Pe, call: Call) -> Option<Tso> {
    let name = unpoisoned(GUESTS.lock()).get(&(caller, call)).copied()?;
    kept::get(name).map(|c| Tso(c.0))
}

/// Does a thread perform an action of another PE?
pub fn any_guests() -> bool {
    !unpoisoned(GUESTS.lock()).is_empty()
}

/// The calls of a PE that are performed here.
pub fn of(caller: Pe) -> Vec<Call> {
    unpoisoned(GUESTS.lock()).keys().filter(|(pe, _)| *pe == caller).map(|&(_, call)| call).collect()
}

/// The action of a guest has ended: whose call it was.
pub fn end_guest(name: Address) -> Option<(Pe, Call)> {
    kept::release(name);
    unpoisoned(GUESTS.lock()).extract_if(.., |_, n| *n == name).map(|(key, _)| key).next()
}
