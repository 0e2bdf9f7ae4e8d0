//! The state of one GC worker during a collection, and the loop that scavenges its copies.
//!
//! To-space is a set of runs for each step (1 for survivors, n + 1 for generation n).
//!
//! *Protocol*
//! 1. For every step a worker has one *open* run, in which it allocates.
//! 2. A full run goes to `filled`, and to `pending` if objects in it are not scavenged yet. `scan` in a run's
//!    descriptor is its Cheney pointer \[Che70\].
//! 3. The worker is done when every open run is scavenged up to `free` and no run is pending.
//! 4. With several workers, pending runs and other work are in deques, from which others can take them
//!    ([`crate::collector::parallel::work_sharing`]).
//!
//! *Invariants*: a collection has no global state outside its workers, except for what several workers share. The code
//! for one worker and for several is the same up to the constant `PARALLEL`. A single worker executes no atomic
//! instruction.
//!
//! *Checked by*: the heap checker, and the collector's unit tests with one, two and four workers.
use crate::abi::{Closure, WORD};
use crate::collector::parallel::work::Work;
use crate::collector::parallel::work_sharing::ParallelGc;
use crate::collector::policy::aging::aging;
use crate::collector::policy::heap_limits;
use crate::collector::trace::prefetch::Lookahead;
use crate::collector::trace::prescanned::PrescannedRanges;
use crate::collector::trace::static_queue::StaticQueue;
use crate::hec::out_of_memory;
use crate::memory::address_space;
use crate::memory::address_space::{BLOCK_BYTES, BLOCK_WORDS};
use crate::memory::block_alloc::used_bytes;
use crate::memory::{alloc_run, heap, Age, Run};
use crate::{info, static_closure};
use crossbeam_deque as deque;
use std::mem::offset_of;
use std::ptr;

/// Steps that an age byte can tell apart.
const STEPS: usize = 16;

/// The open to-space run of a step.
#[derive(Clone, Copy)]
pub(in crate::collector) struct Buffer {
    pub free: usize,
    pub limit: usize,
    pub run: Run,
}

/// A claimed selector thunk.
pub(in crate::collector) struct Claimed {
    pub thunk: Closure,
    pub header: usize,
    /// Its value is that of the next selector on the stack, instead of a field of it.
    pub passes_on: bool,
}

/// A GC worker. `MAJOR`: all generations are collected, and static objects are traced. `PARALLEL`: there are other
/// workers. The alignment keeps two workers from sharing a cache line, or a pair of lines fetched together.
#[repr(align(128))]
pub struct Worker<const MAJOR: bool, const PARALLEL: bool> {
    pub(in crate::collector) base: usize,
    pub(in crate::collector) bytes: usize,
    pub(in crate::collector) ages: usize,
    /// The step to which a survivor goes, by the step from which it comes.
    pub(in crate::collector) dest: [u8; STEPS],
    /// Words copied, by the step from which they come.
    pub(in crate::collector) copied_from: [usize; STEPS],
    /// Survivors go at least to this step (eager promotion); 0 requests nothing.
    pub(in crate::collector) evac_gen: u8,
    /// The step of the object being scavenged.
    pub(in crate::collector) owner_gen: u8,
    /// The object being scavenged refers to a younger one.
    pub(in crate::collector) failed_to_evac: bool,
    /// The oldest step.
    pub(in crate::collector) oldest: u8,
    pub(in crate::collector) buffers: [Buffer; STEPS],
    pending: [Vec<Run>; STEPS],
    pub(in crate::collector) filled: [Vec<Run>; STEPS],
    /// The run being scavenged: it is on no list even when it fills up.
    scanning: Run,
    /// Large objects that are live and not scavenged yet.
    pub(in crate::collector) large: Vec<Closure>,
    /// Static objects that are reached and not scavenged yet.
    pub(in crate::collector) statics: Vec<Closure>,
    /// The number of static objects that it has scavenged.
    pub(in crate::collector) statics_scanned: usize,
    /// The mark in the link word of static objects that this collection has reached.
    pub(in crate::collector) reached: usize,
    /// Old objects that refer to younger ones, by generation.
    pub(in crate::collector) remembered: Vec<Vec<Closure>>,
    /// Selector thunks under evaluation, with their headers.
    pub(in crate::collector) selectors: Vec<Claimed>,
    pub(in crate::collector) cons_header: usize,
    /// Headers of boxed integers and characters. Small ones are shared.
    pub(in crate::collector) int_header: usize,
    pub(in crate::collector) char_header: usize,
    pub(in crate::collector) int_table: usize,
    pub(in crate::collector) char_table: usize,
    /// Bytes that were in the open runs at the start.
    pub(in crate::collector) resumed_bytes: usize,
    /// Its number among the workers, 0 for the collecting thread.
    pub(in crate::collector) me: usize,
    /// The HEC whose remembered set it scavenges first, and to whose remembered set it adds.
    pub(in crate::collector) home: usize,
    /// What the workers share; null for a single worker.
    pub(in crate::collector) parallel_gc: *const ParallelGc,
    /// Work that others may take, by step; empty for a single worker.
    queues: Vec<deque::Worker<Work>>,
    /// Bytes scavenged or copied in this stage, roughly, before helpers were called.
    pub(in crate::collector) unshared_bytes: usize,
    /// Bytes of large objects that it has scavenged.
    pub(in crate::collector) scanned_in_place: usize,
    /// It has just offered a part of a run, which others should take before it does.
    divided: bool,
    /// Copies that need no scavenging.
    pub(in crate::collector) prescanned: PrescannedRanges,
    /// Static objects that are reached and not examined yet.
    pub(in crate::collector) static_queue: StaticQueue,
}

