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
}

const LEVELS: u8 = 0;
const FIFO: u8 = 1;
const LIFO: u8 = 2;
const RANDOM: u8 = 3;

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
}

/// Run queues that are made from now on have this order. Called at start.
pub fn select(order: RunOrder) {
    let (code, seed) = match order {
        RunOrder::Levels => (LEVELS, 0),
        RunOrder::Fifo => (FIFO, 0),
        RunOrder::Lifo => (LIFO, 0),
        RunOrder::Random { seed } => (RANDOM, seed),
    };
    SEED.store(seed, Ordering::Relaxed);
    ORDER.store(code, Ordering::Relaxed);
}

pub fn selected() -> RunOrder {
    match ORDER.load(Ordering::Relaxed) {
        FIFO => RunOrder::Fifo,
        LIFO => RunOrder::Lifo,
        RANDOM => RunOrder::Random { seed: SEED.load(Ordering::Relaxed) },
        _ => RunOrder::Levels,
    }
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
