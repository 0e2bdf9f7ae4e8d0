//! Work sharing between the GC workers of one parallel collection.
//!
//! *Protocol*
//! 1. Every GC worker has a `Worker` with to-space runs of its own. For each step it has a deque, where it offers
//!    runs of copies that are not scavenged yet.
//! 2. A worker takes its own latest offers first. A worker without work steals the oldest offers of others, older
//!    generations before younger ones.
//! 3. The remembered set of a HEC is cut into chunks. The worker that has stopped with that HEC scavenges them first,
//!    and others then take what is left. The same holds for the HEC's threads and messages
//!    (`Worker::scan_hec_queues`).
//! 4. A *stage* is a part of the collection that ends when nothing is left to scavenge (`Worker::drain`). The
//!    collecting thread begins each stage alone. It calls helpers when there is work for more than one worker, or when
//!    it has done much alone. Little work is done before a helper could arrive.
//! 5. [`Termination`] detects the end of a stage.
//!
//! *Invariants*: between stages only the collecting thread works.
//!
//! *Locking*: deques are lock-free. The cells that are not atomic belong to the collecting thread.
//! [`crate::collector::trace::forwarding`] describes how workers claim objects.
//!
//! *Checked by*: the loom models of [`HelperPool`] and [`Termination`], and the collector's unit tests with two and
//! four workers.
use crate::abi::Closure;
use crate::base::atomics::{spin_loop, AtomicBool, AtomicUsize, Ordering};
use crate::base::clock::ticks;
use crate::collector::parallel::helper_pool::{HelperPool, Job};
use crate::collector::parallel::termination::Termination;
use crate::collector::parallel::work::Work;
use crate::hec::Hec;
use crossbeam_deque::{Steal, Stealer};
use std::cell::Cell;
use std::time::Instant;

/// A worker calls helpers when it has this many pieces of work to offer: one for itself and more than one to share.
const MIN_PIECES_FOR_CALL: usize = 3;
/// How often a GC worker without work looks for some before it sleeps: some microseconds.
const SPINS: usize = 200;
/// The same where HECs have stopped. Their tasks have nothing else to do, and they mostly wait for less time than it
/// takes to wake them.
const SPINS_OF_HECS: usize = 4000;
/// Remembered objects in a chunk.
const CHUNK_OBJECTS: usize = 256;
/// How long, in processor ticks, a HEC's queue is left to the volunteer that has stopped with that HEC: about five
/// microseconds. A volunteer takes one or two to arrive. Other workers take twice as long for data in its core's cache.
const OWNER_WAIT_TICKS: u64 = 15_000;

/// A part of a remembered set, with objects of one step.
pub(in crate::collector) struct Chunk {
    pub step: u8,
    pub list: *const Closure,
    pub len: usize,
}

/// The work that belongs to one HEC: chunks of its remembered set, and its roots.
#[derive(Default)]
pub(in crate::collector) struct HecQueue {
    chunks: Vec<Chunk>,
    next: AtomicUsize,
    pub owner_began: AtomicBool,
    has_threads: bool,
    pub roots_taken: AtomicBool,
}

impl HecQueue {
    pub fn next(&self) -> Option<&Chunk> {
        self.chunks.get(self.next.fetch_add(1, Ordering::Relaxed))
    }
    fn left(&self) -> usize {
        self.chunks.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }
}

pub(in crate::collector) struct ParallelGc {
    helper_pool: &'static HelperPool,
    helpers: usize,
    termination: Termination,
    /// By worker and step.
    stealers: Vec<Vec<Stealer<Work>>>,
    /// By HEC.
    pub hec_queues: Vec<HecQueue>,
    pub hecs: Vec<*mut Hec>,
    /// May a worker take what another one offers? (`-qb`)
    balanced: bool,
    /// Call helpers however little work there is.
    eager: bool,
    /// What helpers do. This and the next three are written by the collecting thread only.
    job: Cell<Option<Job<'static>>>,
    in_stage: Cell<bool>,
    called: Cell<bool>,
    awake_at_call: Cell<usize>,
    /// Helpers that have arrived in this stage.
    arrived: AtomicUsize,
    first_call: Cell<Option<Instant>>,
    /// Nanoseconds from the first call to the first helper; 0 while none has arrived.
    delay: AtomicUsize,
}

// SAFETY: what is not `Sync` is used by the collecting thread only. The chunks' lists do not change while they are
// shared, and one thread visits the roots of each HEC.
unsafe impl Sync for ParallelGc {}

/// The plan for a parallel collection.
pub(in crate::collector) struct GcThreadPlan {
    pub helper_pool: &'static HelperPool,
    /// GC workers, including the one that collects: at least two.
    pub threads: usize,
    pub balanced: bool,
    pub eager: bool,
}

impl ParallelGc {
    /// # Safety
    /// While a stage is open, nothing else touches the HECs.
    pub unsafe fn new(plan: &GcThreadPlan, hecs: &mut [&mut Hec]) -> ParallelGc {
        ParallelGc {
            helper_pool: plan.helper_pool,
            helpers: plan.threads - 1,
            termination: Termination::new(if hecs.len() > 1 { SPINS_OF_HECS } else { SPINS }),
            stealers: Vec::new(),
            hec_queues: hecs
                .iter()
                .map(|hec| HecQueue { has_threads: hec.has_threads(), ..HecQueue::default() })
                .collect(),
            hecs: hecs.iter_mut().map(|hec| &raw mut **hec).collect(),
            balanced: plan.balanced,
            eager: plan.eager,
            job: Cell::new(None),
            in_stage: Cell::new(false),
            called: Cell::new(false),
            awake_at_call: Cell::new(0),
            arrived: AtomicUsize::new(0),
            first_call: Cell::new(None),
            delay: AtomicUsize::new(0),
        }
    }

