//! The named queues of the program: those that it has made, each with its order. A HEC has a part of each
//! (`run_queue.rs`).
use crate::hec::run_order::RunOrder;
use std::sync::atomic::{AtomicU64, AtomicU8, AtomicUsize, Ordering};

/// One more than the largest number of a named queue. Threads have the number in two bytes. 0 stands for the built-in
/// queue.
const LIMIT: usize = 1 << 16;

static CODES: [AtomicU8; LIMIT] = [const { AtomicU8::new(0) }; LIMIT];
static SEEDS: [AtomicU64; LIMIT] = [const { AtomicU64::new(0) }; LIMIT];
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// Makes a queue, and returns its number. `None` if the program has made as many as there can be.
pub fn new(order: RunOrder) -> Option<usize> {
    let next = |n| (n < LIMIT).then_some(n + 1);
    let number = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
    let (code, seed) = order.encode();
    // What gives the number to other HECs publishes these.
    SEEDS[number].store(seed, Ordering::Relaxed);
    CODES[number].store(code, Ordering::Relaxed);
    Some(number)
}

pub fn order(number: usize) -> RunOrder {
    RunOrder::decode(CODES[number].load(Ordering::Relaxed), SEEDS[number].load(Ordering::Relaxed))
}
