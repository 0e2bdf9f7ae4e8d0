//! A HEC's allocation area: a contiguous run in which compiled code bumps Hp, those that it has
//! filled before (`nursery_chunks.rs`), and what the runtime allocates beside them.
//!
//! Inside Haskell the heap pointer is in a register; while Rust runs it is in the run's
//! descriptor (`free`), where Cmm stores it before a call that may allocate (`SAVE_HP`) and
//! from where it loads it after (`LOAD_HP`). Allocation by the runtime never fails for want of
//! a collection: what does not fit goes to an extra run, and a collection is asked for.
use super::pinned::{self, OpenBlock};
use super::{Age, BLOCK_BYTES, BLOCK_LOG, BLOCK_WORDS, LARGE_OBJECT_WORDS};
use crate::abi::{BlockDesc, Closure, WORD};
use crate::memory::block_alloc::{alloc_run, alloc_untouched, used_bytes, Run};
use crate::memory::nursery_chunks;

pub struct AllocArea {
    /// The number of its HEC.
    pub no: usize,
    /// The run that compiled code allocates in; the same as `CurrentNursery`.
    pub run: Run,
    /// Those before it that are full.
    filled: Vec<Run>,
    /// The run is full: the next one is wanted at the next heap check, or a collection.
    pub run_full: bool,
    /// Bytes that a heap check has asked for, if that is more than a run has; else 0. Code allocates up to a megabyte
    /// at a time (a long list in brackets, say), however small nurseries are.
    refused_bytes: usize,
    /// Something was allocated in the last cycle.
    pub(super) was_used: bool,
    /// Runs filled by the runtime when the nursery was full.
    pub extra: Vec<Run>,
    /// Large objects allocated since the last collection.
    pub large: Vec<Run>,
    /// Blocks of those, towards the next collection.
    pub large_blocks: usize,
    /// The blocks that pinned arrays are cut from, by their size (`pinned.rs`).
    pinned: [OpenBlock; pinned::CLASSES],
    /// Large blocks after which a collection is asked for.
    pub large_limit: usize,
    /// A collection is wanted at the next heap check.
    pub wants_gc: bool,
    /// Bytes allocated up to the start of the current nursery cycle.
    pub allocated_before: u64,
}

impl AllocArea {
    pub const fn new(no: usize) -> AllocArea {
        AllocArea {
            no,
            filled: Vec::new(),
            run_full: false,
            refused_bytes: 0,
            was_used: false,
            run: std::ptr::null_mut::<BlockDesc>(),
            extra: Vec::new(),
            large: Vec::new(),
            large_blocks: 0,
            pinned: [OpenBlock::NONE; pinned::CLASSES],
            large_limit: 0,
            wants_gc: false,
            allocated_before: 0,
        }
    }

