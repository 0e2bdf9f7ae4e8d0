//! Objects that a HEC makes in the oldest generation at once.
//!
//! What is stored in an old object, and refers to nothing itself, may as well be old: then neither is looked at before a full collection
//! (pretenuring: Cheng, Harper and Lee 1998). And what a core has made so lies side by side, where other cores find four such objects in a
//! line that they fetch. But until a full collection nothing of it is freed either. So a cycle may make no more of it than a small part of
//! its nursery.
use crate::abi::WORD;
use crate::memory::block_alloc::{alloc_run, Run};
use crate::memory::generation::Generation;
use crate::memory::{Age, BLOCK_BYTES};

/// A nursery of so many bytes allows for one.
const PART: usize = 64;

pub struct Pretenured {
    /// What is being filled.
    open: Option<Run>,
    full: Vec<Run>,
    /// Runs that may yet be begun in this cycle.
    left: usize,
}

impl Pretenured {
    pub const fn new() -> Pretenured {
        Pretenured { open: None, full: Vec::new(), left: 0 }
    }

    /// A cycle begins with a nursery of so many bytes.
    pub fn start_cycle(&mut self, nursery: usize) {
        self.left = (nursery / PART / BLOCK_BYTES).max(1);
    }

    /// Room for an object of so many words, in generation `oldest`; nothing if there has been enough of that in this cycle. It is to refer to
    /// nothing.
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
        if self.left == 0 {
            return None;
        }
        let run = alloc_run(1, Age::of_generation(oldest))?;
        self.left -= 1;
        self.full.extend(self.open.replace(run));
        self.allocate(words, oldest)
    }

    /// Hands its runs over to the oldest generation; the one that has room left only if that is to be `all`.
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
    fn a_cycle_makes_no_more_than_a_part_of_its_nursery() {
        let _w = World::new(2);
        let mut p = Pretenured::new();
        let mut cycle = |nursery: usize| {
            p.start_cycle(nursery);
            // SAFETY: nobody looks at the objects.
            (0..).take_while(|_| unsafe { p.allocate(2, 1) }.is_some()).count() * 2 * WORD
        };
        assert_eq!([cycle(1 << 20), cycle(8 << 20), cycle(1)], [1, 8, 1].map(|n| n * BLOCK_BYTES));
        let mut oldest = Generation::default();
        // SAFETY: the test has the heap for itself.
        unsafe {
            p.release_to(&mut oldest, false);
            assert_eq!(oldest.blocks(), 9);
            p.release_to(&mut oldest, true);
        }
        assert_eq!((oldest.blocks(), oldest.plain.len()), (10, 10));
    }

    #[test]
    fn runs_with_room_stay_the_last() {
        let _w = World::new(2);
        let mut oldest = Generation::default();
        // SAFETY: the test has the heap for itself.
        unsafe {
            let run = || alloc_run(1, Age::of_generation(1)).unwrap();
            let before: Vec<Run> = (0..3).map(|_| run()).collect();
            before.iter().for_each(|&r| oldest.add_plain(r));
            oldest.add_filled(run());
            assert_eq!(oldest.plain[1..], before);
        }
    }
}
