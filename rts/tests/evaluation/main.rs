//! Models of lazy evaluation by several threads: loom runs them through every interleaving of few
//! preemptions. `rts/src/eval/thunk.rs` is compiled here just as it is, but for where its atomics
//! come from.
//!
//! Plain stores and exchanges of one word meet in this protocol, and loom orders concurrent
//! stores of a word only as far as threads have seen them: then two exchanges may both find the
//! same store the latest. So here every access is an exchange, and what is explored are
//! interleavings; the orders that the accesses need are argued in the protocol's file. (On x86-64 a
//! store may still come later than it is made. A thread whose store is late is, to the others,
//! one that has been preempted before it.)

/// What `rts/src/base/atomics.rs` is for the runtime.
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

/// Where the shipped file finds them, as in the runtime.
mod base {
    pub(crate) use crate::atomics;
}

#[path = "../../src/eval/thunk.rs"]
mod thunk;

mod cmm;
mod models;

/// Explores a model with at most so many preemptions of a thread that could go on.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
