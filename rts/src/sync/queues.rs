//! Taking a blocked thread off whatever it waits on, so that an exception can reach it.
use super::{mvar, throwto};
use crate::contract::{layout::*, Tso};
use crate::eval::blackhole;
use crate::hec::Hec;
use crate::observe::fatal;

/// What the scheduler does for threads that wait in its own queues.
#[derive(Clone, Copy)]
pub struct Scheduler {
    /// Takes a thread blocked on a descriptor or a delay off its queue.
    pub leave_sleep: unsafe fn(&mut Hec, Tso),
    /// Interrupts the foreign call that the thread is in (`interruptible`).
    pub interrupt_call: unsafe fn(&mut Hec, Tso),
}

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

/// Takes a blocked thread off the queue it is on. The caller unblocks it, or has it wait
/// elsewhere. (One that waits in a transaction leaves the TVars when that is aborted.)
/// # Safety
/// `t` is blocked, and not in a foreign call.
pub unsafe fn leave_queues(hec: &mut Hec, t: Tso) {
    match t.obj().why_blocked as usize {
        BlockedOnMVar | BlockedOnMVarRead => mvar::leave(hec, t),
        BlockedOnIOCompletion => mvar::leave_port(t),
        BlockedOnBlackHole => blackhole::stop_waiting(t),
        BlockedOnSTM => {}
        BlockedOnMsgThrowTo => throwto::withdraw(hec, t),
        BlockedOnRead | BlockedOnWrite | BlockedOnDelay => (scheduler().leave_sleep)(hec, t),
        _ => fatal::broken("an exception for a thread that cannot be interrupted"),
    }
}
