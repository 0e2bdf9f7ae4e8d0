//! Which GC threads a collection gets: as many as there are cores free, flags allow, and
//! experience (`gc_cost_model.rs`) says are worth calling.
//!
//! With several HECs there are at most as many GC threads as HECs (or as `-qn` says): the
//! program has said how many cores it wants. With one HEC the cores that are idle anyway may
//! help with large collections; `-qg` or `-qn1` forbid it.
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::config::{generation_name, parallel_gc_now, MAX_GC_THREADS};
use crate::base::cpus;
use crate::base::cpus::Cores;
use crate::base::once_ptr::made_once;
use crate::base::os_thread;
use crate::base::poison::unpoisoned;
use crate::collector::parallel::helper_pool::{HelperPool, Volunteer};
pub(in crate::collector) use crate::collector::parallel::work_sharing::GcThreadPlan;
use crate::collector::policy::gc_cost_model::{Helpers, Measured, ThreadCostModel};
use crate::collector::policy::heap_limits;
use crate::memory::prefault;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::Mutex;

/// How often a helper looks for more to do before it sleeps: about what it takes to wake it.
const PATIENCE: usize = 500;

static CREW: AtomicPtr<HelperPool> = AtomicPtr::new(ptr::null_mut());
/// Helpers that have been hired.
static HIRED: AtomicUsize = AtomicUsize::new(0);
/// The system had no OS thread for one more.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// The collection that is under way is done by one thread.
static ALONE: AtomicBool = AtomicBool::new(false);

static KNOWN: Mutex<(ThreadCostModel, Cores)> = Mutex::new((ThreadCostModel::new(), Cores::new()));

/// Who collects `generation`, of which from-space has `from` bytes: `None` for the calling
/// thread alone. `company`: several of the `hecs` work.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn plan_threads(
    hecs: usize,
    company: bool,
    generation: usize,
    from: usize,
) -> Option<GcThreadPlan> {
    if let Some(threads) = heap_limits::settings().forced_threads {
        return call(threads, true, true);
    }
    let p = parallel_gc_now();
    let name = generation_name(generation);
    if !p.from_generation.is_some_and(|g| name >= g) {
        return None;
    }
    let balanced = p.balances(name);
    let wanted = match (p.threads, hecs) {
        (Some(n), _) => n,
        // Without balancing there is one share, and one thread to do it.
        (None, 1) if !balanced => 1,
        (None, 1) => MAX_GC_THREADS,
        (None, n) => n,
    };
    if wanted == 1 {
        return None;
    }
    // Threads of ours are no load: those that look for work, and those that ran Haskell just now and
    // may not have gone to sleep yet. (Should they have: `history` will see what it was worth.)
    let ran = ACTIVE_HECS.busy().saturating_sub(1);
    let here = helper_pool(0).awake();
    let awake = here.max(ran) + prefault::helper_works() as usize;
    let (history, cores) = &mut *unpoisoned(KNOWN.lock());
    // Who stands by has a core, whatever the system last said of those that are free.
    let most = wanted.min(cores.free(awake).max(here + 1)).min(most_threads(here));
    let helpers = Helpers { most, hecs: company, here };
    call(history.choose(generation, from, helpers), balanced, false)
}

/// How many GC threads there can be, `here` of which are awake already.
fn most_threads(here: usize) -> usize {
    let all =
        if REFUSED.load(Ordering::Relaxed) { 1 + here.max(HIRED.load(Ordering::Relaxed)) } else { MAX_GC_THREADS };
    all.min(MAX_GC_THREADS)
}

/// Says whether one thread alone does the collection that is under way, so that others need not stand by to help.
pub(in crate::collector) fn set_single_threaded(yes: bool) {
    ALONE.store(yes, Ordering::Relaxed);
}

/// Does it? Only a hint.
pub fn is_single_threaded() -> bool {
    ALONE.load(Ordering::Relaxed)
}

/// Remembers what a collection was like.
pub(in crate::collector) fn record(c: &Measured) {
    unpoisoned(KNOWN.lock()).0.record(c);
}

unsafe fn call(threads: usize, balanced: bool, eager: bool) -> Option<GcThreadPlan> {
    (threads > 1).then(|| GcThreadPlan { helper_pool: helper_pool(threads - 1), threads, balanced, eager })
}

/// The crew, with at least so many helpers, unless the system has refused one: collections do without them then.
unsafe fn helper_pool(helpers: usize) -> &'static HelperPool {
    // Tasks that stand by may be here at once.
    let helper_pool = made_once(&CREW, || HelperPool::new(PATIENCE));
    for n in HIRED.load(Ordering::Relaxed)..helpers {
        if REFUSED.load(Ordering::Relaxed) || !hire(helper_pool, n + 1) {
            break;
        }
    }
    helper_pool
}

/// The calling thread, which has stopped with HEC `hec`, is about to wait for the world to go on, and will help to collect meanwhile. Several
/// may do so at a time, but not more than there are other cores: then there is nothing to be done.
pub fn volunteer(hec: usize) -> Option<Volunteer<'static>> {
    // SAFETY: no helper is hired.
    unsafe { helper_pool(0) }.volunteer(hec, cpus::at_start() - 1)
}

/// Starts a helper. False if the system refuses.
fn hire(helper_pool: &'static HelperPool, number: usize) -> bool {
    let started = os_thread::start("haskell-gc", move || {
        if parallel_gc_now().affinity {
            cpus::pin(number);
        }
        helper_pool.help();
    });
    HIRED.fetch_add(started.is_ok() as usize, Ordering::Relaxed);
    REFUSED.store(started.is_err(), Ordering::Relaxed);
    started.is_ok()
}

/// Sends the helpers away: no collection follows.
pub fn stop_helpers() {
    let helper_pool = CREW.swap(ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: a crew is never freed, for its helpers may look at it late.
    if let Some(helper_pool) = unsafe { helper_pool.as_ref() } {
        helper_pool.close();
    }
    HIRED.store(0, Ordering::Relaxed);
}

/// In the child of a fork there are no helpers; the next collection that wants some hires them.
pub fn after_fork() {
    // The old crew is forgotten as it was: the lock in it may never be freed again.
    CREW.store(ptr::null_mut(), Ordering::Relaxed);
    HIRED.store(0, Ordering::Relaxed);
    REFUSED.store(false, Ordering::Relaxed);
}
