//! Threads of a run queue that are not linked through their TSOs, because their order is not that of a list.
//!
//! *Invariant*: the threads are roots of a collection, since no link leads to them.
use crate::abi::Tso;

/// # Safety
/// For all methods: the threads are live, and those that are queued belong to the HEC and are on no queue.
pub trait Unlinked {
    /// The thread that runs next, or null.
    fn first(&self) -> Tso;
    fn len(&self) -> usize;
    /// Queues a thread at the place that the order gives to it.
    unsafe fn insert(&mut self, t: Tso);
    /// Queues a thread that was taken from the front, before those of its rank.
    unsafe fn put_back(&mut self, t: Tso);
    /// Removes the thread that runs next.
    fn remove_first(&mut self);
    /// Is `t` among the first `limit` threads, as far as the order of the others is known?
    fn is_among_first(&self, t: Tso, limit: usize) -> bool;
    /// Makes `t` the next to run, if it is among the first `limit` threads. Returns false if it is not.
    fn bring_forward(&mut self, t: Tso, limit: usize) -> bool;
    /// Visits the threads, whose addresses may change.
    fn each(&mut self, visit: &mut dyn FnMut(&mut Tso));
}
