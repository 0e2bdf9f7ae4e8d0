//! Deadlock: what happens to blocked threads that nothing can wake.
//!
//! A collection that finds a thread unreachable knows that nobody can ever do the operation it
//! waits for. It gets an exception instead, whatever its masking state, for it would wait for
//! ever. Its handlers may wake others of the same batch, which are then no longer deadlocked.
use crate::abi::layout::*;
use crate::abi::Tso;
use crate::eval::raise_async::raise_async;
use crate::hec::Hec;
use crate::static_closure;

/// Throws to each of these threads, which the collector found unreachable (and has kept alive),
/// what tells it why it cannot go on.
/// # Safety
/// The world is stopped; no thread of these is running.
pub unsafe fn resurrect(hec: &mut Hec, threads: &[Tso]) {
    for &t in threads {
        let exception = match t.obj().why_blocked as usize {
            BlockedOnMVar | BlockedOnMVarRead => {
                static_closure!(base_GHCziIOziException_blockedIndefinitelyOnMVar_closure)
            }
            BlockedOnSTM => {
                static_closure!(base_GHCziIOziException_blockedIndefinitelyOnSTM_closure)
            }
            BlockedOnBlackHole => {
                static_closure!(base_ControlziExceptionziBase_nonTermination_closure)
            }
            // A thrower goes on when its target does, which is unreachable as well; a port's
            // reader waits for the outside world. The others have been woken by one of these.
            _ => continue,
        };
        raise_async(hec, t, Some(exception));
    }
}
