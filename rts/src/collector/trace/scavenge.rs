//! Scanning: evacuate every field of an object that has survived.
//!
//! An object of generation 1 or older whose referents could not all be brought to its own
//! generation is remembered. Mutable objects do not promote their referents, which may be
//! replaced soon; their headers (or dirty flags) say whether they are remembered, so that a
//! later write knows what to do. Young ones are all marked dirty: writes to them need nothing.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Tso, WORD};
use crate::collector::parallel::work_sharing::Work;
use crate::collector::trace::arrays::is_quiet;
use crate::collector::trace::prefetch;
use crate::collector::trace::worker::Worker;
use crate::info;
use crate::memory::address_space::run_of;
use crate::memory::object_size::size_of_object;
use crate::memory::{block_alloc, remembered_set, Age};
use crate::thread::park;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Scans one object of the owner's step; its size in words.
    #[inline(always)]
    pub(in crate::collector) unsafe fn scan(&mut self, c: *mut usize) -> usize {
        let info = Info(*c);
        let words = match info.kind() {
            CONSTR_1_0 => {
                self.field(c, 1);
                2
            }
            CONSTR_2_0 => {
                self.field(c, 1);
                self.field(c, 2);
                3
            }
            CONSTR_1_1 => {
                self.field(c, 1);
                3
            }
            CONSTR_0_1 => 2,
            CONSTR_0_2 => 3,
            FUN_1_0 => {
                self.srt(info);
                self.field(c, 1);
                2
            }
            FUN_0_1 => {
                self.srt(info);
                2
            }
            FUN_2_0 => {
                self.srt(info);
                self.field(c, 1);
                self.field(c, 2);
                3
            }
            FUN_1_1 => {
                self.srt(info);
                self.field(c, 1);
                3
            }
            FUN_0_2 => {
                self.srt(info);
                3
            }
            THUNK_1_0 => {
                self.srt(info);
                self.field(c, 2);
                3
            }
            THUNK_0_1 => {
                self.srt(info);
                3
            }
            THUNK_2_0 => {
                self.srt(info);
                self.field(c, 2);
                self.field(c, 3);
                4
            }
            THUNK_1_1 => {
                self.srt(info);
                self.field(c, 2);
                4
            }
            THUNK_0_2 => {
                self.srt(info);
                4
            }
            CONSTR | CONSTR_NOCAF | PRIM | MUT_PRIM => {
                let ptrs = info.ptrs();
                self.fields(c, 1, 1 + ptrs);
                1 + ptrs + info.nptrs()
            }
            FUN => {
                self.srt(info);
                let ptrs = info.ptrs();
                self.fields(c, 1, 1 + ptrs);
                1 + ptrs + info.nptrs()
            }
            THUNK => {
                self.srt(info);
                let ptrs = info.ptrs();
                self.fields(c, THUNK_PAYLOAD, THUNK_PAYLOAD + ptrs);
                THUNK_PAYLOAD + ptrs + info.nptrs()
            }
            ARR_WORDS => size_of_object(Closure(c as usize), info),
            kind => self.scan_other(c, info, kind),
        };
        if self.failed_to_evac {
            self.failed_to_evac = false;
            if self.owner > 1 {
                self.remember(c);
            }
        }
        words
    }

    /// In a full collection, reaches the static objects that code refers to.
    #[inline(always)]
    pub(in crate::collector) unsafe fn srt(&mut self, info: Info) {
        if MAJOR {
            if let Some(s) = info.srt() {
                self.reach_static(s.0);
            }
        }
    }

    #[inline(never)]
    unsafe fn scan_other(&mut self, c: *mut usize, info: Info, kind: usize) -> usize {
        match kind {
            IND | BLACKHOLE => self.field(c, INDIRECTEE),
            THUNK_SELECTOR => self.field(c, SELECTOR_SELECTEE),
            PAP => {
                let n = *c.add(PAP_COUNTS) >> 32;
                self.scan_arguments(c, PAP_FUN, n);
            }
            AP => {
                let n = *c.add(AP_COUNTS) >> 32;
                self.scan_arguments(c, AP_FUN, n);
            }
            AP_STACK => {
                self.field(c, AP_STACK_FUN);
                let from = c.add(AP_STACK_PAYLOAD);
                self.scan_frames(from, from.add(*c.add(AP_STACK_SIZE)));
            }
            MUT_VAR_CLEAN | MUT_VAR_DIRTY => {
                self.mutable(c, info!(stg_MUT_VAR_CLEAN_info), info!(stg_MUT_VAR_DIRTY_info), |w| w.field(c, MUT_VAR));
            }
            MVAR_CLEAN | MVAR_DIRTY => {
                self.mutable(c, info!(stg_MVAR_CLEAN_info), info!(stg_MVAR_DIRTY_info), |w| {
                    w.fields(c, MVAR_HEAD, MVAR_VALUE + 1)
                });
            }
            TVAR => {
                self.mutable(c, info!(stg_TVAR_CLEAN_info), info!(stg_TVAR_DIRTY_info), |w| {
                    w.fields(c, TVAR_VALUE, TVAR_WAITERS + 1)
                });
            }
            BLOCKING_QUEUE => {
                let clean = info!(stg_BLOCKING_QUEUE_CLEAN_info);
                self.mutable(c, clean, info!(stg_BLOCKING_QUEUE_DIRTY_info), |w| {
                    w.field(c, BQ_LINK);
                    w.evacuate_as_is(c.add(BQ_BH));
                    w.field(c, BQ_OWNER);
                    w.field(c, BQ_QUEUE);
                });
            }
            MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
                self.scan_array(c, true)
            }
            SMALL_MUT_ARR_PTRS_CLEAN
            | SMALL_MUT_ARR_PTRS_DIRTY
            | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN
            | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => self.scan_small_array(c),
            TSO => self.scan_tso(Tso(c as usize)),
            STACK => self.scan_stack(c),
            // What a weak pointer refers to depends on its key (`weak.rs`).
            WEAK => {}
            TREC_CHUNK => self.scan_trec_chunk(c),
            _ => self.strange(c),
        }
        size_of_object(Closure(c as usize), info)
    }

    /// Scans a mutable object whose header says whether it is remembered.
    #[inline(always)]
    unsafe fn mutable(&mut self, c: *mut usize, clean: Info, dirty: Info, scan: impl FnOnce(&mut Self)) {
        let evac_gen = std::mem::replace(&mut self.evac_gen, 0);
        scan(self);
        self.evac_gen = evac_gen;
        *c = if self.owner > 1 && !self.failed_to_evac { clean.0 } else { dirty.0 };
    }

    unsafe fn scan_tso(&mut self, t: Tso) {
        let evac_gen = std::mem::replace(&mut self.evac_gen, 0);
        let o = t.obj();
        self.evacuate(&mut o.link as *mut Tso as *mut usize);
        self.evacuate_current_chunk(t);
        if park::block_info_is_pointer(o.why_blocked as usize) {
            self.evacuate(&mut o.block_info);
        }
        self.evacuate(&mut o.trec);
        self.evacuate(&mut o.blocked_exceptions as *mut Closure as *mut usize);
        self.evacuate(&mut o.bq as *mut Closure as *mut usize);
        self.evac_gen = evac_gen;
        // The record of a transaction changes all the time.
        self.failed_to_evac |= self.owner > 1 && self.in_heap(o.trec);
        o.dirty = (self.owner <= 1 || self.failed_to_evac) as u32;
    }

    /// The three pointers of each entry of a transaction record's chunk.
    unsafe fn scan_trec_chunk(&mut self, c: *mut usize) {
        self.field(c, TREC_CHUNK_PREV);
        let entries = (*c.add(TREC_CHUNK_NEXT_ENTRY)).min(TREC_CHUNK_NUM_ENTRIES);
        for i in 0..entries {
            let at = TREC_CHUNK_ENTRIES + i * TREC_ENTRY_WORDS;
            self.fields(c, at, at + 3);
        }
    }

    /// Scans an object that is a run of its own.
    #[cold]
    pub(in crate::collector) unsafe fn scan_large(&mut self, c: Closure) {
        let step = Age(self.age(c.0)).step() as u8;
        self.set_owner(step);
        let pieces = self.divides(c.slot(0));
        let words = self.scan(c.slot(0));
        if !pieces {
            self.scanned_in_place += words * WORD;
        }
    }

    /// Scans what a remembered set lists of a step. Arrays that have not been written to stay on it as they are: a
    /// program may have thousands of them, and writes to few between two collections.
    pub(in crate::collector) unsafe fn scan_set(&mut self, step: u8, mut set: Vec<Closure>) {
        self.set_owner(step);
        let mut quiet = 0;
        for i in 0..set.len() {
            prefetch::beyond(&set, i);
            let c = set[i];
            if is_quiet(c.info()) {
                set[quiet] = c;
                quiet += 1;
            } else {
                self.scan_listed(c);
            }
        }
        set.truncate(quiet);
        remembered_set::join(&mut self.remembered[step as usize - 1], set);
    }

    /// Scans a part of what a remembered set lists of a step.
    pub(in crate::collector) unsafe fn scan_list(&mut self, step: u8, list: &[Closure]) {
        self.set_owner(step);
        for c in prefetch::listed(list) {
            if is_quiet(c.info()) {
                self.remember(c.slot(0));
            } else {
                self.scan_listed(c);
            }
        }
    }

    /// Scans an old object that is listed, or a CAF.
    #[inline(always)]
    unsafe fn scan_listed(&mut self, c: Closure) {
        if self.in_heap(c.0) {
            self.scan_remembered(c);
        } else {
            self.scan_caf(c);
        }
    }

    /// Scans an old object that may refer to younger ones, as the mutator left it.
    unsafe fn scan_remembered(&mut self, c: Closure) {
        let p = c.slot(0);
        match c.info().kind() {
            MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
                self.scan_array(p, false);
                self.failed_to_evac = false;
            }
            WEAK if c.info() == info!(stg_DEAD_WEAK_info) => {}
            WEAK => {
                self.scan_weak(p);
                if self.take_failed_to_evac() {
                    self.remember(p);
                }
            }
            _ => {
                self.scan(p);
            }
        }
    }

    /// The step of an object that is not condemned.
    #[inline(always)]
    pub(in crate::collector) unsafe fn step_of(&self, c: Closure) -> u8 {
        self.age(c.0) & 15
    }

    /// Saves what is at `p` without moving it: a large object, the block of pinned arrays it is
    /// in, or the whole compact region. The step that it has now.
    pub(in crate::collector) unsafe fn keep(&mut self, p: usize, age: u8, step: u8) -> u8 {
        let compact = age & Age::COMPACT != 0;
        let run = if compact { run_of((*run_of(p)).back) } else { run_of(p) };
        let saved = Age(step | age & (Age::LARGE | Age::PINNED | Age::COMPACT));
        if PARALLEL {
            if let Err(now) = block_alloc::save_age(run, saved) {
                return now.step() as u8;
            }
        }
        if compact {
            crate::collector::compact_regions::keep_region(run, saved);
            return step;
        }
        block_alloc::set_age(run, saved);
        if age & Age::LARGE != 0 {
            let c = Closure((*run).start);
            if c.info().kind() != ARR_WORDS {
                if PARALLEL {
                    self.share_work(step as usize, Work::Large(c));
                } else {
                    self.large.push(c);
                }
            }
        }
        step
    }
}

/// Words of a chunk of a transaction record.
const TREC_CHUNK_PREV: usize = 1;
const TREC_CHUNK_NEXT_ENTRY: usize = 2;
const TREC_CHUNK_ENTRIES: usize = 3;
const TREC_ENTRY_WORDS: usize = 4;
const _: () = assert!((TREC_CHUNK_ENTRIES + TREC_CHUNK_NUM_ENTRIES * TREC_ENTRY_WORDS) * WORD == SIZEOF_StgTRecChunk);
