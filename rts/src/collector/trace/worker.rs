//! What one GC thread owns while a collection runs, and the loop that drains it.
//!
//! To-space is a set of runs for each step (a step is an age: 1 the survivors, n+1 generation
//! n). For every step a worker has one *open* run that it allocates in. A full run goes to
//! `filled`, and to `pending` if objects in it have not been scanned yet; `scan` in a run's
//! descriptor is its Cheney pointer. The worker is done when every open run is scanned up to
//! `free` and nothing is pending. There is no global state of a collection outside the worker,
//! but what several workers share (`collector/parallel/work_sharing.rs`): then pending runs, and whatever else others
//! could scan, are in deques.
//!
//! The code for one worker and for several is the same, but for `PARALLEL`: one alone pays for no
//! atomic instruction.
use crate::abi::{Closure, WORD};
use crate::collector::parallel::work_sharing::{ParallelGc, Work};
use crate::collector::policy::aging::aging;
use crate::collector::policy::heap_limits;
use crate::collector::trace::prefetch::Lookahead;
use crate::collector::trace::prescanned::PrescannedRanges;
use crate::collector::trace::selector::Claimed;
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

/// `MAJOR`: all generations are collected, and static objects are traced. `PARALLEL`: others
/// work beside it.
/// (Several lie side by side: no two in one line of the cache, or in two that are fetched together.)
#[repr(align(128))]
pub struct Worker<const MAJOR: bool, const PARALLEL: bool> {
    pub(in crate::collector) base: usize,
    pub(in crate::collector) bytes: usize,
    pub(in crate::collector) ages: usize,
    /// Where a survivor goes, by the step it comes from.
    pub(in crate::collector) dest: [u8; STEPS],
    /// Words copied, by the step that they come from.
    pub(in crate::collector) copied_from: [usize; STEPS],
    /// Survivors go at least to this step (eager promotion); 0 asks for nothing.
    pub(in crate::collector) evac_gen: u8,
    /// Step of the object being scanned.
    pub(in crate::collector) owner: u8,
    /// The object being scanned refers to a younger one.
    pub(in crate::collector) failed_to_evac: bool,
    /// The oldest step.
    pub(in crate::collector) oldest: u8,
    pub(in crate::collector) buffers: [Buffer; STEPS],
    pending: [Vec<Run>; STEPS],
    pub(in crate::collector) filled: [Vec<Run>; STEPS],
    /// The run being scanned: it is on no list even when it fills up.
    scanning: Run,
    /// Large objects that are saved and not yet scanned.
    pub(in crate::collector) large: Vec<Closure>,
    /// Static objects that are reached and not yet scanned.
    pub(in crate::collector) statics: Vec<Closure>,
    /// How many it has scanned.
    pub(in crate::collector) statics_scanned: usize,
    /// What a static object's link word says when this collection has reached it.
    pub(in crate::collector) reached: usize,
    /// Old objects that refer to younger ones, by generation.
    pub(in crate::collector) remembered: Vec<Vec<Closure>>,
    /// Selector thunks under evaluation, with their headers.
    pub(in crate::collector) selectors: Vec<Claimed>,
    pub(in crate::collector) cons_header: usize,
    /// Headers of boxed integers and characters, of which small ones are shared.
    pub(in crate::collector) int_header: usize,
    pub(in crate::collector) char_header: usize,
    pub(in crate::collector) int_table: usize,
    pub(in crate::collector) char_table: usize,
    /// What was in the open runs at the start.
    pub(in crate::collector) resumed_bytes: usize,
    /// Its number in the team, 0 for the thread that collects.
    pub(in crate::collector) me: usize,
    /// The HEC whose remembered set it scans first, and which remembers for it.
    pub(in crate::collector) home: usize,
    /// The team, if there is one.
    pub(in crate::collector) parallel_gc: *const ParallelGc,
    /// What others may take, by step; empty without a team.
    queues: Vec<deque::Worker<Work>>,
    /// Bytes scanned or copied in this stage, roughly, before the others were called.
    pub(in crate::collector) alone: usize,
    /// Bytes of large objects that it has scanned.
    pub(in crate::collector) scanned_in_place: usize,
    /// It has just left a part of a run to others, who should come before it takes that back.
    divided: bool,
    /// What it has copied and need not scan.
    pub(in crate::collector) settled: PrescannedRanges,
    /// Static objects that have been met, and not looked at yet.
    pub(in crate::collector) coming: StaticQueue,
}

/// What changes for every object must not lie where a wider word is read: a byte at a multiple of four is sometimes
/// read with the three behind it, and must then wait for those that have just been written. Collections took up to 1.5
/// times as long.
const fn are_read_alone<const MAJOR: bool, const PARALLEL: bool>() -> bool {
    offset_of!(Worker<MAJOR, PARALLEL>, evac_gen) % 4 != 0 && offset_of!(Worker<MAJOR, PARALLEL>, owner) % 4 != 0
}
const _: () = assert!(are_read_alone::<false, false>() && are_read_alone::<true, false>());
const _: () = assert!(are_read_alone::<false, true>() && are_read_alone::<true, true>());

