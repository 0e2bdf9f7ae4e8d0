//! Locks whose holder panicked.
use std::sync::LockResult;

/// What locking, or waiting with a lock, has given, even if somebody panicked while holding it: a
/// panic ends the program, and until then nobody should fail for its sake as well.
pub fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(|poisoned| poisoned.into_inner())
}
