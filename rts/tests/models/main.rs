//! Loom models of the runtime's lock-free protocols.
//!
//! Loom runs each model through every interleaving of its threads that matters. The protocols' files are compiled here
//! as they are shipped ([`shipped`]), with loom's atomics ([`atomics`]). Each module is named after the protocol it
//! checks; `support` has the worlds that they share.

#[allow(dead_code, reason = "every type has the operations of all")]
mod atomics;
#[path = "../cmm/mod.rs"]
mod cmm;
#[allow(dead_code, reason = "models call some of what is shipped")]
mod shipped;

/// The paths by which the shipped files find each other, as in the runtime.
mod base {
    pub(crate) use crate::{atomics, shipped::idle_count, shipped::poison};
}
mod sched {
    pub mod handoff {
        pub use crate::shipped::{handoff_protocol as protocol, handoff_state as state};
    }
}
mod sync {
    pub mod stm {
        pub use crate::shipped::commit;
    }
}
mod thread {
    pub use crate::shipped::{ownership, spinlock};
}

mod bound;
mod enqueues;
mod fibers;
mod forks;
mod forwarding;
mod gc_announce;
mod handoff;
mod held_signals;
mod helper_pool;
mod homes;
mod idle_notify;
mod mailbox;
mod migration;
mod modifications;
mod mvars;
mod ownership;
mod short_calls;
mod shutdown;
mod slots;
mod sparks;
mod steal_passive;
mod support;
mod switches;
mod termination;
mod throwto;
mod ticker_sleep;
mod transactions;
mod wake_ups;
mod watch;
mod worlds;

/// Explores a model with at most this many preemptions of threads that could continue.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        atomics::begin();
        model()
    });
}
