//! Loom models of lazy evaluation by several threads [HMP05, §4].
//!
//! Loom explores every interleaving with few preemptions. `rts/src/eval/thunk.rs` is compiled here as it is shipped,
//! but with the atomics below.
//!
//! This protocol mixes plain stores and exchanges of one word. Loom orders concurrent stores of a word only as far as
//! threads have seen them, so two exchanges may both find the same store to be the latest. So every access here is an
//! exchange, and loom explores interleavings only. The memory orderings that the accesses need are argued in the
//! protocol's file. On x86-64 a store may still become visible late. To other threads, a thread whose store is late
//! looks like one that was preempted before it.

/// Stands for `rts/src/base/atomics.rs`.
mod atomics {
    pub use loom::sync::atomic::Ordering;
    use Ordering::SeqCst;

    pub struct AtomicUsize(loom::sync::atomic::AtomicUsize);

    impl AtomicUsize {
        pub fn new(word: usize) -> AtomicUsize {
            AtomicUsize(loom::sync::atomic::AtomicUsize::new(word))
        }
        pub fn load(&self, _: Ordering) -> usize {
            self.0.fetch_add(0, SeqCst)
        }
        pub fn store(&self, word: usize, _: Ordering) {
            self.0.swap(word, SeqCst);
        }
        pub fn swap(&self, word: usize, _: Ordering) -> usize {
            self.0.swap(word, SeqCst)
        }
        pub fn compare_exchange(&self, old: usize, new: usize, _: Ordering, _: Ordering) -> Result<usize, usize> {
            self.0.compare_exchange(old, new, SeqCst, SeqCst)
        }
    }
}

/// The path by which the shipped file finds its atomics, as in the runtime.
mod base {
    pub(crate) use crate::atomics;
}

#[path = "../../src/eval/thunk.rs"]
mod thunk;

#[path = "../cmm/mod.rs"]
mod cmm;
mod models;

/// Explores a model with at most this many preemptions of threads that could continue.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