/// A run of which so many bytes are left to scan, some objects, is divided if others have nothing to do.
const WORTH_DIVIDING: usize = 256;
/// After so many bytes the others are called, whatever there is to offer: to copy them takes about as long as to come.
const WORTH_COMPANY: usize = 64 << 10;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// A worker that goes on filling the last run of each generation that stays.
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
            owner: 0,
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
            alone: 0,
            scanned_in_place: 0,
            divided: false,
            settled: PrescannedRanges::new(),
            coming: StaticQueue::NOBODY,
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

    /// Room for `words` in to-space.
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
            self.has_worked_alone((*b.run).len as usize * BLOCK_BYTES);
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

    /// What it has copied so far.
    pub(in crate::collector) fn copied_bytes(&self) -> usize {
        self.copied_from.iter().sum::<usize>() * WORD
    }

    /// What it has copied so far, or scanned where it was.
    pub(in crate::collector) fn done_bytes(&self) -> usize {
        self.copied_bytes() + self.scanned_in_place
    }

    /// Makes it a member of a team.
    pub(in crate::collector) fn attach(&mut self, parallel_gc: &mut ParallelGc) {
        self.queues = (0..=self.oldest).map(|_| deque::Worker::new_lifo()).collect();
        parallel_gc.add_worker(self.queues.iter().map(deque::Worker::stealer).collect());
        self.parallel_gc = parallel_gc;
    }

    /// Puts a piece of work where the other workers see it.
    #[inline(never)]
    pub(in crate::collector) unsafe fn share_work(&mut self, step: usize, work: Work) {
        self.queues[step].push(work);
        (*self.parallel_gc).notify_work(self.me, self.queues[step].len());
    }

    /// Calls the others where there is much to do, though not at a time: they will divide what there is
    /// ([`Worker::scan_run`]).
    #[inline(always)]
    pub(in crate::collector) unsafe fn has_worked_alone(&mut self, bytes: usize) {
        if self.me == 0 {
            self.alone += bytes;
            if self.alone >= WORTH_COMPANY {
                self.alone = 0;
                (*self.parallel_gc).call_in_stage();
            }
        }
    }

    /// Would somebody else take a part of what this worker does?
    unsafe fn could_share(&self, step: u8) -> bool {
        self.queues[step as usize].is_empty() && (*self.parallel_gc).has_idle_workers(self.me)
    }

    /// Ends the collection: hands over all full runs of a step.
    pub(in crate::collector) unsafe fn take_filled(&mut self, step: usize) -> Vec<Run> {
        debug_assert!(self.pending[step].is_empty());
        std::mem::take(&mut self.filled[step])
    }

    /// Ends the collection: hands over the open run of a step.
    pub(in crate::collector) unsafe fn take_open(&mut self, step: usize) -> Option<Run> {
        self.close(step);
        self.filled[step].pop()
    }

    /// Says that `owner`'s referents belong into its own generation.
    #[inline(always)]
    pub(in crate::collector) fn set_owner(&mut self, owner: u8) {
        self.owner = owner;
        self.evac_gen = owner;
    }

    /// Lists an object of the owner's generation as one that refers to younger ones.
    #[inline(always)]
    pub(in crate::collector) fn remember(&mut self, c: *mut usize) {
        debug_assert!(self.owner > 1);
        self.remembered[self.owner as usize - 1].push(Closure(c as usize));
    }

    /// Did the scan since the last call meet a younger object?
    #[inline(always)]
    pub(in crate::collector) fn take_failed_to_evac(&mut self) -> bool {
        std::mem::take(&mut self.failed_to_evac)
    }

    /// Scans until nothing reachable from what has been scanned is left, by whichever worker
    /// it has been copied. Old generations come first, so that what they refer to is promoted
    /// before the survivors claim it.
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
                while let Some(c) = self.coming.next() {
                    self.look_at_static(c);
                    idle = false;
                }
            }
            if idle {
                return;
            }
        }
    }

    /// Scans what is to be scanned in a step. True if there was something.
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

    /// Is there something to scan in the open run?
    unsafe fn has_open_work(&self, step: u8) -> bool {
        let b = self.buffers[step as usize];
        !b.run.is_null() && (*b.run).scan < b.free
    }

    /// Scans a run. What is to be scanned at a time may be less than a run holds, as in lists of lists, and still lead
    /// to all of the heap. So where others have nothing to do, a run that is full is scanned by half, and the rest of
    /// it is theirs.
    pub(in crate::collector) unsafe fn scan_run(&mut self, step: u8, run: Run) {
        self.scanning = run;
        self.set_owner(step);
        let mut at = (*run).scan;
        let mut ahead = Lookahead::from(at);
        self.settled.begin(at, run_limit(run));
        loop {
            let b = &self.buffers[step as usize];
            let full = b.run != run;
            let end = if full { (*run).free } else { b.free };
            if at >= end {
                break;
            }
            let divide = PARALLEL && full && end - at >= WORTH_DIVIDING && self.could_share(step);
            let stop = if divide { at + (end - at) / 2 } else { end };
            while at < stop {
                if at == self.settled.next {
                    at = self.settled.skip();
                    continue;
                }
                ahead.look(at, end);
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