    /// The runs of the nursery, the current one last.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let current = (!self.run.is_null()).then_some(self.run);
        self.filled.iter().copied().chain(current)
    }

    /// Puts its runs on a shelf, the current one last.
    pub(super) fn release_runs(&mut self, shelf: &mut Vec<Run>) {
        shelf.extend(self.runs());
        self.filled.clear();
        self.run = std::ptr::null_mut();
    }

    /// A heap check has asked for so many bytes and not got them.
    /// # Safety
    /// Hp has been saved to the run.
    pub unsafe fn note_refusal(&mut self, bytes: usize) {
        let run = &*self.run;
        self.run_full |= run.free + bytes > self.limit();
        if run.start + bytes > self.limit() {
            self.refused_bytes = bytes;
        }
    }

    /// Adds a run that is large enough for what a heap check has asked for. False if memory is out.
    /// # Safety
    /// The cycle has just begun.
    pub(super) unsafe fn add_run_for_refusal(&mut self) -> bool {
        let blocks = std::mem::take(&mut self.refused_bytes).div_ceil(BLOCK_BYTES);
        if blocks > (*self.run).len as usize {
            let Some(run) = alloc_run(blocks, Age::NURSERY) else { return false };
            self.filled.push(std::mem::replace(&mut self.run, run));
        }
        true
    }

    /// Goes on in another run. False if there is none: then it is time to collect.
    /// # Safety
    /// The HEC is held and no thread runs on it.
    pub unsafe fn next_run(&mut self) -> bool {
        self.go_on_in(nursery_chunks::take)
    }

    /// As [`AllocArea::next_run`], but if there is none left, in one of those that are kept for when others are late for a collection.
    /// # Safety
    /// As for [`AllocArea::next_run`].
    pub unsafe fn next_run_or_overflow(&mut self) -> bool {
        self.go_on_in(|no| nursery_chunks::take(no).or_else(nursery_chunks::take_overflow))
    }

    /// Goes on in what `piece` finds for the HEC of this number, unless more than a piece is wanted.
    fn go_on_in(&mut self, piece: impl FnOnce(usize) -> Option<Run>) -> bool {
        if self.refused_bytes > 0 {
            return false;
        }
        let Some(run) = piece(self.no) else { return false };
        self.filled.push(std::mem::replace(&mut self.run, run));
        self.run_full = false;
        true
    }

    /// Must the running thread stop at its next heap check?
    pub fn must_stop(&self) -> bool {
        self.wants_gc || self.run_full
    }

    /// Bytes allocated in its runs.
    pub fn used(&self) -> usize {
        // SAFETY: its runs are in use.
        self.runs().map(|run| unsafe { used_bytes(run) }).sum()
    }

    /// End of the current run.
    #[inline(always)]
    pub fn limit(&self) -> usize {
        unsafe { (*self.run).start + (*self.run).len as usize * BLOCK_BYTES }
    }

    /// Compiled code that comes back from a foreign call sets HpLim by itself, to the end that the run's descriptor gives: the true one,
    /// or, if it is to stop at its next heap check, the beginning.
    /// # Safety
    /// The run is in use.
    pub unsafe fn publish_limit(&mut self, stop: bool) {
        (*self.run).units = if stop { 0 } else { (*self.run).len << (BLOCK_LOG - 12) };
    }

    /// Bytes allocated in all since start.
    pub fn allocated(&self) -> u64 {
        unsafe {
            let aside: usize = self.extra.iter().chain(&self.large).map(|&run| used_bytes(run)).sum();
            let pinned: usize = self.pinned.iter().map(|open| open.grown()).sum();
            self.allocated_before + (self.used() + aside + pinned) as u64
        }
    }

    /// Uninitialised room for an object of `words`; `None` when the system has no memory left.
    /// May say that the mutator must stop.
    /// # Safety
    /// Hp has been saved to the run; the caller writes a whole object before anything else
    /// looks at the heap.
    #[inline]
    pub unsafe fn allocate(&mut self, words: usize) -> Option<Closure> {
        let bytes = words * WORD;
        let at = (*self.run).free;
        if words <= LARGE_OBJECT_WORDS && at + bytes <= self.limit() {
            (*self.run).free = at + bytes;
            return Some(Closure(at));
        }
        self.allocate_slow(words)
    }

    #[cold]
    unsafe fn allocate_slow(&mut self, words: usize) -> Option<Closure> {
        if words > LARGE_OBJECT_WORDS {
            return self.allocate_large(words, Age(Age::NURSERY.0 | Age::LARGE));
        }
        self.run_full = true;
        self.allocate_aside(words)
    }

    /// Room for a small object outside the nursery: for calls from compiled code that has not
    /// saved Hp.
    /// # Safety
    /// The caller writes a whole object before anything else looks at the heap.
    pub unsafe fn allocate_aside(&mut self, words: usize) -> Option<Closure> {
        debug_assert!(words <= LARGE_OBJECT_WORDS);
        let bytes = words * WORD;
        if let Some(&run) = self.extra.last() {
            if (*run).free + bytes <= (*run).start + BLOCK_BYTES {
                let at = (*run).free;
                (*run).free += bytes;
                return Some(Closure(at));
            }
        }
        let run = alloc_run(1, Age::NURSERY)?;
        (*run).free += bytes;
        self.extra.push(run);
        Some(Closure((*run).start))
    }

    /// Makes a block beside the nursery the current run, for who allocates while the heap pointer is in its register, and returns the run to
    /// put back after that. `None` when memory is out.
    /// # Safety
    /// The run is put back before the thread that runs goes on.
    pub unsafe fn switch_to_extra_run(&mut self) -> Option<Run> {
        let beside = match self.extra.last() {
            Some(&run) => run,
            None => {
                let run = alloc_run(1, Age::NURSERY)?;
                self.extra.push(run);
                run
            }
        };
        Some(std::mem::replace(&mut self.run, beside))
    }

    /// A run of its own for one object. What lies behind the object's header may never be touched.
    unsafe fn allocate_large(&mut self, words: usize, age: Age) -> Option<Closure> {
        let run = alloc_untouched(words.div_ceil(BLOCK_WORDS), age)?;
        (*run).free = (*run).start + words * WORD;
        self.add_large_run(run);
        Some(Closure((*run).start))
    }

    /// Counts a run among the large objects of this cycle.
    /// # Safety
    /// `run` is a run in use, which nobody else counts.
    pub unsafe fn add_large_run(&mut self, run: Run) {
        self.large_blocks += (*run).len as usize;
        self.large.push(run);
        if self.large_blocks > self.large_limit {
            self.wants_gc = true;
        }
    }

    /// Ends a cycle: hands over the extra runs and those of large and pinned objects.
    pub fn end_cycle(&mut self) -> (Vec<Run>, Vec<Run>) {
        self.allocated_before = self.allocated();
        self.large_blocks = 0;
        // SAFETY: the blocks are in use.
        self.pinned.iter_mut().for_each(|open| unsafe { open.end_cycle() });
        (self.wants_gc, self.run_full) = (false, false);
        (std::mem::take(&mut self.extra), std::mem::take(&mut self.large))
    }

    /// Forgets the blocks of pinned arrays that the collection has not saved.
    /// # Safety
    /// Nothing has been freed yet.
    pub unsafe fn drop_dead_pinned(&mut self) {
        self.pinned.iter_mut().for_each(|open| open.drop_dead());
    }

    /// Starts a new cycle with an empty nursery.
    /// # Safety
    /// Everything in it has been saved elsewhere or is dead.
    pub unsafe fn start_cycle(&mut self) {
        self.was_used = self.used() > 0;
        for run in self.runs() {
            (*run).free = (*run).start;
        }
    }

    /// The descriptor of the block that the smallest pinned arrays are cut from. One that is full stands for none.
    pub fn open_pinned(&self) -> Run {
        self.pinned[0].block()
    }

    /// Room for a byte array that never moves, such that its byte `offset` is aligned to
    /// `align` (a power of two, at most a block).
    /// # Safety
    /// As for [`AllocArea::allocate`].
    pub unsafe fn allocate_pinned(&mut self, words: usize, align: usize, offset: usize) -> Option<Closure> {
        let bytes = words * WORD;
        if bytes + align > BLOCK_BYTES / 2 {
            let extra = align.div_ceil(WORD);
            let run = alloc_untouched((words + extra).div_ceil(BLOCK_WORDS), Age(Age::PINNED))?;
            let at = pinned::aligned((*run).start, align, offset);
            (*run).free = at + bytes;
            self.add_large_run(run);
            return Some(Closure(at));
        }
        let class = pinned::class(bytes);
        if let Some(at) = self.pinned[class].cut(bytes, align, offset) {
            return Some(Closure(at));
        }
        let age = Age(Age::NURSERY.0 | Age::PINNED);
        let run = if pinned::fills_pages(class) { alloc_run(1, age)? } else { alloc_untouched(1, age)? };
        self.allocated_before += self.pinned[class].grown() as u64;
        self.add_large_run(run);
        self.pinned[class] = OpenBlock::new(run);
        self.pinned[class].cut(bytes, align, offset).map(Closure)
    }
}
