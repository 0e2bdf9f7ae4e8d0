//! What the GC threads of one parallel collection share.
//!
//! Every GC thread has a [`Worker`] of its own, with to-space runs of its own, and offers what
//! it has copied but not scanned, run by run, in a deque for each step. It takes from its own
//! deques what it put there last; who has nothing takes from the others' what they put there
//! first, oldest steps before younger ones. `termination.rs` knows when all are done.
//!
//! What a HEC has remembered, its own thread scans first, and then others what is left; likewise with its threads and letters (`scan_hec_queues`).
//!
//! A *stage* is a part of the collection that is done when nothing is left to scan
//! ([`Worker::drain`]). The thread that collects begins each stage alone, and calls the others
//! (`helper_pool.rs`) as soon as there is work for more than one, or has been much: what is little is done before anybody
//! could come. Between stages nobody but the collecting thread is at work.
//!
//! How objects are claimed is in `collector/trace/forwarding.rs`.
use crate::abi::{Closure, WORD};
use crate::base::atomics::{spin_loop, AtomicBool, AtomicUsize, Ordering};
use crate::base::clock::ticks;
use crate::collector::parallel::helper_pool::{HelperPool, Job};
use crate::collector::parallel::termination::Termination;
use crate::collector::trace::worker::Worker;
use crate::hec::Hec;
use crate::memory::Run;
use crossbeam_deque::{Steal, Stealer};
use std::cell::Cell;
use std::time::Instant;

/// A worker calls for help when it has so many pieces of work to offer.
const WORTH_A_CALL: usize = 3;
/// How often a GC thread without work looks around before it sleeps: some microseconds. HECs that have stopped have nothing else to do, and what
/// they wait for mostly takes less time than to wake them.
const PATIENCE: usize = 200;
const PATIENCE_OF_HECS: usize = 4000;
/// Remembered objects that are handed out together.
const CHUNK_OBJECTS: usize = 256;
/// For so many ticks of the processor, some five microseconds, what is a HEC's is left to who has stopped with it and stands by: it takes
/// one or two to come, and others take twice as long with what is in its core's cache.
const LEFT_TO_OWNER: u64 = 15_000;

/// A piece of work that any worker can do.
#[derive(Clone, Copy)]
pub(in crate::collector) enum Work {
    /// A run of copies, from its Cheney pointer on.
    Run(Run),
    /// A large object.
    Large(Closure),
    /// Elements `from..to` of a large array: those on dirty cards, or all.
    Array { c: Closure, from: usize, to: usize, all: bool },
}

// SAFETY: whoever takes a piece is the only one to work on it.
unsafe impl Send for Work {}

/// A part of a remembered set: objects of one step.
struct Chunk {
    step: u8,
    list: *const Closure,
    len: usize,
}

/// What one HEC has remembered, and how much of it has been dealt out; whether who has stopped with it has begun with that, and whether
/// anybody has seen to its threads.
#[derive(Default)]
struct HecQueue {
    deals: Vec<Chunk>,
    next: AtomicUsize,
    attended: AtomicBool,
    has_threads: bool,
    visited: AtomicBool,
}

impl HecQueue {
    fn next(&self) -> Option<&Chunk> {
        self.deals.get(self.next.fetch_add(1, Ordering::Relaxed))
    }
    fn left(&self) -> usize {
        self.deals.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }
}

pub(in crate::collector) struct ParallelGc {
    helper_pool: &'static HelperPool,
    hands: usize,
    quiet: Termination,
    /// By worker and step.
    stealers: Vec<Vec<Stealer<Work>>>,
    /// By HEC.
    shares: Vec<HecQueue>,
    hecs: Vec<*mut Hec>,
    /// May a worker take what another one offers? (`-qb`)
    balanced: bool,
    /// Call the others however little there is to do.
    eager: bool,
    /// Written by the thread that collects only: what helpers do, whether a stage is under way,
    /// whether they have been called to it, and how many stood by then.
    job: Cell<Option<Job<'static>>>,
    begun: Cell<bool>,
    called: Cell<bool>,
    stood_by: Cell<usize>,
    /// Helpers that have come to this stage.
    came: AtomicUsize,
    first_call: Cell<Option<Instant>>,
    /// Nanoseconds from the first call to the first helper; 0 while none has come.
    late: AtomicUsize,
}

