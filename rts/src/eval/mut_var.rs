//! The word of a mutable variable while it is modified (`atomic_modify.rs`; `cmm/AtomicModify.cmm` does the same).
//!
//! A modification takes effect when what it makes takes the place of the value that it was made of, by one compare-and-exchange. The
//! word is all that is shared: what is put there was written before (Release), and who finds it there sees that (Acquire). A value that
//! went away and came back is no harm: what was made of it is still right.
//!
//! `rts/tests/models/modifications.rs` runs this file under loom.
use crate::base::atomics::{AtomicUsize, Ordering};

/// Puts `new`, made of `found`, in the place of that. False if another value is there. (The caller has seen `found` there, by an acquiring
/// load.)
pub fn replace(variable: &AtomicUsize, found: usize, new: usize) -> bool {
    variable.compare_exchange(found, new, Ordering::Release, Ordering::Relaxed).is_ok()
}

/// Puts `new` in the place of whatever is there, which is returned. `link` has `new` refer to that before.
pub fn put_before(variable: &AtomicUsize, new: usize, mut link: impl FnMut(usize)) -> usize {
    loop {
        let found = variable.load(Ordering::Acquire);
        link(found);
        if replace(variable, found, new) {
            return found;
        }
    }
}
