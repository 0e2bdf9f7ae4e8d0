//! Models of the runtime's lock-free protocols: loom runs each of them through every
//! interleaving of its threads that matters. The protocols' files are compiled here just as
//! they are, but for where their atomics come from.

/// What `rts/src/atomics.rs` is for the runtime.
mod atomics {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{fence, AtomicUsize, Ordering};
    pub use loom::sync::{Condvar, Mutex, MutexGuard};
}

#[path = "../../src/collector/crew.rs"]
mod crew;
#[path = "../../src/collector/header.rs"]
mod header;
#[path = "../../src/collector/quiet.rs"]
mod quiet;

mod crews;
mod forwarding;
mod sharing;

/// Explores a model with at most so many preemptions of a thread that could go on.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
