//! Deadlock: throws an exception to blocked threads that nothing can wake.
//!
//! A collection that finds a blocked thread unreachable knows that no other thread can reach what it waits for.
//! The runtime throws to the thread, whatever its masking state, because the thread would otherwise wait for ever.
//! A thread that waits in a `switch` counts as blocked on an MVar, because such a wait is as a rule one on a structure
//! like an MVar. One that was given to a scheduler which is unreachable goes to the built-in scheduler. An upcall
//! thread goes on waiting, because the threads of its scheduler get exceptions, and may wake it.
//!
//! Its handler may wake other threads of the same batch, which are then no longer deadlocked. Threads that go to the
//! built-in scheduler may do so, too. So if there are any, the others wait on: if none of them is woken, the next
//! collection finds that.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnScheduler, TSO_PASSES_ON, TSO_UPCALL, TSO_USER};
use crate::abi::Tso;
use crate::eval::raise_async::raise_async;
use crate::hec::Hec;
use crate::static_closure;
use crate::sync::substrate;
use crate::thread::park;

/// Throws to each thread the exception that names why it cannot continue. The collector found these threads
/// unreachable and has kept them alive.
/// # Safety
/// The world is stopped, and none of these threads is running.
pub unsafe fn resurrect(hec: &mut Hec, threads: &[Tso]) {
    // Their schedulers have gone, so the built-in one runs them.
    let given = threads.iter().filter(|&&t| park::why(t) == BlockedOnScheduler && substrate::is_given(t));
    let mut resumed = false;
    for &t in given {
        substrate::leave_group(hec, t);
        substrate::claimed(hec, t);
        park::unblock(hec, t);
        resumed = true;
    }
    if resumed {
        return;
    }
    for &t in threads {
        if t.obj().flags & TSO_UPCALL != 0 {
            continue;
        }
        let exception = match t.obj().why_blocked as usize {
            BlockedOnMVar | BlockedOnMVarRead => {
                static_closure!(base_GHCziIOziException_blockedIndefinitelyOnMVar_closure)
            }
            BlockedOnSTM => {
                static_closure!(base_GHCziIOziException_blockedIndefinitelyOnSTM_closure)
            }
            BlockedOnScheduler => {
                // If the exception ends it, others of its scheduler go on in its slot, as if it had waited for ever.
                if t.obj().flags & TSO_USER != 0 {
                    t.obj().flags |= TSO_PASSES_ON;
                }
                static_closure!(base_GHCziIOziException_blockedIndefinitelyOnMVar_closure)
            }
            BlockedOnBlackHole => {
                static_closure!(base_ControlziExceptionziBase_nonTermination_closure)
            }
            // A thrower resumes when its target does, and the target is unreachable as well. The reader of a port
            // waits for the outside world. Threads with another reason have been woken by one of these.
            _ => continue,
        };
        raise_async(hec, t, Some(exception));
    }
}
