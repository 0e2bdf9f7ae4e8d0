//! Loans of sparks that may never be needed: what the scheduler tells of them.
//!
//! *Protocol*
//! 1. The lender's thread is lenient (`loans.rs`). A thread that waits for it makes it an ordinary one ([`on_demand`]).
//!    The borrower is told, and evaluates the thunk by an ordinary thread.
//! 2. The borrower freezes lenient work that is not to be done ahead (`rts/src/sched/lenient.rs`): it has effects, uses
//!    much stack or many time slices, or the heap grows ([`on_frozen`]). The lender's thread then has the thunk again.
use crate::abi::Tso;
use crate::cluster::element::HeapEvent;
use crate::hec::Hec;
use crate::spread::{kept, run};

/// A thread waits for the value of a thunk that this thread has lent.
/// # Safety
/// The caller holds the HEC, and no lock. The thread is live.
pub unsafe fn on_demand(hec: &mut Hec, t: Tso) {
    if let Some(thunk) = kept::newest_name_of(t.closure()) {
        run::joined().step(hec, |step| step.tell(HeapEvent::Demanded(thunk)));
    }
}

/// A thread's lenient evaluation has been frozen. If it was borrowed work, the lender will do it.
/// # Safety
/// The thread is live.
pub unsafe fn on_frozen(t: Tso) {
    if let Some(name) = kept::served_by(t.closure()) {
        kept::release_service(name);
        run::joined().step_without_hec(|step| step.tell(HeapEvent::Stopped(name)));
        kept::release(name);
    }
}
