//! The allocation area of a HEC: its nursery chunks, and what the runtime allocates beside them.
//!
//! *Protocol*
//!
//! 1. Compiled code allocates in the current chunk by advancing Hp, a register.
//! 2. While Rust runs, the heap pointer is in the chunk's descriptor (`free`). Cmm stores it there before a call that
//!    may allocate (`SAVE_HP`), and loads it afterwards (`LOAD_HP`).
//! 3. When the chunk is full, the HEC takes another one (`nursery_chunks.rs`), or a collection is requested.
//!
//! *Invariants*
//!
//! - Allocation by the runtime never fails because a collection is due. What does not fit goes to an extra run, and a
//!   collection is requested.
//!
//! *Locking*: only the holder of the HEC, or the collector while the world is stopped.
//!
//! *Checked by* `memory/tests.rs`.
use super::pinned::{self, OpenBlock};
use super::{Age, BLOCK_BYTES, BLOCK_LOG, BLOCK_WORDS, LARGE_OBJECT_WORDS};
use crate::abi::{BlockDesc, Closure, WORD};
use crate::memory::block_alloc::{alloc_run, alloc_untouched, used_bytes, Run};
use crate::memory::nursery_chunks;

pub struct AllocArea {
    /// The number of the HEC.
    pub no: usize,
    /// The run that compiled code allocates in; the same as `CurrentNursery`.
    pub run: Run,
    /// The full runs before it.
    filled: Vec<Run>,
    /// The run is full: at the next heap check the HEC needs another one, or a collection.
    pub run_full: bool,
    /// Bytes that a heap check asked for, if no chunk is that large; else 0. Compiled code may allocate a megabyte at a
    /// time (a long list literal, say), however small nurseries are.
    refused_bytes: usize,
    /// Something was allocated in the last cycle.
    pub(super) was_used: bool,
    /// Runs filled by the runtime when the nursery was full.
    pub extra: Vec<Run>,
    /// Large objects that were allocated since the last collection.
    pub large: Vec<Run>,
    /// Blocks of these objects, which count towards the next collection.
    pub large_blocks: usize,
    /// Open blocks for pinned arrays, by size class (`pinned.rs`).
    pinned: [OpenBlock; pinned::CLASSES],
    /// Blocks of large objects after which a collection is requested.
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

    /// Appends its runs to `list`, the current one last.
    pub(super) fn release_runs(&mut self, list: &mut Vec<Run>) {
        list.extend(self.runs());
        self.filled.clear();
        self.run = std::ptr::null_mut();
    }

    /// Records that a heap check asked for `bytes` bytes and did not get them.
    /// # Safety
    /// Hp has been saved to the run.
    pub unsafe fn note_refusal(&mut self, bytes: usize) {
        let run = &*self.run;
        self.run_full |= run.free + bytes > self.limit();
        if run.start + bytes > self.limit() {
            self.refused_bytes = bytes;
        }
    }

    /// Adds a run that is large enough for what a heap check asked for. False if memory is exhausted.
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

    /// Continues in another chunk. False if there is none: then a collection is due.
    /// # Safety
    /// The HEC is held and no thread runs on it.
    pub unsafe fn next_run(&mut self) -> bool {
        self.continue_in(nursery_chunks::take)
    }

    /// Like [`AllocArea::next_run`], but takes a chunk of the overflow area if there is no other.
    /// # Safety
    /// As for [`AllocArea::next_run`].
    pub unsafe fn next_run_or_overflow(&mut self) -> bool {
        self.continue_in(|no| nursery_chunks::take(no).or_else(nursery_chunks::take_overflow))
    }

    /// Continues in the chunk that `find` has for this HEC, unless more than a chunk is needed.
    fn continue_in(&mut self, find: impl FnOnce(usize) -> Option<Run>) -> bool {
        if self.refused_bytes > 0 {
            return false;
        }
        let Some(run) = find(self.no) else { return false };
        self.filled.push(std::mem::replace(&mut self.run, run));
        self.run_full = false;
        true
    }

    /// Must the running thread stop at its next heap check?
    pub fn must_stop(&self) -> bool {
        self.wants_gc || self.run_full
    }

    /// Bytes allocated in its chunks.
    pub fn used(&self) -> usize {
        // SAFETY: its runs are in use.
        self.runs().map(|run| unsafe { used_bytes(run) }).sum()
    }

