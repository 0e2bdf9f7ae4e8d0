//! The order in which run queues serve their threads: `+RTS --scheduler`.
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOrder {
    /// Interactive threads before CPU-bound ones (`priority.rs`).
    Levels,
    /// The thread that has waited longest is next.
    Fifo,
    /// The thread that was queued last is next. One that has used up its time slice is second.
    Lifo,
    /// A random one is next, and runs until it has allocated a random number of bytes (`byte_budget.rs`). On one HEC,
    /// the same seed gives the same schedule.
    Random { seed: u64 },
    /// The one with the highest key is next, of several the one that has waited longest. For named queues only.
    Priority,
}

const LEVELS: u8 = 0;
const FIFO: u8 = 1;
const LIFO: u8 = 2;
const RANDOM: u8 = 3;
const PRIORITY: u8 = 4;

static ORDER: AtomicU8 = AtomicU8::new(LEVELS);
static SEED: AtomicU64 = AtomicU64::new(0);

impl RunOrder {
    /// The names that [`RunOrder::from_name`] knows.
    pub const NAMES: &str = "fifo, lifo and random:<seed>";

    /// The order with this name in `--scheduler`. The random one has a seed: `random:7`.
    pub fn from_name(name: &str) -> Option<RunOrder> {
        match name {
            "fifo" => Some(RunOrder::Fifo),
            "lifo" => Some(RunOrder::Lifo),
            _ => Some(RunOrder::Random { seed: name.strip_prefix("random:")?.parse().ok()? }),
        }
    }

    /// The code of the order, and its seed.
    pub fn encode(self) -> (u8, u64) {
        match self {
            RunOrder::Levels => (LEVELS, 0),
            RunOrder::Fifo => (FIFO, 0),
            RunOrder::Lifo => (LIFO, 0),
            RunOrder::Random { seed } => (RANDOM, seed),
            RunOrder::Priority => (PRIORITY, 0),
        }
    }

    /// The order with this code and seed.
    pub fn decode(code: u8, seed: u64) -> RunOrder {
        match code {
            FIFO => RunOrder::Fifo,
            LIFO => RunOrder::Lifo,
            RANDOM => RunOrder::Random { seed },
            PRIORITY => RunOrder::Priority,
            _ => RunOrder::Levels,
        }
    }
}

/// Run queues that are made from now on have this order. Called at start.
pub fn select(order: RunOrder) {
    let (code, seed) = order.encode();
    SEED.store(seed, Ordering::Relaxed);
    ORDER.store(code, Ordering::Relaxed);
}

pub fn selected() -> RunOrder {
    RunOrder::decode(ORDER.load(Ordering::Relaxed), SEED.load(Ordering::Relaxed))
}

/// Is the order a random one? Then nothing but the seed and the program decides which thread runs: the clock does not.
#[inline]
pub fn is_random() -> bool {
    ORDER.load(Ordering::Relaxed) == RANDOM
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(RunOrder::from_name("fifo"), Some(RunOrder::Fifo));
        assert_eq!(RunOrder::from_name("lifo"), Some(RunOrder::Lifo));
        assert_eq!(RunOrder::from_name("random:18"), Some(RunOrder::Random { seed: 18 }));
        for wrong in ["", "levels", "FIFO", "random", "random:", "random:x", "random:-1", "fifo:1"] {
            assert_eq!(RunOrder::from_name(wrong), None, "{wrong}");
        }
    }
}
