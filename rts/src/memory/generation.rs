//! Generations: the runs, weak pointers and threads that each of them owns.
//!
//! *Invariants*
//!
//! - Runs of small objects with room left are the last of their generation.
//! - A generation's counts of blocks and bytes agree with its lists of runs.
//!
//! *Locking*: the collector uses generations with the world stopped. In a program with one HEC, its holder may as well.
use super::Age;
use crate::abi::{Closure, Tso};
use crate::memory::address_space::BLOCK_BYTES;
use crate::memory::block_alloc::{run_age, used_bytes, Run};
use std::iter::Sum;
use std::ops::Add;
use std::ptr;

/// Blocks that these generations occupy.
pub fn blocks_of(gens: &[Generation]) -> usize {
    gens.iter().map(Generation::blocks).sum()
}

/// Bytes in objects, dead ones included, by the kind of their block. A compact region counts with whole blocks. What
/// was allocated in a pinned block since the block was last retained is not counted yet.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Used {
    pub plain: usize,
    pub large: usize,
    pub compact: usize,
}

impl Used {
    pub fn all(&self) -> usize {
        self.plain + self.large + self.compact
    }
}

impl Add for Used {
    type Output = Used;
    fn add(self, b: Used) -> Used {
        Used { plain: self.plain + b.plain, large: self.large + b.large, compact: self.compact + b.compact }
    }
}

impl Sum for Used {
    fn sum<I: Iterator<Item = Used>>(all: I) -> Used {
        all.fold(Used::default(), Used::add)
    }
}

/// What these generations hold.
pub fn used_by(gens: &[Generation]) -> Used {
    gens.iter().map(|gen| gen.used).sum()
}

/// Runs at the end of a generation's list that may have room left, at most about this many. Each GC thread leaves one.
const MAX_PARTIAL_RUNS: usize = 8;

/// One generation. Generation 0 holds the survivors of one collection. What was allocated after that collection belongs
/// to the HECs' nurseries.
#[derive(Default)]
pub struct Generation {
    /// Runs of small objects, packed when they were last collected. The last ones may have room left.
    pub plain: Vec<Run>,
    plain_blocks: usize,
    /// Runs that are one large object, blocks of pinned arrays, and compact regions.
    pub large: Vec<Run>,
    large_blocks: usize,
    used: Used,
    /// Live weak pointers of this generation.
    pub weaks: Vec<Closure>,
    /// Threads of this generation, finished or not, until they are found unreachable.
    pub threads: Vec<Tso>,
    /// The generation is collected when it has more blocks than this.
    pub limit: usize,
    pub collections: usize,
}

impl Generation {
    /// Blocks that this generation occupies.
    pub fn blocks(&self) -> usize {
        self.plain_blocks + self.large_blocks
    }
    /// # Safety
    /// The run is in use and on no list.
    pub unsafe fn add_plain(&mut self, run: Run) {
        self.plain_blocks += (*run).len as usize;
        self.used.plain += used_bytes(run);
        self.plain.push(run);
    }
    /// Adds a run without room, before those that may have some.
    /// # Safety
    /// As for [`Generation::add_plain`].
    pub unsafe fn add_filled(&mut self, run: Run) {
        self.add_plain(run);
        let last = self.plain.len() - 1;
        self.plain[last.saturating_sub(MAX_PARTIAL_RUNS)..].rotate_right(1);
    }
    /// # Safety
    /// As for [`Generation::add_plain`].
    pub unsafe fn add_large(&mut self, run: Run) {
        self.large_blocks += (*run).len as usize;
        if run_age(run).is(Age::COMPACT) {
            self.used.compact += (*run).len as usize * BLOCK_BYTES;
        } else {
            self.used.large += used_bytes(run);
        }
        self.large.push(run);
    }
    /// Removes and returns the run that may have room left.
    /// # Safety
    /// The runs are in use.
    pub unsafe fn take_last_plain(&mut self) -> Option<Run> {
        let run = self.plain.pop()?;
        self.plain_blocks -= (*run).len as usize;
        self.used.plain -= used_bytes(run);
        Some(run)
    }
    pub fn take_plain(&mut self) -> Vec<Run> {
        self.plain_blocks = 0;
        self.used.plain = 0;
        std::mem::take(&mut self.plain)
    }
    pub fn take_large(&mut self) -> Vec<Run> {
        self.large_blocks = 0;
        (self.used.large, self.used.compact) = (0, 0);
        std::mem::take(&mut self.large)
    }
}

/// All generations, and the CAFs.
#[derive(Default)]
pub struct Heap {
    pub gens: Vec<Generation>,
    /// CAFs that were entered and have not been found unreachable.
    pub cafs: Vec<Closure>,
    /// CAFs among them that are retained for ever.
    pub kept_cafs: Vec<Closure>,
}

impl Heap {
    pub fn oldest(&self) -> usize {
        self.gens.len() - 1
    }
}

static mut HEAP: Heap = Heap { gens: Vec::new(), cafs: Vec::new(), kept_cafs: Vec::new() };

/// The heap.
/// # Safety
/// The caller holds the HEC or has stopped the world, and keeps no other reference.
pub unsafe fn heap() -> &'static mut Heap {
    &mut *ptr::addr_of_mut!(HEAP)
}

/// Makes `n` empty generations.
/// # Safety
/// Called once at start.
pub unsafe fn init(n: usize) {
    heap().gens = (0..n).map(|_| Generation::default()).collect();
}