// SAFETY: what is not `Sync` is used by one thread, as said there; the deals' lists do not
// change while they are dealt, and each HEC is visited by one thread.
unsafe impl Sync for ParallelGc {}

/// How a parallel collection is to be done.
pub(in crate::collector) struct GcThreadPlan {
    pub helper_pool: &'static HelperPool,
    /// GC threads, the one that collects included: at least two.
    pub threads: usize,
    pub balanced: bool,
    pub eager: bool,
}

impl ParallelGc {
    /// # Safety
    /// While a stage is under way nobody else touches the HECs.
    pub unsafe fn new(m: &GcThreadPlan, hecs: &mut [&mut Hec]) -> ParallelGc {
        ParallelGc {
            helper_pool: m.helper_pool,
            hands: m.threads - 1,
            quiet: Termination::new(if hecs.len() > 1 { PATIENCE_OF_HECS } else { PATIENCE }),
            stealers: Vec::new(),
            shares: hecs.iter().map(|hec| HecQueue { has_threads: hec.has_threads(), ..HecQueue::default() }).collect(),
            hecs: hecs.iter_mut().map(|hec| &raw mut **hec).collect(),
            balanced: m.balanced,
            eager: m.eager,
            job: Cell::new(None),
            begun: Cell::new(false),
            called: Cell::new(false),
            stood_by: Cell::new(0),
            came: AtomicUsize::new(0),
            first_call: Cell::new(None),
            late: AtomicUsize::new(0),
        }
    }

    /// Makes the deques of a worker known to the others.
    pub fn admit(&mut self, stealers: Vec<Stealer<Work>>) {
        self.stealers.push(stealers);
    }

