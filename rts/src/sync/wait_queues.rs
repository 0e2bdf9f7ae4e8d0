//! Takes a thread off the queue it waits on, so that an exception can reach it.
//!
//! *Protocol*: `park_thread.rs` puts threads on queues. The scheduler, a layer above, sets the operations for its own
//! queues at start ([`Scheduler`]).
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, BlockedOnScheduler};
use crate::abi::{Closure, Tso};
use crate::base::fatal;
use crate::eval::blackhole;
use crate::hec::wait::Wait;
use crate::hec::Hec;
use crate::sync::{absent, mvar, substrate, throwto_protocol};
use crate::thread::park::Claim;

/// The scheduler's operations on threads that wait in its own queues.
#[derive(Clone, Copy)]
pub struct Scheduler {
    /// Makes a thread wait for a descriptor or a delay. Returns false if it need not wait.
    pub sleep: unsafe fn(&mut Hec, Tso, Wait) -> bool,
    /// Takes a thread blocked on a descriptor or a delay off its queue.
    pub leave_sleep: unsafe fn(Tso, Wait),
    /// Interrupts the foreign call that the thread is in (`interruptible`).
    pub interrupt_call: unsafe fn(&mut Hec, Tso),
}

/// Written once, before the first thread exists.
static mut SCHEDULER: Option<Scheduler> = None;

/// # Safety
/// Called once, before any Haskell runs.
pub unsafe fn set_scheduler(s: Scheduler) {
    SCHEDULER = Some(s);
}

pub(super) unsafe fn scheduler() -> Scheduler {
    match SCHEDULER {
        Some(s) => s,
        None => fatal::broken("a thread sleeps before the scheduler has registered"),
    }
}

/// Takes a claimed thread off the queue it is on. A thread that waits in a transaction leaves its TVars when the
/// transaction is aborted.
/// # Safety
/// The thread was not in a foreign call, and resumes only afterwards.
pub unsafe fn leave(hec: &mut Hec, c: &Claim) {
    // The status of a passive thread has been written with the claim.
    if c.why != BlockedOnScheduler {
        leave_for(hec, c.thread, c.why)
    }
}

unsafe fn leave_for(hec: &mut Hec, t: Tso, why: usize) {
    match why {
        BlockedOnAbsent => absent::leave(t, Closure(t.obj().block_info)),
        BlockedOnMVar | BlockedOnMVarRead => mvar::leave(hec, t),
        BlockedOnIOCompletion => mvar::leave_port(t),
        BlockedOnBlackHole => blackhole::stop_waiting(t),
        BlockedOnSTM => {}
        BlockedOnScheduler => substrate::claimed(hec, t),
        BlockedOnMsgThrowTo => throwto_protocol::withdraw(hec, Closure(t.obj().block_info)),
        BlockedOnRead | BlockedOnWrite | BlockedOnDelay => {
            (scheduler().leave_sleep)(t, Wait { why, on: t.obj().block_info })
        }
        _ => fatal::broken("an exception for a thread that cannot be interrupted"),
    }
}

/// Takes a blocked thread off the queue it is on. The caller unblocks the thread.
/// # Safety
/// As for [`leave`]. The world is stopped or there is one HEC, so no other HEC can claim the thread.
pub unsafe fn leave_queues(hec: &mut Hec, t: Tso) {
    leave_for(hec, t, t.obj().why_blocked as usize)
}
