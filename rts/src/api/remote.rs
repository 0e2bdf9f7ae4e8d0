//! What Haskell code calls for other processing elements (PEs): `Hecaton.Cluster` of the package, and threads that
//! evaluate or perform for others (`rts/haskell/Spread.hs`). All are unsafe calls by the running thread, which is not
//! at rest; so messages are not handled here.
use crate::abi::Closure;
use crate::cluster::element::{HeapEvent, Object};
use crate::cluster::ids::{Address, Call, Pe};
use crate::cluster::message::Unavailable;
use crate::prims::stable_ptr::deRefStablePtr;
use crate::sched;
use crate::spread::pack::{pack, BUDGET};
use crate::spread::{calls, exceptions, kept, parts, results, run};
use std::ffi::{c_char, CStr};
use std::ptr::null;

/// Has another PE evaluate the thunk behind a stable pointer, if it may travel.
/// # Safety
/// The PE exists, and is another one.
#[no_mangle]
pub unsafe extern "C" fn hec_place(pe: i32, thunk: usize) {
    let thunk = deRefStablePtr(thunk);
    sched::hec().allocate_for_c(|hec| run::joined().step(hec, |step| step.place(Pe(pe as u16), thunk)));
}

/// Has another PE perform an action. Its result will be in the `MVar (Either SomeException a)` behind `mvar`. Both are
/// stable pointers; the one to the MVar is the runtime's from now on. Returns the number of the call. It is 0 if the
/// action may not leave this PE: then `why` says why.
/// # Safety
/// The PE exists, and is another one.
#[no_mangle]
pub unsafe extern "C" fn hec_call(pe: i32, action: usize, mvar: usize, why: *mut *const c_char) -> u64 {
    let hec = sched::hec();
    *why = null();
    match pack(hec, &[deRefStablePtr(action)], BUDGET) {
        Ok(graph) => {
            let call = calls::begin(mvar);
            hec.allocate_for_c(|hec| {
                run::joined().step(hec, |step| step.tell(HeapEvent::Calls(Pe(pe as u16), call, graph)))
            });
            call.0
        }
        Err(stays) => {
            *why = exceptions::lasting(stays.0);
            0
        }
    }
}

/// The number of the PE that owns a remote object.
/// # Safety
/// It is one.
#[no_mangle]
pub unsafe extern "C" fn hec_owner(object: Closure) -> usize {
    run::joined().owner(Address(object.0 as u64)).0.into()
}

/// A word of a value, or of a thunk that is not evaluated: a pointer; or `missing` if it has none there.
/// # Safety
/// The closure is live.
#[no_mangle]
pub unsafe extern "C" fn hec_part(closure: Closure, word: usize, missing: Closure) -> Closure {
    parts::field(closure, word).unwrap_or(missing)
}

/// The result of a call is not wanted any more: its thread gets the exception `ThreadKilled`.
/// # Safety
/// The number is that of a call.
#[no_mangle]
pub unsafe extern "C" fn hec_cancel_call(call: u64) {
    run::joined().step(sched::hec(), |step| step.tell(HeapEvent::Cancels(Call(call))));
}

/// The running thread waits for a call, and an exception for it cancels that.
/// # Safety
/// It has masked exceptions uninterruptibly.
#[no_mangle]
pub unsafe extern "C" fn hec_begin_wait(call: u64) {
    let hec = sched::hec();
    if calls::begin_wait(hec.current(), Call(call)) {
        run::joined().step(hec, |step| step.tell(HeapEvent::Cancels(Call(call))));
    }
}

/// The wait is over.
/// # Safety
/// As for [`hec_begin_wait`].
#[no_mangle]
pub unsafe extern "C" fn hec_end_wait() {
    calls::end_wait(sched::hec().current());
}

/// The action of a guest has ended. `result` is a stable pointer to an `Either SomeException a`.
/// # Safety
/// The name is that of a guest.
#[no_mangle]
pub unsafe extern "C" fn hec_call_ended(name: u64, result: usize) {
    let hec = sched::hec();
    let Some((caller, call)) = calls::end_guest(Address(name)) else { return };
    // A constructor of `Either` may always travel. What it refers to follows, when it is needed.
    if let Ok(graph) = pack(hec, &[deRefStablePtr(result)], BUDGET) {
        run::joined().step(hec, |step| step.tell(HeapEvent::Returns(caller, call, graph)));
    }
}

/// A service thread, or one that has evaluated a borrowed thunk, has come to its end. `why` and `text` say what it has
/// met, if its object is not evaluated: as in `rts/haskell/Spread.hs`.
/// # Safety
/// The address is one that is served. `text` is a string.
#[no_mangle]
pub unsafe extern "C" fn hec_served(address: u64, why: i32, text: *const c_char) {
    let hec = sched::hec();
    let address = Address(address);
    let event = match results::look(hec, address) {
        Object::Evaluated(graph) => HeapEvent::Evaluated(address, graph),
        Object::Stays(why) => HeapEvent::GivenUp(address, Unavailable::Stays(why)),
        Object::Unevaluated | Object::Claimed => HeapEvent::GivenUp(address, given_up(why, text)),
    };
    // Before the answer: with that, another thread may serve the address.
    kept::release_service(address);
    run::joined().step(hec, |step| step.tell(event));
    if kept::is_name(address) {
        kept::release(address);
    }
}

unsafe fn given_up(why: i32, text: *const c_char) -> Unavailable {
    match why {
        1 => Unavailable::StackOverflow,
        2 => Unavailable::HeapOverflow,
        3 => Unavailable::Stays(CStr::from_ptr(text).to_string_lossy().into_owned()),
        _ => Unavailable::PeLost,
    }
}
