//! Waiting for an object of another processing element, which is not here (`cmm/Remote.cmm`), or for an operation that
//! it performs.
//!
//! The layer above that fetches such objects sets what happens at start. Without it, entering one ends the program.
use crate::abi::{Closure, Tso};
use crate::base::fatal;
use crate::hec::Hec;
use std::ptr;

/// The operations on threads that wait for absent objects.
#[derive(Clone, Copy)]
pub struct Fetcher {
    /// Makes a thread wait for the object at an address. Returns false if it need not wait.
    pub park: unsafe fn(&mut Hec, Tso, Closure) -> bool,
    /// Takes a thread that has been claimed off the queue of the object.
    pub leave: unsafe fn(Tso, Closure),
    /// An exception waits for a thread whose operation is performed elsewhere (`TSO_REMOTE_OP`).
    pub cancel: unsafe fn(&mut Hec, Tso),
    /// An ordinary thread waits for a thunk that another processing element evaluates leniently, for this thread.
    pub demand: unsafe fn(&mut Hec, Tso),
}

static mut FETCHER: Option<Fetcher> = None;

/// # Safety
/// Called once, before any absent object exists.
pub unsafe fn set_fetcher(fetcher: Fetcher) {
    FETCHER = Some(fetcher);
}

unsafe fn fetcher(address: Closure) -> Fetcher {
    match *ptr::addr_of!(FETCHER) {
        Some(fetcher) => fetcher,
        None => fatal::broken(&format!("the absent object at {:#x} was entered, and nothing brings it", address.0)),
    }
}

pub(super) unsafe fn park(hec: &mut Hec, t: Tso, address: Closure) -> bool {
    (fetcher(address).park)(hec, t, address)
}

pub(super) unsafe fn leave(t: Tso, address: Closure) {
    (fetcher(address).leave)(t, address)
}

pub(super) unsafe fn cancel(hec: &mut Hec, t: Tso) {
    if let Some(fetcher) = *ptr::addr_of!(FETCHER) {
        (fetcher.cancel)(hec, t);
    }
}

pub(super) unsafe fn demand(hec: &mut Hec, t: Tso) {
    if let Some(fetcher) = *ptr::addr_of!(FETCHER) {
        (fetcher.demand)(hec, t);
    }
}
