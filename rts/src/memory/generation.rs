//! The heap as the collector sees it: generations, and what each owns.
use super::Run;
use crate::contract::{Closure, Tso};
use std::ptr;

/// One generation. Generation 0 holds the survivors of one collection; what is allocated
/// since belongs to the HECs' nurseries.
#[derive(Default)]
pub struct Generation {
    /// Runs of small objects, packed.
    pub plain: Vec<Run>,
    /// Runs that are one large object, blocks of pinned arrays, and compact regions.
    pub large: Vec<Run>,
    /// Weak pointers that are alive and live here.
    pub weaks: Vec<Closure>,
    /// Threads that live here, finished or not, until they are found unreachable.
    pub threads: Vec<Tso>,
    /// Collect this generation when it holds more blocks than this.
    pub limit: usize,
    pub collections: usize,
}

impl Generation {
    /// Blocks that this generation occupies.
    pub fn blocks(&self) -> usize {
        let count = |runs: &[Run]| runs.iter().map(|&r| unsafe { (*r).len as usize }).sum::<usize>();
        count(&self.plain) + count(&self.large)
    }
}

/// All generations, and what belongs to none.
#[derive(Default)]
pub struct Heap {
    pub gens: Vec<Generation>,
    /// CAFs that have been entered and are still reachable (or all, when they are kept).
    pub cafs: Vec<Closure>,
    /// Set by programs that load code while running: no CAF is ever collected.
    pub keep_cafs: bool,
}

impl Heap {
    pub fn oldest(&self) -> usize {
        self.gens.len() - 1
    }
}

static mut HEAP: Heap =
    Heap { gens: Vec::new(), cafs: Vec::new(), keep_cafs: false };

/// The heap.
/// # Safety
/// The caller holds the HEC lock or has stopped the world, and keeps no other reference.
pub unsafe fn heap() -> &'static mut Heap {
    &mut *ptr::addr_of_mut!(HEAP)
}

/// Makes `n` empty generations.
/// # Safety
/// Called once at start.
pub unsafe fn init(n: usize) {
    heap().gens = (0..n).map(|_| Generation::default()).collect();
}
