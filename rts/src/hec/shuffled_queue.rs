//! The threads of a run queue with a random order.
//!
//! A thread is inserted at a random place, as in Fisher and Yates' shuffle: it changes places with one of those that
//! are there, and that one becomes the next to run. So every order of the threads is equally likely, and which thread
//! is next is known before it is taken.
//!
//! *Invariant*: the threads are roots of a collection, since no link leads to them.
use crate::abi::Tso;
use crate::base::random::Random;

pub struct ShuffledQueue {
    /// The thread that runs next is the last.
    pub threads: Vec<Tso>,
    random: Random,
}

impl ShuffledQueue {
    pub const fn new(seed: u64) -> ShuffledQueue {
        ShuffledQueue { threads: Vec::new(), random: Random(seed) }
    }

    /// The thread that runs next, or null.
    pub fn first(&self) -> Tso {
        self.threads.last().copied().unwrap_or(Tso::NULL)
    }

    /// Queues a thread at a random place.
    pub fn insert(&mut self, t: Tso) {
        self.threads.push(t);
        let last = self.threads.len() - 1;
        let place = self.random.below(last as u64 + 1) as usize;
        self.threads.swap(place, last);
    }

    /// The place of a thread that is among the first `limit`.
    fn place_among_first(&self, t: Tso, limit: usize) -> Option<usize> {
        let last = self.threads.len().saturating_sub(limit);
        self.threads[last..].iter().rposition(|&at| at == t).map(|place| last + place)
    }

    /// Is `t` among the first `limit` threads?
    pub fn is_among_first(&self, t: Tso, limit: usize) -> bool {
        self.place_among_first(t, limit).is_some()
    }

    /// Makes `t` the next to run, if it is among the first `limit` threads. Returns false if it is not.
    pub fn bring_forward(&mut self, t: Tso, limit: usize) -> bool {
        let place = self.place_among_first(t, limit);
        if let Some(place) = place {
            let t = self.threads.remove(place);
            self.threads.push(t);
        }
        place.is_some()
    }
}
