//! Which part of a divided run queue is served: the built-in queue, or the part of a named queue. They take turns, a
//! time slice each.
//!
//! *Invariant*: the parts that wait are those that are not empty, without the one whose turn it is, each of them once.
use std::collections::VecDeque;

/// Parts are numbered; the built-in queue is part 0. A method that needs to know whether the part whose turn it is has
/// no thread is told so, as `empty`.
#[derive(Default)]
pub struct Turns {
    current: usize,
    waiting: VecDeque<usize>,
}

impl Turns {
    /// The part whose turn it is. It keeps the turn while it is empty, until a thread of another part runs.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The part that is served next.
    pub fn next(&self, empty: bool) -> usize {
        self.waiting.front().filter(|_| empty).copied().unwrap_or(self.current)
    }

    /// A thread of the part that is served next is taken.
    pub fn take(&mut self, empty: bool) -> usize {
        if empty {
            self.end(true);
        }
        self.current
    }

    /// The part, which was empty, has got a thread.
    pub fn fill(&mut self, part: usize) {
        if part != self.current {
            self.waiting.push_back(part);
        }
    }

    /// The turn ends: the next part is served.
    pub fn end(&mut self, empty: bool) {
        if let Some(next) = self.waiting.pop_front() {
            if !empty {
                self.waiting.push_back(self.current);
            }
            self.current = next;
        }
    }

    /// It is this part's turn now. The one whose turn it was comes next.
    pub fn give_to(&mut self, part: usize, empty: bool) {
        if part != self.current {
            self.waiting.retain(|&other| other != part);
            if !empty {
                self.waiting.push_front(self.current);
            }
            self.current = part;
        }
    }

    /// The parts that may have threads.
    pub fn parts(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(self.current).chain(self.waiting.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn parts_take_turns() {
        let mut turns = Turns::default();
        [3, 1].into_iter().for_each(|part| turns.fill(part));
        assert_eq!((turns.next(false), turns.next(true)), (0, 3));
        // Part 0 has no thread left, but keeps its turn until another one runs.
        assert_eq!((turns.take(true), turns.current()), (3, 3));
        turns.end(false);
        turns.end(false);
        assert_eq!(turns.parts().collect::<Vec<_>>(), [3, 1]);
        turns.give_to(5, false);
        assert_eq!(turns.parts().collect::<Vec<_>>(), [5, 3, 1]);
        turns.end(true);
        turns.give_to(1, false);
        assert_eq!(turns.parts().collect::<Vec<_>>(), [1, 3]);
        turns.end(true);
        turns.end(false);
        assert_eq!(turns.parts().collect::<Vec<_>>(), [3]);
    }

    /// The same, with the number of threads of each part, and in the order of turns all parts that have been used.
    #[test]
    fn no_part_waits_longer_than_a_round() {
        const PARTS: usize = 5;
        let (mut turns, mut random) = (Turns::default(), Random(11));
        let mut threads = [0usize; PARTS];
        // How many turns have ended since the part was served, while it had threads.
        let mut waits = [0usize; PARTS];
        for _ in 0..20_000 {
            let part = random.below(PARTS as u64) as usize;
            let empty = threads[turns.current()] == 0;
            match random.below(3) {
                0 => {
                    threads[part] += 1;
                    if threads[part] == 1 {
                        turns.fill(part);
                    }
                }
                1 => {
                    turns.end(empty);
                    (0..PARTS).filter(|&p| threads[p] > 0).for_each(|p| waits[p] += 1);
                    waits[turns.current()] = 0;
                }
                _ => {
                    let next = turns.next(empty);
                    assert_eq!(turns.take(empty), next);
                    assert!(threads[next] > 0 || threads.iter().all(|&n| n == 0), "an empty part is served");
                    threads[next] = threads[next].saturating_sub(1);
                    waits[next] = 0;
                }
            }
            let mut waiting = turns.parts().skip(1).collect::<Vec<_>>();
            waiting.sort_unstable();
            let others = (0..PARTS).filter(|&p| threads[p] > 0 && p != turns.current());
            assert_eq!(waiting, others.collect::<Vec<_>>());
            assert!(waits.iter().all(|&n| n < PARTS), "{waits:?}");
        }
    }
}