    /// Makes the deques of a worker known to the others.
    pub fn add_worker(&mut self, stealers: Vec<Stealer<Work>>) {
        self.stealers.push(stealers);
    }

    /// Sets what helpers do in each stage. A helper's number selects its worker.
    /// # Safety
    /// `job` stays alive until the last stage has ended.
    pub unsafe fn set_job(&self, job: Job) {
        self.job.set(Some(std::mem::transmute::<Job, Job<'static>>(job)));
    }

    /// Begins a stage, unless one is open. The collecting thread has stopped with HEC `leader`.
    pub fn begin_stage(&self, leader: usize) {
        if self.in_stage.replace(true) {
            return;
        }
        self.termination.enter();
        // One chunk of its own is the caller's, but one of another HEC may lead to as much work.
        if self.eager
            || self.hec_queues[leader].left() > 1
            || (0..self.hec_queues.len()).any(|no| no != leader && self.has_work_left(no))
        {
            self.call_helpers();
        }
    }

    /// Does this HEC's queue have work left?
    pub fn has_work_left(&self, no: usize) -> bool {
        let queue = &self.hec_queues[no];
        queue.left() > 0 || queue.has_threads && !queue.roots_taken.load(Ordering::Relaxed)
    }

    /// Ends a stage in which no work is left.
    pub fn end_stage(&self) {
        self.in_stage.set(false);
        if self.called.replace(false) {
            self.helper_pool.close_job();
        }
    }

    /// Calls helpers if a stage is open. For the collecting thread.
    pub fn call_in_stage(&self) {
        if self.in_stage.get() {
            self.call_helpers();
        }
    }

    /// Do helpers that were called, or have arrived, have nothing to do? Only a hint.
    pub fn has_idle_workers(&self, me: usize) -> bool {
        // A worker other than the collecting thread has been called.
        self.balanced && (me != 0 || self.called.get()) && self.termination.active() <= self.helpers
    }

    /// Calls helpers, if they have not been called for this stage.
    fn call_helpers(&self) {
        if let (Some(job), false) = (self.job.get(), self.called.replace(true)) {
            if self.first_call.get().is_none() {
                self.first_call.set(Some(Instant::now()));
            }
            self.awake_at_call.set(self.helper_pool.awake().min(self.helpers));
            self.arrived.store(0, Ordering::Relaxed);
            // SAFETY: `end_stage` closes it, and it lives longer.
            unsafe { self.helper_pool.post(self.helpers, job) }
        }
    }

    /// Joins the stage as a helper.
    pub fn enter(&self) {
        self.termination.enter();
        self.arrived.fetch_add(1, Ordering::Relaxed);
        if self.delay.load(Ordering::Relaxed) == 0 {
            let delay = self.first_call.get().map_or(0, |t| t.elapsed().as_nanos() as usize);
            self.delay.store(delay.max(1), Ordering::Relaxed);
        }
    }

    /// Waits a moment for the volunteer that has stopped with another HEC to begin with that HEC's queue. It waits only
    /// while an awake volunteer has not arrived yet, and at most once. For the collecting thread.
    pub fn wait_for_owner(&self, owner_began: &AtomicBool) {
        let since = ticks();
        while !owner_began.load(Ordering::Relaxed)
            && self.called.get()
            && self.arrived.load(Ordering::Relaxed) < self.awake_at_call.get()
        {
            if ticks().wrapping_sub(since) > OWNER_WAIT_TICKS {
                self.awake_at_call.set(0);
            }
            spin_loop();
        }
    }

    /// Have helpers been called at all?
    pub fn was_called(&self) -> bool {
        self.first_call.get().is_some()
    }

    /// Returns how many nanoseconds after the first call the first helper arrived.
    pub fn helper_delay(&self) -> Option<f64> {
        let delay = self.delay.load(Ordering::Relaxed);
        (delay > 0).then_some(delay as f64)
    }

    /// Announces that worker `me` has put a piece into its deque, which now has `pieces`.
    #[inline]
    pub fn notify_work(&self, me: usize, pieces: usize) {
        self.termination.notify_work();
        if me == 0 && pieces >= MIN_PIECES_FOR_CALL && self.in_stage.get() {
            self.call_helpers();
        }
    }

    /// Finds work for worker `me`, which has none. Returns `None` when the stage is done.
    pub fn seek(&self, me: usize) -> Option<(u8, Work)> {
        self.termination.seek(
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

    /// Adds objects of a step to the chunks of a HEC's queue.
    pub fn add_remembered(&mut self, hec: usize, step: u8, list: &[Closure]) {
        self.hec_queues[hec].chunks.extend(list.chunks(CHUNK_OBJECTS).map(|chunk| Chunk {
            step,
            list: chunk.as_ptr(),
            len: chunk.len(),
        }));
    }
}
