//! Waiting for absent objects.
//!
//! *Protocol*
//! 1. A thread that enters an absent object leaves to wait ([`park()`]). Under the element's lock, which each install
//!    holds, the object is looked at once more. If it is still absent, the thread blocks, and the owner is asked.
//! 2. The answer wakes the thread, or raises an exception in it (`readers.rs`).
//! 3. An exception for a waiting thread takes it off ([`leave`]). The answer then comes all the same.
use crate::abi::tso::BlockedOnAbsent;
use crate::abi::{Closure, Tso};
use crate::cluster::element::HeapEvent;
use crate::cluster::ids::{Address, Thread};
use crate::hec::Hec;
use crate::spread::cell::is_absent;
use crate::spread::{calls, kept, lenient_loans, run};
use crate::sync::absent::Fetcher;
use crate::thread::park;

pub const FETCHER: Fetcher = Fetcher { park, leave, cancel, demand: lenient_loans::on_demand };

/// Makes a thread wait for an absent object. False if it has come.
unsafe fn park(hec: &mut Hec, t: Tso, address: Closure) -> bool {
    run::joined().step(hec, |step| {
        let waits = is_absent(address);
        if waits {
            let thread = Thread(kept::keep(t.closure()).0);
            park::block(step.hec(), t, BlockedOnAbsent, address.0);
            step.tell(HeapEvent::Wanted(Address(address.0 as u64), thread));
        }
        waits
    })
}

/// A thread that waited was claimed by who throws to it.
unsafe fn leave(t: Tso, _: Closure) {
    if let Some(name) = kept::newest_name_of(t.closure()) {
        kept::release(name);
        run::joined().step_without_hec(|step| step.tell(HeapEvent::Withdrawn(Thread(name.0))));
    }
}

/// An exception waits for a thread whose operation is performed elsewhere.
unsafe fn cancel(hec: &mut Hec, t: Tso) {
    if let Some(call) = calls::awaited(t) {
        run::joined().step(hec, |step| step.tell(HeapEvent::Cancels(call)));
    }
}