    /// What helpers do in each stage; a helper's number says which worker it has.
    /// # Safety
    /// `job` stays alive until the last stage has ended.
    pub unsafe fn employ(&self, job: Job) {
        self.job.set(Some(std::mem::transmute::<Job, Job<'static>>(job)));
    }

    /// Begins a stage, unless one is under way. The thread that collects has stopped with HEC `leader`.
    pub fn begin(&self, leader: usize) {
        if self.begun.replace(true) {
            return;
        }
        self.quiet.enter();
        // One deal of its own is the caller's, but another's may lead to as much.
        if self.eager
            || self.shares[leader].left() > 1
            || (0..self.shares.len()).any(|no| no != leader && self.is_left(no))
        {
            self.call();
        }
    }

    /// Is something left that is this HEC's?
    fn is_left(&self, no: usize) -> bool {
        let share = &self.shares[no];
        share.left() > 0 || share.has_threads && !share.visited.load(Ordering::Relaxed)
    }

    /// Ends a stage in which there is nothing left to do.
    pub fn end(&self) {
        self.begun.set(false);
        if self.called.replace(false) {
            self.helper_pool.close_job();
        }
    }

    /// Calls the others, if a stage is under way. For the thread that collects.
    pub fn call_if_begun(&self) {
        if self.begun.get() {
            self.call();
        }
    }

    /// Has somebody been called, or come, who has nothing to do? Only a hint.
    pub fn has_idle_hands(&self, me: usize) -> bool {
        // Who is not the thread that collects has been called.
        self.balanced && (me != 0 || self.called.get()) && self.quiet.active() <= self.hands
    }

    /// Calls the others, if they have not been called for this stage.
    fn call(&self) {
        if let (Some(job), false) = (self.job.get(), self.called.replace(true)) {
            if self.first_call.get().is_none() {
                self.first_call.set(Some(Instant::now()));
            }
            self.stood_by.set(self.helper_pool.awake().min(self.hands));
            self.came.store(0, Ordering::Relaxed);
            // SAFETY: `end` recalls it, and it lives longer.
            unsafe { self.helper_pool.post(self.hands, job) }
        }
    }

    /// A helper takes part in the stage.
    pub fn enter(&self) {
        self.quiet.enter();
        self.came.fetch_add(1, Ordering::Relaxed);
        if self.late.load(Ordering::Relaxed) == 0 {
            let late = self.first_call.get().map_or(0, |t| t.elapsed().as_nanos() as usize);
            self.late.store(late.max(1), Ordering::Relaxed);
        }
    }

    /// Waits a moment for who has stopped with another HEC to begin with what is that one's, if somebody is still to come who stood by.
    /// Who does not come in that time is waited for once. For the thread that collects.
    fn leave_to_owner(&self, begun: &AtomicBool) {
        let since = ticks();
        while !begun.load(Ordering::Relaxed)
            && self.called.get()
            && self.came.load(Ordering::Relaxed) < self.stood_by.get()
        {
            if ticks().wrapping_sub(since) > LEFT_TO_OWNER {
                self.stood_by.set(0);
            }
            spin_loop();
        }
    }

    /// Have helpers been called at all?
    pub fn was_called(&self) -> bool {
        self.first_call.get().is_some()
    }

    /// How long after the first call the first helper came, in nanoseconds.
    pub fn helper_late(&self) -> Option<f64> {
        let late = self.late.load(Ordering::Relaxed);
        (late > 0).then_some(late as f64)
    }

    /// Worker `me` has put a piece into its deque, which now has `pieces`.
    #[inline]
    pub fn offer(&self, me: usize, pieces: usize) {
        self.quiet.offer();
        if me == 0 && pieces >= WORTH_A_CALL && self.begun.get() {
            self.call();
        }
    }

    /// Work for worker `me`, which has none; `None` when the stage is done.
    pub fn seek(&self, me: usize) -> Option<(u8, Work)> {
        self.quiet.seek(
            || self.balanced && self.others(me).flatten().any(|s| !s.is_empty()),
            || if self.balanced { self.steal(me) } else { None },
        )
    }

    fn others(&self, me: usize) -> impl Iterator<Item = &Vec<Stealer<Work>>> {
        let n = self.stealers.len();
        (1..n).map(move |i| &self.stealers[(me + i) % n])
    }

    fn steal(&self, me: usize) -> Option<(u8, Work)> {
        let steps = self.stealers[me].len();
        for step in (1..steps).rev() {
            for other in self.others(me) {
                loop {
                    match other[step].steal() {
                        Steal::Success(work) => return Some((step as u8, work)),
                        Steal::Empty => break,
                        Steal::Retry => {}
                    }
                }
            }
        }
        None
    }

    /// Has the first stage deal out objects of a step that a HEC has remembered.
    pub fn deal(&mut self, hec: usize, step: u8, list: &[Closure]) {
        self.shares[hec].deals.extend(list.chunks(CHUNK_OBJECTS).map(|chunk| Chunk {
            step,
            list: chunk.as_ptr(),
            len: chunk.len(),
        }));
    }
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Scans remembered objects until all are dealt out, and saves the threads and letters of all HECs: those of `home`, the HEC that this
    /// thread has stopped with, and all that they lead to, before those of others. What a HEC's threads have made is in its own core's
    /// cache, and will be used there; so others are given time to come for it. Of each HEC's the old generations come first, as the deals are.
    pub(in crate::collector) unsafe fn scan_hec_queues(&mut self, home: usize) {
        let parallel_gc = &*self.parallel_gc;
        let n = parallel_gc.shares.len();
        self.home = home % n;
        for i in 0..n {
            let no = (self.home + i) % n;
            let share = &parallel_gc.shares[no];
            if i > 0 && self.me == 0 && parallel_gc.is_left(no) {
                parallel_gc.leave_to_owner(&share.attended);
            }
            let mut next = share.next();
            if i == 0 {
                share.attended.store(true, Ordering::Relaxed);
            }
            while let Some(deal) = next {
                self.scan_list(deal.step, std::slice::from_raw_parts(deal.list, deal.len));
                next = share.next();
            }
            self.promoting(0);
            if !share.visited.swap(true, Ordering::Relaxed) {
                let hec = parallel_gc.hecs[no];
                (*hec).roots(&mut |c| self.evacuate(&mut c.0));
            }
            self.drain_own();
        }
        self.promoting(0);
    }

    /// Does a piece of work that was taken from a deque of step `step`.
    pub(in crate::collector) unsafe fn perform(&mut self, step: u8, work: Work) {
        match work {
            Work::Run(run) => self.scan_run(step, run),
            Work::Large(c) => self.scan_large(c),
            Work::Array { c, from, to, all } => {
                self.scanned_in_place += (to - from) * WORD;
                self.promoting(step);
                self.scan_array_piece(c.slot(0), from, to, all);
            }
        }
    }
}
