//! The lenient pool of a HEC: thunks that may be evaluated before they are needed, and the threads that evaluate some.
//!
//! *Protocol*
//! 1. The holder puts thunks in, with their nesting; any HEC takes the oldest ([`SparkRing`]).
//! 2. A lenient thread that can run, and does not, is in `at_rest`, and on no run queue.
//!
//! *Invariants*
//! - Neither the pool nor `at_rest` is a root: a collection drops what nothing else refers to.
//! - Only the HEC's holder changes `at_rest` and the counters.
use crate::abi::{Closure, Tso, TAG_MASK};
use crate::hec::spark_pool::SparkRing;
use crate::observe::stats::Sparks;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A lenient thread may make lenient sparks unless it is nested this deep. One less fits into the tag of an address.
pub const MAX_NESTING: usize = TAG_MASK + 1;

/// The number of sparks that a HEC keeps (`--lenient`).
static LIMIT: AtomicUsize = AtomicUsize::new(256);
/// The largest pool.
const MAX_LIMIT: usize = 1 << 16;

/// A program has made lenient sparks.
static USED: AtomicBool = AtomicBool::new(false);
/// The last full collection has found that lenient work takes too much memory.
static PAUSED: AtomicBool = AtomicBool::new(false);

/// Sets the number of lenient sparks that a HEC keeps. With 0 there are none.
pub fn set_limit(n: usize) {
    LIMIT.store(n.min(MAX_LIMIT), Ordering::Relaxed);
}

/// Does a HEC keep any?
pub fn is_enabled() -> bool {
    LIMIT.load(Ordering::Relaxed) > 0
}

/// A thunk, and how many lenient evaluations the thread was nested in that put it in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LenientSpark {
    pub thunk: Closure,
    pub nesting: usize,
}

/// A thread that waits for its HEC to be idle, and the time slices that it has used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtRest {
    pub thread: Tso,
    pub slices: u32,
}

pub struct LenientPool {
    sparks: SparkRing,
    pub at_rest: VecDeque<AtRest>,
    /// The time slices that the running lenient thread has used.
    pub slices: u32,
    /// The HEC runs a lenient thread. Others read this as a hint.
    pub runs: AtomicBool,
    /// The bytes that the HEC had allocated when that thread began to run.
    pub allocated_at_start: u64,
    pub counts: Sparks,
}

impl LenientPool {
    pub fn new() -> LenientPool {
        LenientPool {
            sparks: SparkRing::new(),
            at_rest: VecDeque::new(),
            slices: 0,
            runs: AtomicBool::new(false),
            allocated_at_start: 0,
            counts: Sparks::default(),
        }
    }

    /// Are there no sparks? A hint for others than the holder.
    pub fn is_empty(&self) -> bool {
        self.sparks.is_empty()
    }

    /// Adds a spark, unless the pool is full. Only the holder calls this.
    pub fn put(&self, spark: LenientSpark) -> bool {
        debug_assert!(spark.thunk.tag() == 0 && spark.nesting < MAX_NESTING);
        self.sparks.put(spark.thunk.0 | spark.nesting, LIMIT.load(Ordering::Relaxed))
    }

    /// Takes the oldest spark. Any HEC may call this.
    pub fn take(&self) -> Option<LenientSpark> {
        self.sparks.take().map(unpack)
    }

    /// Takes all sparks. The world is stopped.
    pub fn take_all(&self) -> Vec<LenientSpark> {
        self.sparks.take_all().into_iter().map(unpack).collect()
    }
}

/// Has the program made lenient sparks?
pub fn is_used() -> bool {
    USED.load(Ordering::Relaxed)
}

/// The program makes lenient sparks.
pub fn note_used() {
    USED.store(true, Ordering::Relaxed);
}

/// Is there to be no lenient evaluation now?
pub fn is_paused() -> bool {
    PAUSED.load(Ordering::Relaxed)
}

/// A full collection has decided whether there is to be lenient evaluation until the next one.
pub fn pause(yes: bool) {
    PAUSED.store(yes, Ordering::Relaxed);
}

fn unpack(word: usize) -> LenientSpark {
    LenientSpark { thunk: Closure(word & !TAG_MASK), nesting: word & TAG_MASK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparks_keep_their_nesting_and_the_oldest_comes_first() {
        let pool = LenientPool::new();
        let all = [(0x1000, 0), (0x2008, 7)].map(|(at, nesting)| LenientSpark { thunk: Closure(at), nesting });
        assert!(pool.is_empty() && all.into_iter().all(|spark| pool.put(spark)) && !pool.is_empty());
        assert_eq!(pool.take(), Some(all[0]));
        assert_eq!((pool.take_all(), pool.take()), (vec![all[1]], None));
    }

    #[test]
    fn a_pool_has_room_for_so_many() {
        let pool = LenientPool::new();
        let put = |n: usize| pool.put(LenientSpark { thunk: Closure(n * 8), nesting: 0 });
        assert_eq!((1..1000).filter(|&n| put(n)).count(), 256);
    }
}
