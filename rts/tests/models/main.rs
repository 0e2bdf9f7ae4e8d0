//! Models of the runtime's lock-free protocols: loom runs each of them through every
//! interleaving of its threads that matters. The protocols' files are compiled here just as
//! they are, but for where their atomics come from.

mod atomics;
#[path = "../../src/sched/announce.rs"]
mod announce;
#[path = "../../src/collector/crew.rs"]
mod crew;
#[path = "../../src/sched/doze.rs"]
mod doze;
#[path = "../../src/sched/forking.rs"]
mod forking;
#[path = "../../src/collector/header.rs"]
mod header;
#[path = "../../src/sync/header.rs"]
mod header_lock;
#[path = "../../src/events/held.rs"]
mod held;
#[path = "../../src/boundary/lifetime.rs"]
mod lifetime;
#[path = "../../src/thread/lock.rs"]
pub mod lock;
#[path = "../../src/offers.rs"]
mod offers;
#[path = "../../src/thread/ownership.rs"]
pub mod ownership;
#[path = "../../src/sched/passing.rs"]
pub mod passing;
#[path = "../../src/post.rs"]
pub mod post;
#[path = "../../src/sync/stm/protocol.rs"]
mod protocol;
#[path = "../../src/sync/pursuit.rs"]
mod pursuit;
#[path = "../../src/collector/quiet.rs"]
mod quiet;
#[path = "../../src/sched/seating.rs"]
pub mod seating;
#[path = "../../src/spark_ring.rs"]
mod spark_ring;
#[path = "../../src/sched/stopping.rs"]
pub mod stopping;
#[path = "../../src/sched/turns.rs"]
pub mod turns;
#[path = "../../src/unpoisoned.rs"]
mod unpoisoned;
#[path = "../../src/eval/variable.rs"]
mod variable;
mod thread {
    pub use crate::{lock, ownership};
}

mod bound;
mod calls;
mod claims;
mod crews;
mod dozing;
mod ending;
mod fibers;
mod forks;
mod forwarding;
mod giving;
mod hearing;
mod hecs;
mod holding;
mod letters;
mod modifications;
mod offering;
mod posts;
mod seats;
mod sharing;
mod sparks;
mod throwers;
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
