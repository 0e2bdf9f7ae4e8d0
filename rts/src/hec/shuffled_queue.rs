//! The threads of a run queue with a random order.
//!
//! A thread is inserted at a random place, as in Fisher and Yates' shuffle: it changes places with one of those that
//! are there, and that one becomes the next to run. So every order of the threads is equally likely, and which thread
//! is next is known before it is taken.
use crate::abi::Tso;
use crate::base::random::Random;
use crate::hec::unlinked::Unlinked;

pub struct ShuffledQueue {
    /// The thread that runs next is the last.
    threads: Vec<Tso>,
    random: Random,
}

impl ShuffledQueue {
    pub const fn new(seed: u64) -> ShuffledQueue {
        ShuffledQueue { threads: Vec::new(), random: Random(seed) }
    }

    /// The place of a thread that is among the first `limit`.
    fn place_among_first(&self, t: Tso, limit: usize) -> Option<usize> {
        let last = self.threads.len().saturating_sub(limit);
        self.threads[last..].iter().rposition(|&at| at == t).map(|place| last + place)
    }
}

impl Unlinked for ShuffledQueue {
    fn first(&self) -> Tso {
        self.threads.last().copied().unwrap_or(Tso::NULL)
    }

    fn len(&self) -> usize {
        self.threads.len()
    }

    unsafe fn insert(&mut self, t: Tso) {
        self.threads.push(t);
        let last = self.threads.len() - 1;
        let place = self.random.below(last as u64 + 1) as usize;
        self.threads.swap(place, last);
    }

    unsafe fn put_back(&mut self, t: Tso) {
        self.threads.push(t);
    }

    fn remove_first(&mut self) {
        self.threads.pop();
    }

    fn is_among_first(&self, t: Tso, limit: usize) -> bool {
        self.place_among_first(t, limit).is_some()
    }

    fn bring_forward(&mut self, t: Tso, limit: usize) -> bool {
        let place = self.place_among_first(t, limit);
        if let Some(place) = place {
            let t = self.threads.remove(place);
            self.threads.push(t);
        }
        place.is_some()
    }

    fn each(&mut self, visit: &mut dyn FnMut(&mut Tso)) {
        self.threads.iter_mut().for_each(visit);
    }
}
