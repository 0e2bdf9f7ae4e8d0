//! Parks a thread on the queue of the object it waits for.
//!
//! *Invariants*
//!
//! - A pending exception is raised first: a thread with one does not enter a queue unless it is masked.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, BlockedOnScheduler, TSO_SLOT};
use crate::abi::{Closure, Tso};
use crate::base::fatal;
use crate::eval::wait_for_thunk;
use crate::hec::wait::Wait;
use crate::hec::Hec;
use crate::sync::wait_queues::scheduler;
use crate::sync::{absent, mvar, stm, substrate, throwto, upcall};

/// Parks a thread that has left Haskell with `ThreadBlocked`, unless a waiting exception must be raised first. Returns
/// false if the thread does not wait: it is runnable and on no queue.
/// # Safety
/// `t` is at rest, and `hec.wait` says what it waits for. When this returns true, another HEC may already own the
/// thread.
#[inline]
pub unsafe fn park(hec: &mut Hec, t: Tso) -> bool {
    let wait = std::mem::replace(&mut hec.wait, Wait::NONE);
    if throwto::deliver_instead(hec, t, wait.why) {
        return false;
    }
    if t.obj().flags & TSO_SLOT != 0 {
        return park_from_slot(hec, t, wait);
    }
    park_for(hec, t, wait)
}

#[inline(always)]
unsafe fn park_for(hec: &mut Hec, t: Tso, wait: Wait) -> bool {
    match wait.why {
        BlockedOnMVar | BlockedOnMVarRead => mvar::park(hec, t, Closure(wait.on), wait.why),
        _ => park_elsewhere(hec, t, wait),
    }
}

/// Parks a thread that is in the user slot of its HEC.
#[inline(never)]
unsafe fn park_from_slot(hec: &mut Hec, t: Tso, wait: Wait) -> bool {
    let Some(leaves) = upcall::leaves_slot(t, wait.why) else { return park_for(hec, t, wait) };
    let waits = park_for(hec, t, wait);
    if waits {
        upcall::after_block(hec, leaves);
    } else {
        upcall::stay(t);
    }
    waits
}

#[inline(never)]
unsafe fn park_elsewhere(hec: &mut Hec, t: Tso, wait: Wait) -> bool {
    let on = Closure(wait.on);
    match wait.why {
        BlockedOnIOCompletion => mvar::park_at_port(hec, t, on),
        BlockedOnBlackHole => wait_for_thunk::park(hec, t, on.untag()),
        BlockedOnSTM => stm::park(hec, t, on),
        BlockedOnScheduler => substrate::park(hec, t, on),
        BlockedOnAbsent => absent::park(hec, t, on),
        BlockedOnMsgThrowTo => {
            throwto::park(hec, t, on);
            true
        }
        BlockedOnRead | BlockedOnWrite | BlockedOnDelay => (scheduler().sleep)(hec, t, wait),
        why => fatal::broken(&format!("a thread waits for reason {why}")),
    }
}
