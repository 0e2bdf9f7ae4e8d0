//! Locks whose holder panicked are used as if it had not.
use std::sync::LockResult;

/// The guard that locking returned, even if a thread panicked while it held the lock. A panic ends the program. Until
/// then other threads should not fail because of it.
pub fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(|poisoned| poisoned.into_inner())
}
