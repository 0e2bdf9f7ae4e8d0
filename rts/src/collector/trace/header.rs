//! An object's header as several GC threads see it: the orderings of `forwarding.rs`, in one place.
use crate::base::atomics::{AtomicUsize, Ordering};

/// Reads a header. What it leads to (the copy at a forwarding address, the value of an
/// indirection that a GC thread has made) can be read after it.
#[inline(always)]
pub fn load(header: &AtomicUsize) -> usize {
    header.load(Ordering::Acquire)
}

/// Replaces a header, after all that the new one leads to; true if it was `old` (which `load` has read, if it leads to
/// anything).
#[inline(always)]
pub fn exchange(header: &AtomicUsize, old: usize, new: usize) -> bool {
    header.compare_exchange(old, new, Ordering::Release, Ordering::Relaxed).is_ok()
}

/// Replaces the header of an object that the caller has claimed, after all that it leads to.
#[inline(always)]
pub fn release(header: &AtomicUsize, new: usize) {
    header.store(new, Ordering::Release);
}
