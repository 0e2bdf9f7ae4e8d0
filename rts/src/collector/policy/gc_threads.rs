//! Chooses the GC workers of a collection, and owns the pool of helper threads.
//!
//! The number of workers is limited by the idle cores, by flags, and by what the cost model ([`super::gc_cost_model`])
//! finds useful. With several HECs there are at most as many workers as HECs, or as `-qn` says: the program has said
//! how many cores it wants. With one HEC, idle cores may help with large collections; `-qg` or `-qn1` forbid that.
//!
//! *Locking*: `MODEL` is used with the world stopped. The pool is never freed, because a late helper may look at it.
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::config::{generation_name, parallel_gc_now, MAX_GC_THREADS};
use crate::base::cpus;
use crate::base::cpus::Cores;
use crate::base::once_ptr::get_or_make;
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

/// How often a helper looks for another job before it sleeps: about as long as it takes to wake it.
const SPINS: usize = 500;

static HELPER_POOL: AtomicPtr<HelperPool> = AtomicPtr::new(ptr::null_mut());
/// The number of helper threads that have been started.
static STARTED: AtomicUsize = AtomicUsize::new(0);
/// The system could not start another OS thread.
static START_FAILED: AtomicBool = AtomicBool::new(false);

/// One worker alone does the collection that is under way.
static SINGLE_THREADED: AtomicBool = AtomicBool::new(false);

static MODEL: Mutex<(ThreadCostModel, Cores)> = Mutex::new((ThreadCostModel::new(), Cores::new()));

/// Plans the workers for a collection of `generation`, with `from` bytes in from-space. Returns `None` if the calling
/// thread is to collect alone. `several_hecs`: more than one of the `hecs` allocates.
/// # Safety
/// The world is stopped.
pub(in crate::collector) unsafe fn plan_threads(
    hecs: usize,
    several_hecs: bool,
    generation: usize,
    from: usize,
) -> Option<GcThreadPlan> {
    if let Some(threads) = heap_limits::settings().forced_threads {
        return make_plan(threads, true, true);
    }
    let p = parallel_gc_now();
    let name = generation_name(generation);
    if p.from_generation.is_none_or(|g| name < g) {
        return None;
    }
    let balanced = p.allows_balancing(name);
    let wanted = match (p.threads, hecs) {
        (Some(n), _) => n,
        // Without balancing one worker does all the work.
        (None, 1) if !balanced => 1,
        (None, 1) => MAX_GC_THREADS,
        (None, n) => n,
    };
    if wanted == 1 {
        return None;
    }
    // Threads of the runtime are no load: helpers that spin, and tasks that ran Haskell just now and may not sleep yet.
    // If they do sleep, the cost model will notice.
    let ran = ACTIVE_HECS.busy().saturating_sub(1);
    let awake = helper_pool(0).awake();
    let awake_threads = awake.max(ran) + prefault::is_helper_running() as usize;
    let (model, cores) = &mut *unpoisoned(MODEL.lock());
    // An awake helper has a core, whatever the system last said about idle cores.
    let max_workers = wanted.min(cores.free(awake_threads).max(awake + 1)).min(worker_limit(awake));
    let helpers = Helpers { max_threads: max_workers, hecs: several_hecs, awake };
    make_plan(model.choose(generation, from, helpers), balanced, false)
}

/// Returns how many workers there can be if `awake_threads` helpers are awake already.
fn worker_limit(awake: usize) -> usize {
    let all = if START_FAILED.load(Ordering::Relaxed) {
        1 + awake.max(STARTED.load(Ordering::Relaxed))
    } else {
        MAX_GC_THREADS
    };
    all.min(MAX_GC_THREADS)
}

/// Sets whether one worker alone does the collection under way, so that other tasks need not spin to help.
pub(in crate::collector) fn set_single_threaded(yes: bool) {
    SINGLE_THREADED.store(yes, Ordering::Relaxed);
}

/// Does one worker alone do the collection under way? Only a hint.
pub fn is_single_threaded() -> bool {
    SINGLE_THREADED.load(Ordering::Relaxed)
}

/// Records the measurements of a collection.
pub(in crate::collector) fn record(c: &Measured) {
    unpoisoned(MODEL.lock()).0.record(c);
}

unsafe fn make_plan(threads: usize, balanced: bool, eager: bool) -> Option<GcThreadPlan> {
    (threads > 1).then(|| GcThreadPlan { helper_pool: helper_pool(threads - 1), threads, balanced, eager })
}

/// Returns the pool with at least this many helpers, or fewer if the system could not start one.
unsafe fn helper_pool(helpers: usize) -> &'static HelperPool {
    // Volunteers may use the pool at the same time.
    let helper_pool = get_or_make(&HELPER_POOL, || HelperPool::new(SPINS));
    for n in STARTED.load(Ordering::Relaxed)..helpers {
        if START_FAILED.load(Ordering::Relaxed) || !start_helper(helper_pool, n + 1) {
            break;
        }
    }
    helper_pool
}

/// Volunteers the calling thread, which has stopped with HEC `hec` and is about to wait until the world resumes. At
/// most as many volunteers as there are other cores are accepted; beyond that this returns `None`.
pub fn volunteer(hec: usize) -> Option<Volunteer<'static>> {
    // SAFETY: no helper is started.
    unsafe { helper_pool(0) }.volunteer(hec, cpus::at_start() - 1)
}

/// Starts a helper thread. Returns false if the system refuses.
fn start_helper(helper_pool: &'static HelperPool, number: usize) -> bool {
    let started = os_thread::start("haskell-gc", move || {
        if parallel_gc_now().affinity {
            cpus::pin(number);
        }
        helper_pool.run_helper();
    });
    STARTED.fetch_add(started.is_ok() as usize, Ordering::Relaxed);
    START_FAILED.store(started.is_err(), Ordering::Relaxed);
    started.is_ok()
}

/// Ends the helper threads. No collection follows.
pub fn stop_helpers() {
    let helper_pool = HELPER_POOL.swap(ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: a pool is never freed, because its helpers may look at it late.
    if let Some(helper_pool) = unsafe { helper_pool.as_ref() } {
        helper_pool.shut_down();
    }
    STARTED.store(0, Ordering::Relaxed);
}

/// Forgets the helpers in the child of a fork. The next collection that wants some starts them.
pub fn after_fork() {
    // The old pool is left as it was: its lock may be held for ever.
    HELPER_POOL.store(ptr::null_mut(), Ordering::Relaxed);
    STARTED.store(0, Ordering::Relaxed);
    START_FAILED.store(false, Ordering::Relaxed);
}
