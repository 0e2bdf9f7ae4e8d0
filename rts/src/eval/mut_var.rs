//! The word of a mutable variable during an eager modification (`atomic_modify.rs`; `cmm/AtomicModify.cmm` does the
//! same).
//!
//! *Protocol*: a modification takes effect when its result replaces the value that it was computed from, by one
//! compare-and-exchange. Only that word is shared. The new value is initialised before the exchange (Release), and a
//! thread that loads the word (Acquire) sees it. A value that was replaced and put back is harmless, because the result
//! computed from it is still right.
//!
//! *Checked by*: the loom models in `rts/tests/models/modifications.rs`, which compile this file.
use crate::base::atomics::{AtomicUsize, Ordering};

/// Replaces `found` by `new`, which was computed from it. Returns false if the variable holds another value. (The
/// caller has loaded `found` with Acquire.)
pub fn replace(variable: &AtomicUsize, found: usize, new: usize) -> bool {
    variable.compare_exchange(found, new, Ordering::Release, Ordering::Relaxed).is_ok()
}

/// Replaces the current value by `new`, and returns the old value. `link` first makes `new` refer to the old value.
pub fn prepend(variable: &AtomicUsize, new: usize, mut link: impl FnMut(usize)) -> usize {
    loop {
        let found = variable.load(Ordering::Acquire);
        link(found);
        if replace(variable, found, new) {
            return found;
        }
    }
}