/// A field that changes for every object must not be part of a wider read. A byte at a multiple of four is sometimes
/// read together with the three behind it. The read then waits for those that have just been written. Collections took
/// up to 1.5 times as long.
const fn are_read_alone<const MAJOR: bool, const PARALLEL: bool>() -> bool {
    offset_of!(Worker<MAJOR, PARALLEL>, evac_gen) % 4 != 0 && offset_of!(Worker<MAJOR, PARALLEL>, owner_gen) % 4 != 0
}
const _: () = assert!(are_read_alone::<false, false>() && are_read_alone::<true, false>());
const _: () = assert!(are_read_alone::<false, true>() && are_read_alone::<true, true>());

/// A run with at least this many bytes left to scavenge, some objects, is divided if other workers are idle.
const MIN_DIVIDED_BYTES: usize = 256;
/// Bytes after which helpers are called, however little there is to offer: copying them takes about as long as a helper
/// takes to arrive.
const MAX_UNSHARED_BYTES: usize = 64 << 10;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Makes a worker that continues to fill the last run of each generation that is not collected.
    /// # Safety
    /// The world is stopped; generations above `collected` are not condemned.
    pub(in crate::collector) unsafe fn new(me: usize, collected: usize, reached: usize) -> Self {
        let gens = &mut heap().gens;
        let oldest = gens.len() as u8;
        let mut dest = [0; STEPS];
        for (s, d) in dest.iter_mut().enumerate() {
            *d = (s as u8 + 1).min(oldest);
        }
        if aging().promote_at_once() || heap_limits::settings().promote_at_once {
            dest[0] = dest[1];
        }
        let closed = Buffer { free: 0, limit: 0, run: ptr::null_mut() };
        let mut w = Worker {
            base: address_space::base(),
            bytes: address_space::range_bytes(),
            ages: address_space::age_bias(),
            dest,
            copied_from: [0; STEPS],
            evac_gen: 0,
            owner_gen: 0,
            failed_to_evac: false,
            oldest,
            buffers: [closed; STEPS],
            pending: Default::default(),
            filled: Default::default(),
            scanning: ptr::null_mut(),
            large: Vec::new(),
            statics: Vec::new(),
            statics_scanned: 0,
            reached,
            remembered: gens.iter().map(|_| Vec::new()).collect(),
            selectors: Vec::new(),
            cons_header: info!(ghczmprim_GHCziTypes_ZC_con_info).0,
            int_header: info!(ghczmprim_GHCziTypes_Izh_con_info).0,
            char_header: info!(ghczmprim_GHCziTypes_Czh_con_info).0,
            int_table: static_closure!(stg_INTLIKE_closure).0,
            char_table: static_closure!(stg_CHARLIKE_closure).0,
            resumed_bytes: 0,
            me,
            home: 0,
            parallel_gc: ptr::null(),
            queues: Vec::new(),
            unshared_bytes: 0,
            scanned_in_place: 0,
            divided: false,
            prescanned: PrescannedRanges::new(),
            static_queue: StaticQueue::EMPTY,
        };
        for (g, gen) in gens.iter_mut().enumerate().skip(collected + 1) {
            if let Some(run) = gen.take_last_plain() {
                (*run).scan = (*run).free;
                w.resumed_bytes += used_bytes(run);
                w.buffers[g + 1] = Buffer { free: (*run).free, limit: run_limit(run), run };
            }
        }
        w
    }

    /// Allocates `words` in to-space.
    #[inline(always)]
    pub(in crate::collector) unsafe fn alloc(&mut self, step: u8, words: usize) -> *mut usize {
        let b = &mut self.buffers[(step & 15) as usize];
        let at = b.free;
        let end = at + words * WORD;
        if end > b.limit {
            return self.alloc_slow(step, words);
        }
        b.free = end;
        at as *mut usize
    }

    #[cold]
    #[inline(never)]
    unsafe fn alloc_slow(&mut self, step: u8, words: usize) -> *mut usize {
        self.close(step as usize);
        let Some(run) = alloc_run(words.div_ceil(BLOCK_WORDS), Age(step)) else {
            out_of_memory(words.max(BLOCK_WORDS) * WORD)
        };
        let at = (*run).start;
        self.buffers[step as usize] = Buffer { free: at + words * WORD, limit: run_limit(run), run };
        at as *mut usize
    }

    /// Retires the open run of a step.
    unsafe fn close(&mut self, step: usize) {
        let b = self.buffers[step];
        if b.run.is_null() {
            return;
        }
        (*b.run).free = b.free;
        self.filled[step].push(b.run);
        if PARALLEL {
            self.count_unshared((*b.run).len as usize * BLOCK_BYTES);
        }
        if b.run != self.scanning && (*b.run).scan < b.free {
            if PARALLEL {
                self.share_work(step, Work::Run(b.run));
            } else {
                self.pending[step].push(b.run);
            }
        }
        self.buffers[step] = Buffer { free: 0, limit: 0, run: ptr::null_mut() };
    }

    /// Returns the bytes that it has copied so far.
    pub(in crate::collector) fn copied_bytes(&self) -> usize {
        self.copied_from.iter().sum::<usize>() * WORD
    }

    /// Returns the bytes that it has copied so far or scavenged in place.
    pub(in crate::collector) fn done_bytes(&self) -> usize {
        self.copied_bytes() + self.scanned_in_place
    }

    /// Attaches it to the workers of a parallel collection.
    pub(in crate::collector) fn attach(&mut self, parallel_gc: &mut ParallelGc) {
        self.queues = (0..=self.oldest).map(|_| deque::Worker::new_lifo()).collect();
        parallel_gc.add_worker(self.queues.iter().map(deque::Worker::stealer).collect());
        self.parallel_gc = parallel_gc;
    }

    /// Puts a piece of work where other workers see it.
    #[inline(never)]
    pub(in crate::collector) unsafe fn share_work(&mut self, step: usize, work: Work) {
        self.queues[step].push(work);
        (*self.parallel_gc).notify_work(self.me, self.queues[step].len());
    }

    /// Counts bytes worked alone. Calls helpers when they are many, even if little can be offered at a time: the
    /// workers will divide it ([`Worker::scan_run`]).
    #[inline(always)]
    pub(in crate::collector) unsafe fn count_unshared(&mut self, bytes: usize) {
        if self.me == 0 {
            self.unshared_bytes += bytes;
            if self.unshared_bytes >= MAX_UNSHARED_BYTES {
                self.unshared_bytes = 0;
                (*self.parallel_gc).call_in_stage();
            }
        }
    }

    /// Would another worker take a part of this worker's work?
    unsafe fn can_share(&self, step: u8) -> bool {
        self.queues[step as usize].is_empty() && (*self.parallel_gc).has_idle_workers(self.me)
    }

    /// Hands over all full runs of a step, at the end of the collection.
    pub(in crate::collector) unsafe fn take_filled(&mut self, step: usize) -> Vec<Run> {
        debug_assert!(self.pending[step].is_empty());
        std::mem::take(&mut self.filled[step])
    }

    /// Hands over the open run of a step, at the end of the collection.
    pub(in crate::collector) unsafe fn take_open(&mut self, step: usize) -> Option<Run> {
        self.close(step);
        self.filled[step].pop()
    }

    /// Sets the step of the object being scavenged. What that refers to is promoted to the same step.
    #[inline(always)]
    pub(in crate::collector) fn set_owner(&mut self, owner_gen: u8) {
        self.owner_gen = owner_gen;
        self.evac_gen = owner_gen;
    }

    /// Lists an object of the owner's generation in the remembered set.
    #[inline(always)]
    pub(in crate::collector) fn remember(&mut self, c: *mut usize) {
        debug_assert!(self.owner_gen > 1);
        self.remembered[self.owner_gen as usize - 1].push(Closure(c as usize));
    }

    /// Has a younger object been met since the last call?
    #[inline(always)]
    pub(in crate::collector) fn take_failed_to_evac(&mut self) -> bool {
        std::mem::take(&mut self.failed_to_evac)
    }

    /// Scavenges until nothing reachable is left in the copies of any worker. Old generations come first, so that what
    /// they refer to is promoted before survivors claim it.
    pub(in crate::collector) unsafe fn drain(&mut self) {
        if PARALLEL && self.me == 0 {
            (*self.parallel_gc).begin_stage(self.home);
        }
        self.drain_own();
        if PARALLEL {
            while let Some((step, work)) = (*self.parallel_gc).seek(self.me) {
                self.run_work(step, work);
                self.drain_own();
            }
            if self.me == 0 {
                (*self.parallel_gc).end_stage();
            }
        }
        self.set_owner(0);
    }

    /// Scavenges until this worker has nothing left.
    pub(in crate::collector) unsafe fn drain_own(&mut self) {
        loop {
            let mut idle = true;
            for step in (1..=self.oldest).rev() {
                idle &= !self.scan_step(step);
            }
            while let Some(c) = self.large.pop() {
                self.scan_large(c);
                idle = false;
            }
            if MAJOR {
                while let Some(c) = self.statics.pop() {
                    self.scan_static(c);
                    self.statics_scanned += 1;
                    idle = false;
                }
                while let Some(c) = self.static_queue.next() {
                    self.list_static(c);
                    idle = false;
                }
            }
            if idle {
                return;
            }
        }
    }

    /// Scavenges what is left in a step. Returns whether there was anything.
    unsafe fn scan_step(&mut self, step: u8) -> bool {
        let s = step as usize;
        let mut any = false;
        loop {
            if PARALLEL && !(std::mem::take(&mut self.divided) && self.has_open_work(step)) {
                if let Some(work) = self.queues[s].pop() {
                    self.run_work(step, work);
                    any = true;
                    continue;
                }
            }
            let run = match self.pending[s].pop() {
                Some(run) => run,
                None if self.has_open_work(step) => self.buffers[s].run,
                None => return any,
            };
            self.scan_run(step, run);
            any = true;
        }
    }

    /// Is anything in the open run left to scavenge?
    unsafe fn has_open_work(&self, step: u8) -> bool {
        let b = self.buffers[step as usize];
        !b.run.is_null() && (*b.run).scan < b.free
    }

    /// Scavenges a run. Less than a run may be left to scavenge at a time, as in a list of lists, and still lead to the
    /// whole heap. So while other workers are idle, only half of a full run is scavenged, and the rest is offered.
    pub(in crate::collector) unsafe fn scan_run(&mut self, step: u8, run: Run) {
        self.scanning = run;
        self.set_owner(step);
        let mut at = (*run).scan;
        let mut ahead = Lookahead::from(at);
        self.prescanned.begin(at, run_limit(run));
        loop {
            let b = &self.buffers[step as usize];
            let full = b.run != run;
            let end = if full { (*run).free } else { b.free };
            if at >= end {
                break;
            }
            let divide = PARALLEL && full && end - at >= MIN_DIVIDED_BYTES && self.can_share(step);
            let stop = if divide { at + (end - at) / 2 } else { end };
            while at < stop {
                if at == self.prescanned.next {
                    at = self.prescanned.skip();
                    continue;
                }
                ahead.advance(at, end);
                at += self.scan(at as *mut usize) * WORD;
            }
            if divide && at < end {
                (*run).scan = at;
                self.scanning = ptr::null_mut();
                self.divided = true;
                return self.share_work(step as usize, Work::Run(run));
            }
        }
        (*run).scan = at;
        self.scanning = ptr::null_mut();
    }
}

unsafe fn run_limit(run: Run) -> usize {
    (*run).start + (*run).len as usize * BLOCK_BYTES
}