    /// End of the current run.
    #[inline(always)]
    pub fn limit(&self) -> usize {
        unsafe { (*self.run).start + (*self.run).len as usize * BLOCK_BYTES }
    }

    /// Sets the end of the run that compiled code reads when it returns from a foreign call, to set HpLim. It is the
    /// true end, or the start if the thread is to stop at its next heap check.
    /// # Safety
    /// The run is in use.
    pub unsafe fn publish_limit(&mut self, stop: bool) {
        (*self.run).units = if stop { 0 } else { (*self.run).len << (BLOCK_LOG - 12) };
    }

    /// Bytes allocated since start.
    pub fn allocated(&self) -> u64 {
        unsafe {
            let aside: usize = self.extra.iter().chain(&self.large).map(|&run| used_bytes(run)).sum();
            let pinned: usize = self.pinned.iter().map(|open| open.bytes_this_cycle()).sum();
            self.allocated_before + (self.used() + aside + pinned) as u64
        }
    }

    /// Uninitialised room for an object of `words` words. `None` if memory is exhausted. May request that the mutator
    /// stops.
    /// # Safety
    /// Hp has been saved to the run. The caller writes a whole object before anything else reads the heap.
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

    /// Room for a small object outside the nursery, for calls from compiled code that has not saved Hp.
    /// # Safety
    /// The caller writes a whole object before anything else reads the heap.
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

    /// Makes a block beside the nursery the current run, and returns the run to restore later. This is for code that
    /// allocates while Hp is in its register. `None` if memory is exhausted.
    /// # Safety
    /// The caller restores the run before the running thread continues.
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

    /// A run for one large object. Most of it may never be touched.
    unsafe fn allocate_large(&mut self, words: usize, age: Age) -> Option<Closure> {
        let run = alloc_untouched(words.div_ceil(BLOCK_WORDS), age)?;
        (*run).free = (*run).start + words * WORD;
        self.add_large_run(run);
        Some(Closure((*run).start))
    }

    /// Adds a run to the large objects of this cycle.
    /// # Safety
    /// `run` is in use, and in no other list.
    pub unsafe fn add_large_run(&mut self, run: Run) {
        self.large_blocks += (*run).len as usize;
        self.large.push(run);
        if self.large_blocks > self.large_limit {
            self.wants_gc = true;
        }
    }

    /// Ends a cycle. Returns the extra runs, and those of large and pinned objects.
    pub fn end_cycle(&mut self) -> (Vec<Run>, Vec<Run>) {
        self.allocated_before = self.allocated();
        self.large_blocks = 0;
        // SAFETY: the blocks are in use.
        self.pinned.iter_mut().for_each(|open| unsafe { open.end_cycle() });
        (self.wants_gc, self.run_full) = (false, false);
        (std::mem::take(&mut self.extra), std::mem::take(&mut self.large))
    }

    /// Forgets the blocks of pinned arrays that the collection has not retained.
    /// # Safety
    /// No run of from-space has been freed yet.
    pub unsafe fn drop_dead_pinned(&mut self) {
        self.pinned.iter_mut().for_each(|open| open.drop_dead());
    }

    /// Starts a cycle with an empty nursery.
    /// # Safety
    /// Every object in the nursery has been copied or is dead.
    pub unsafe fn start_cycle(&mut self) {
        self.was_used = self.used() > 0;
        for run in self.runs() {
            (*run).free = (*run).start;
        }
    }

    /// The descriptor of the open block for the smallest pinned arrays, or that of a full block if there is none.
    pub fn open_pinned(&self) -> Run {
        self.pinned[0].block()
    }

    /// Room for a byte array that never moves. Its byte `offset` is aligned to `align`, a power of two and at most a
    /// block.
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
        if let Some(at) = self.pinned[class].allocate(bytes, align, offset) {
            return Some(Closure(at));
        }
        let age = Age(Age::NURSERY.0 | Age::PINNED);
        let run = if pinned::fills_pages(class) { alloc_run(1, age)? } else { alloc_untouched(1, age)? };
        self.allocated_before += self.pinned[class].bytes_this_cycle() as u64;
        self.add_large_run(run);
        self.pinned[class] = OpenBlock::new(run);
        self.pinned[class].allocate(bytes, align, offset).map(Closure)
    }
}
