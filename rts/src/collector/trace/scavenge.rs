//! Scavenging: evacuates every field of an object that has survived.
//!
//! *Invariants*
//! - An object of generation 1 or older is remembered if an object that it refers to could not be brought to its
//!   generation.
//! - A mutable object does not promote what it refers to, which may be replaced soon. Its header (or dirty flag) says
//!   whether it is remembered, so that the write barrier knows what to do.
//! - Young mutable objects are all marked dirty: writes to them need no barrier.
//!
//! *Checked by*: the heap checker.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::symbols::is_clean_array_info;
use crate::abi::{Closure, Info, Tso, WORD};
use crate::collector::fixed_space;
use crate::collector::parallel::work::Work;
use crate::collector::trace::prefetch;
use crate::collector::trace::worker::Worker;
use crate::info;
use crate::memory::address_space::run_of;
use crate::memory::object_size::size_of_object;
use crate::memory::{block_alloc, remembered_set, Age};
use crate::thread::park;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Scavenges an object of the owner's step, and returns its size in words.
    #[inline(always)]
    pub(in crate::collector) unsafe fn scan(&mut self, c: *mut usize) -> usize {
        let info = Info(*c);
        let words = match info.kind() {
            CONSTR_1_0 => {
                self.evacuate_field(c, 1);
                2
            }
            CONSTR_2_0 => {
                self.evacuate_field(c, 1);
                self.evacuate_field(c, 2);
                3
            }
            CONSTR_1_1 => {
                self.evacuate_field(c, 1);
                3
            }
            CONSTR_0_1 => 2,
            CONSTR_0_2 => 3,
            FUN_1_0 => {
                self.reach_srt(info);
                self.evacuate_field(c, 1);
                2
            }
            FUN_0_1 => {
                self.reach_srt(info);
                2
            }
            FUN_2_0 => {
                self.reach_srt(info);
                self.evacuate_field(c, 1);
                self.evacuate_field(c, 2);
                3
            }
            FUN_1_1 => {
                self.reach_srt(info);
                self.evacuate_field(c, 1);
                3
            }
            FUN_0_2 => {
                self.reach_srt(info);
                3
            }
            THUNK_1_0 => {
                self.reach_srt(info);
                self.evacuate_field(c, 2);
                3
            }
            THUNK_0_1 => {
                self.reach_srt(info);
                3
            }
            THUNK_2_0 => {
                self.reach_srt(info);
                self.evacuate_field(c, 2);
                self.evacuate_field(c, 3);
                4
            }
            THUNK_1_1 => {
                self.reach_srt(info);
                self.evacuate_field(c, 2);
                4
            }
            THUNK_0_2 => {
                self.reach_srt(info);
                4
            }
            CONSTR | CONSTR_NOCAF | PRIM | MUT_PRIM => {
                let ptrs = info.ptrs();
                self.evacuate_fields(c, 1, 1 + ptrs);
                1 + ptrs + info.nptrs()
            }
            FUN => {
                self.reach_srt(info);
                let ptrs = info.ptrs();
                self.evacuate_fields(c, 1, 1 + ptrs);
                1 + ptrs + info.nptrs()
            }
            THUNK => {
                self.reach_srt(info);
                let ptrs = info.ptrs();
                self.evacuate_fields(c, THUNK_PAYLOAD, THUNK_PAYLOAD + ptrs);
                THUNK_PAYLOAD + ptrs + info.nptrs()
            }
            ARR_WORDS => size_of_object(Closure(c as usize), info),
            kind => self.scan_other(c, info, kind),
        };
        if self.failed_to_evac {
            self.failed_to_evac = false;
            if self.owner_gen > 1 {
                self.remember(c);
            }
        }
        words
    }

    /// In a full collection, reaches the static objects that code refers to.
    #[inline(always)]
    pub(in crate::collector) unsafe fn reach_srt(&mut self, info: Info) {
        if MAJOR {
            if let Some(s) = info.srt() {
                self.reach_static(s.0);
            }
        }
    }

    /// Scavenges an object of a less common kind, and returns its size in words.
    #[inline(never)]
    unsafe fn scan_other(&mut self, c: *mut usize, info: Info, kind: usize) -> usize {
        match kind {
            IND | BLACKHOLE => self.evacuate_field(c, INDIRECTEE),
            THUNK_SELECTOR => self.evacuate_field(c, SELECTOR_SELECTEE),
            PAP => {
                let n = *c.add(PAP_COUNTS) >> 32;
                self.scan_arguments(c, PAP_FUN, n);
            }
            AP => {
                let n = *c.add(AP_COUNTS) >> 32;
                self.scan_arguments(c, AP_FUN, n);
            }
            AP_STACK => {
                self.evacuate_field(c, AP_STACK_FUN);
                let from = c.add(AP_STACK_PAYLOAD);
                self.scan_frames(from, from.add(*c.add(AP_STACK_SIZE)));
            }
            MUT_VAR_CLEAN | MUT_VAR_DIRTY => {
                self.scan_mutable(c, info!(stg_MUT_VAR_CLEAN_info), info!(stg_MUT_VAR_DIRTY_info), |w| {
                    w.evacuate_field(c, MUT_VAR)
                });
            }
            MVAR_CLEAN | MVAR_DIRTY => {
                self.scan_mutable(c, info!(stg_MVAR_CLEAN_info), info!(stg_MVAR_DIRTY_info), |w| {
                    w.evacuate_fields(c, MVAR_HEAD, MVAR_VALUE + 1)
                });
            }
            TVAR => {
                self.scan_mutable(c, info!(stg_TVAR_CLEAN_info), info!(stg_TVAR_DIRTY_info), |w| {
                    w.evacuate_fields(c, TVAR_VALUE, TVAR_WAITERS + 1)
                });
            }
            BLOCKING_QUEUE => {
                let clean = info!(stg_BLOCKING_QUEUE_CLEAN_info);
                self.scan_mutable(c, clean, info!(stg_BLOCKING_QUEUE_DIRTY_info), |w| {
                    w.evacuate_field(c, BQ_LINK);
                    w.evacuate_as_is(c.add(BQ_BH));
                    w.evacuate_field(c, BQ_OWNER);
                    w.evacuate_field(c, BQ_QUEUE);
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
            // What a weak pointer refers to depends on its key (see `weak.rs`).
            WEAK => {}
            TREC_CHUNK => self.scan_trec_chunk(c),
            _ => self.report_corruption(c),
        }
        size_of_object(Closure(c as usize), info)
    }

    /// Scavenges a mutable object whose header says whether it is remembered.
    #[inline(always)]
    unsafe fn scan_mutable(&mut self, c: *mut usize, clean: Info, dirty: Info, scan: impl FnOnce(&mut Self)) {
        let evac_gen = std::mem::replace(&mut self.evac_gen, 0);
        scan(self);
        self.evac_gen = evac_gen;
        *c = if self.owner_gen > 1 && !self.failed_to_evac { clean.0 } else { dirty.0 };
    }

    /// Scavenges a thread object.
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
        self.evacuate(&mut o.sched as *mut Closure as *mut usize);
        self.evac_gen = evac_gen;
        // A transaction record changes all the time.
        self.failed_to_evac |= self.owner_gen > 1 && self.in_heap(o.trec);
        o.dirty = (self.owner_gen <= 1 || self.failed_to_evac) as u32;
    }

    /// Scavenges the three pointers of each entry of a transaction record's chunk.
    unsafe fn scan_trec_chunk(&mut self, c: *mut usize) {
        self.evacuate_field(c, TREC_CHUNK_PREV);
        let entries = (*c.add(TREC_CHUNK_NEXT_ENTRY)).min(TREC_CHUNK_NUM_ENTRIES);
        for i in 0..entries {
            let at = TREC_CHUNK_ENTRIES + i * TREC_ENTRY_WORDS;
            self.evacuate_fields(c, at, at + 3);
        }
    }

    /// Scavenges an object that has a run of its own, or is fixed.
    #[cold]
    pub(in crate::collector) unsafe fn scan_large(&mut self, c: Closure) {
        if Age(self.age(c.0)).is_fixed() {
            return self.scan_fixed(c);
        }
        let step = Age(self.age(c.0)).step() as u8;
        self.set_owner(step);
        let pieces = self.divides(c.slot(0));
        let words = self.scan(c.slot(0));
        if !pieces {
            self.scanned_in_place += words * WORD;
        }
    }

    /// Scavenges a fixed object. What its exits lead to goes to the oldest generation, or is there to stay younger:
    /// exits are listed apart (`rts/src/memory/exits.rs`), so the object counts as young, which nothing remembers. Its
    /// header stays.
    unsafe fn scan_fixed(&mut self, c: Closure) {
        let header = c.info();
        self.set_owner(Age::SURVIVOR.0);
        self.evac_gen = self.oldest;
        if fixed_space::is_evicted(c) {
            return fixed_space::each_traced(c, |slot| self.evacuate(slot));
        }
        self.scanned_in_place += self.scan(c.slot(0)) * WORD;
        c.set_info(header);
    }

    /// Scavenges a remembered set of a step. Arrays that have not been written to stay in it as they are: a program may
    /// have thousands of them, and write to few between two collections.
    pub(in crate::collector) unsafe fn scan_set(&mut self, step: u8, mut set: Vec<Closure>) {
        self.set_owner(step);
        let mut clean = 0;
        for i in 0..set.len() {
            prefetch::prefetch_beyond(&set, i);
            let c = set[i];
            if is_clean_array_info(c.info()) {
                set[clean] = c;
                clean += 1;
            } else {
                self.scan_listed(c);
            }
        }
        set.truncate(clean);
        remembered_set::append(&mut self.remembered[step as usize - 1], set);
    }

    /// Scavenges a part of a remembered set of a step.
    pub(in crate::collector) unsafe fn scan_list(&mut self, step: u8, list: &[Closure]) {
        self.set_owner(step);
        for c in prefetch::visit_objects(list) {
            if is_clean_array_info(c.info()) {
                self.remember(c.slot(0));
            } else {
                self.scan_listed(c);
            }
        }
    }

    /// Scavenges a remembered object, or a CAF.
    #[inline(always)]
    unsafe fn scan_listed(&mut self, c: Closure) {
        if self.in_heap(c.0) {
            self.scan_remembered(c);
        } else {
            self.scan_caf(c);
        }
    }

    /// Scavenges an old object that may refer to younger ones, as the mutator left it.
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

    /// Returns the step of an object that is not condemned.
    #[inline(always)]
    pub(in crate::collector) unsafe fn step_of(&self, c: Closure) -> u8 {
        self.age(c.0) & 15
    }

    /// Marks the run at `p` as live without moving anything: a large object, a block of pinned arrays, or a whole
    /// compact region. Returns the step that it has now.
    pub(in crate::collector) unsafe fn mark_run(&mut self, p: usize, age: u8, step: u8) -> u8 {
        let compact = age & Age::COMPACT != 0;
        let run = if compact { run_of((*run_of(p)).back) } else { run_of(p) };
        let saved = Age(step | age & (Age::LARGE | Age::PINNED | Age::COMPACT));
        if PARALLEL {
            if let Err(now) = block_alloc::retain_run(run, saved) {
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

/// Index of the previous chunk in a transaction record's chunk.
const TREC_CHUNK_PREV: usize = 1;
/// Index of the number of its entries.
const TREC_CHUNK_NEXT_ENTRY: usize = 2;
/// Index of its first entry.
const TREC_CHUNK_ENTRIES: usize = 3;
/// Words of an entry.
const TREC_ENTRY_WORDS: usize = 4;
const _: () = assert!((TREC_CHUNK_ENTRIES + TREC_CHUNK_NUM_ENTRIES * TREC_ENTRY_WORDS) * WORD == SIZEOF_StgTRecChunk);
