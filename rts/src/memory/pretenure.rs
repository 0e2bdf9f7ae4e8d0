//! Pretenuring: objects that a HEC allocates in the oldest generation at once.
//!
//! An object that is stored in an old object and has no pointers may as well be old. Then neither of the two is
//! scanned before a full collection \[CHL98\]. Objects that one core allocates in this way also lie side by side,
//! four to a cache line, for the cores that read them.
//!
//! *Invariants*
//!
//! - Pretenured objects refer to no other object.
//! - They are freed only by a full collection. So a cycle may allocate only a small part of its nursery in this way.
//!
//! *Locking*: only the holder of the HEC, or the collector while the world is stopped.
use crate::abi::WORD;
use crate::memory::block_alloc::{alloc_run, Run};
use crate::memory::generation::Generation;
use crate::memory::{Age, BLOCK_BYTES};

/// A cycle may begin one run for this many bytes of its nursery in blocks: 1/64, so that the old generation grows by no
/// more than that in a minor cycle.
const NURSERY_DIVISOR: usize = 64;

pub struct Pretenured {
    /// The run that is being filled.
    open: Option<Run>,
    full: Vec<Run>,
    /// Runs that may still be begun in this cycle.
    runs_left: usize,
}

impl Pretenured {
    pub const fn new() -> Pretenured {
        Pretenured { open: None, full: Vec::new(), runs_left: 0 }
    }

    /// Starts a cycle with a nursery of `nursery` bytes.
    pub fn start_cycle(&mut self, nursery: usize) {
        self.runs_left = (nursery / NURSERY_DIVISOR / BLOCK_BYTES).max(1);
    }

    /// Room for an object of `words` words in generation `oldest`. `None` if this cycle has used its allowance. The
    /// object must have no pointers.
    /// # Safety
    /// The caller writes a whole object.
    #[inline]
    pub unsafe fn allocate(&mut self, words: usize, oldest: usize) -> Option<*mut usize> {
        match self.open {
            Some(run) if (*run).free + words * WORD <= (*run).start + BLOCK_BYTES => {
                let at = (*run).free;
                (*run).free = at + words * WORD;
                Some(at as *mut usize)
            }
            _ => self.allocate_slow(words, oldest),
        }
    }

    #[inline(never)]
    unsafe fn allocate_slow(&mut self, words: usize, oldest: usize) -> Option<*mut usize> {
        if self.runs_left == 0 {
            return None;
        }
        let run = alloc_run(1, Age::of_generation(oldest))?;
        self.runs_left -= 1;
        self.full.extend(self.open.replace(run));
        self.allocate(words, oldest)
    }

    /// Gives the runs to the oldest generation. The run that has room left is given only if `all` is set.
    /// # Safety
    /// The world is stopped.
    pub unsafe fn release_to(&mut self, oldest: &mut Generation, all: bool) {
        let open = if all { self.open.take() } else { None };
        self.full.drain(..).chain(open).for_each(|run| oldest.add_filled(run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::world::World;

    #[test]
    fn a_cycle_pretenures_at_most_a_part_of_its_nursery() {
        let _w = World::new(2);
        let mut p = Pretenured::new();
        let mut cycle = |nursery: usize| {
            p.start_cycle(nursery);
            // SAFETY: nothing reads the objects.
            (0..).take_while(|_| unsafe { p.allocate(2, 1) }.is_some()).count() * 2 * WORD
        };
        assert_eq!([cycle(1 << 20), cycle(8 << 20), cycle(1)], [1, 8, 1].map(|n| n * BLOCK_BYTES));
        let mut oldest = Generation::default();
        // SAFETY: only the test uses the heap.
        unsafe {
            p.release_to(&mut oldest, false);
            assert_eq!(oldest.blocks(), 9);
            p.release_to(&mut oldest, true);
        }
        assert_eq!((oldest.blocks(), oldest.plain.len()), (10, 10));
    }

    #[test]
    fn runs_with_room_stay_last() {
        let _w = World::new(2);
        let mut oldest = Generation::default();
        // SAFETY: only the test uses the heap.
        unsafe {
            let run = || alloc_run(1, Age::of_generation(1)).unwrap();
            let before: Vec<Run> = (0..3).map(|_| run()).collect();
            before.iter().for_each(|&r| oldest.add_plain(r));
            oldest.add_filled(run());
            assert_eq!(oldest.plain[1..], before);
        }
    }
}
