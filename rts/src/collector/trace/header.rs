//! Access to an object's header by several GC workers: the memory orderings of [`super::forwarding`], in one place.
//!
//! *Checked by*: the loom models in `rts/tests/models/forwarding.rs`, which compile this file.
use crate::base::atomics::{AtomicUsize, Ordering};

/// The bit that marks a header as a forwarding pointer.
pub const FORWARDED: usize = 1;

/// Reads a header. What the header leads to (the copy at a forwarding pointer, the value of an indirection that a
/// worker made) can be read after it.
#[inline(always)]
pub fn load(header: &AtomicUsize) -> usize {
    header.load(Ordering::Acquire)
}

/// Replaces the header `old`, after all that `new` leads to is written. Returns whether it succeeded. If `old` leads to
/// anything, [`load`] has read it.
#[inline(always)]
pub fn exchange(header: &AtomicUsize, old: usize, new: usize) -> bool {
    header.compare_exchange(old, new, Ordering::Release, Ordering::Relaxed).is_ok()
}

/// Replaces the header of an object that the caller has claimed, after all that `new` leads to is written.
#[inline(always)]
pub fn release(header: &AtomicUsize, new: usize) {
    header.store(new, Ordering::Release);
}
