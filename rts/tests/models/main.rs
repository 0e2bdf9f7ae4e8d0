//! Models of the runtime's lock-free protocols: loom runs each of them through every
//! interleaving of its threads that matters. The protocols' files are compiled here just as
//! they are, but for where their atomics come from.

mod atomics;
mod shipped;

/// Where the shipped files find each other, as in the runtime.
mod base {
    pub(crate) use crate::{atomics, shipped::poison};
}
mod sched {
    pub mod handoff {
        pub use crate::shipped::{handoff_protocol as protocol, handoff_state as state};
    }
}
mod thread {
    pub use crate::shipped::{ownership, spinlock};
}

mod bound;
mod short_calls;
mod ownership;
mod helper_pool;
mod ticker_sleep;
mod shutdown;
mod fibers;
mod forks;
mod forwarding;
mod migration;
mod gc_announce;
mod hec_world;
mod held_signals;
mod throwto;
mod modifications;
mod idle_notify;
mod mailbox;
mod handoff;
mod termination;
mod sparks;
mod throwto_world;
mod transactions;
mod worlds;

/// Explores a model with at most so many preemptions of a thread that could go on.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        atomics::begin();
        model()
    });
}
