//! OS threads and the HEC: who holds it, and how it passes from hand to hand.
//!
//! Protocol. `Pool::holder` names the task that holds the HEC; only that task may touch the
//! HEC, the heap or any thread. It is written under the pool's lock only:
//!
//! 1. [`acquire`]: a task that wants the HEC takes it if nobody holds it; otherwise it joins
//!    `returning`, asks the running thread to give way, and sleeps until `holder` is itself.
//! 2. [`release`]: the holder picks a successor: the longest waiting returner; or the task
//!    that the first runnable thread is bound to, which for an unbound one is an idle worker
//!    or a new one; or nobody. Where there are both, they take turns. It writes the successor's
//!    name and wakes it. The successor finds itself the holder: there is no moment in which the
//!    HEC is free but promised, so no wake-up can be lost and none can overtake.
//! 3. A worker that has nothing to do, or makes way for a returner, puts itself on `idle` before
//!    it releases: the returner runs the threads on the queue once its own has stopped.
//!
//! Threads become runnable only by the hand of the holder, so whoever releases sees them all.
use super::hec;
use super::incall::InCall;
use crate::observe::fatal::broken;
use crate::observe::stats::Tasks;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

/// Idle workers kept for later; others end.
const MAX_IDLE_WORKERS: usize = 6;
/// Native stack of a worker: foreign calls run on it.
const WORKER_STACK_BYTES: usize = 2 << 20;

/// An OS thread that runs, or has run, Haskell.
pub struct Task {
    wake: Condvar,
    /// Innermost in-call of this OS thread.
    pub incall: Cell<*mut InCall>,
}

// SAFETY: `incall` is touched by its own OS thread and, read only, by HEC holders.
unsafe impl Sync for Task {}
unsafe impl Send for Task {}

pub type TaskRef = &'static Task;

struct Pool {
    holder: Option<TaskRef>,
    returning: VecDeque<TaskRef>,
    /// The last successor came from `returning`.
    returner_last: bool,
    idle: Vec<TaskRef>,
    workers: usize,
    peak_workers: usize,
    /// Started so far.
    all_workers: usize,
    stopping: bool,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    holder: None,
    returning: VecDeque::new(),
    returner_last: false,
    idle: Vec::new(),
    workers: 0,
    peak_workers: 0,
    all_workers: 0,
    stopping: false,
});

/// Tasks in `returning`, for a look without the lock: who joins asks the running thread to give
/// way, so a look that comes too early is followed by another. If the thread is only about to run
/// its limit overwrites that, and it has its time slice first: were it asked again, calls that
/// return quickly could keep it from ever doing anything.
static RETURNERS: AtomicUsize = AtomicUsize::new(0);
static STOPPING: AtomicBool = AtomicBool::new(false);

/// Counts changes of holder: how the ticker tells an idle HEC from a busy one.
pub static ACTIVITY: AtomicU64 = AtomicU64::new(0);

/// The ticker sleeps until the HEC is next acquired.
pub static DOZING: AtomicBool = AtomicBool::new(false);
/// Ends the ticker's sleep; set once at start.
pub static WAKE_TICKER: OnceLock<fn()> = OnceLock::new();

/// OS threads that have called in from outside.
static BOUND_TASKS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static ME: Cell<Option<TaskRef>> = const { Cell::new(None) };
}

/// The calling OS thread's task.
pub fn me() -> TaskRef {
    ME.with(|m| {
        m.get().unwrap_or_else(|| {
            // Tasks are few and may be named by late wakers: they are never freed.
            let t: TaskRef = Box::leak(Box::new(Task {
                wake: Condvar::new(),
                incall: Cell::new(std::ptr::null_mut()),
            }));
            m.set(Some(t));
            BOUND_TASKS.fetch_add(1, Ordering::Relaxed);
            t
        })
    })
}

/// How many OS threads have run Haskell.
pub fn counts() -> Tasks {
    let bound = BOUND_TASKS.load(Ordering::Relaxed);
    let p = pool();
    let workers = p.all_workers as u64;
    Tasks { total: bound + workers, bound, workers, peak_workers: p.peak_workers as u64 }
}

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(|_| broken("the pool's lock is poisoned"))
}

fn same(a: TaskRef, b: TaskRef) -> bool {
    std::ptr::eq(a, b)
}

fn wait_for_turn(mut p: MutexGuard<'static, Pool>, me: TaskRef) {
    while !p.holder.is_some_and(|h| same(h, me)) {
        p = me.wake.wait(p).unwrap_or_else(|_| broken("the pool's lock is poisoned"));
    }
}

/// Does the calling OS thread hold the HEC?
pub fn i_hold() -> bool {
    pool().holder.is_some_and(|h| same(h, me()))
}

/// The HEC gets a new holder: the ticker must be awake.
fn note_activity() {
    ACTIVITY.fetch_add(1, Ordering::SeqCst);
    if DOZING.load(Ordering::SeqCst) {
        if let Some(wake) = WAKE_TICKER.get() {
            wake();
        }
    }
}

/// Takes the HEC, waiting for it if need be.
pub fn acquire(me: TaskRef) {
    note_activity();
    let mut p = pool();
    match p.holder {
        None => p.holder = Some(me),
        Some(h) if same(h, me) => {
            drop(p);
            crate::observe::fatal::exit_with(
                1,
                "error: an unsafe foreign call or a C finalizer called back into Haskell; \
                 the call must be declared safe",
            );
        }
        Some(_) => {
            p.returning.push_back(me);
            RETURNERS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: `interrupt` writes one atomic.
            unsafe { hec().interrupt() };
            wait_for_turn(p, me);
        }
    }
}

/// Is the HEC held?
pub fn busy() -> bool {
    pool().holder.is_some()
}

/// Takes the HEC only if nobody holds it or waits for it.
pub fn try_acquire(me: TaskRef) -> bool {
    let mut p = pool();
    if p.holder.is_some() || !p.returning.is_empty() || p.stopping {
        return false;
    }
    p.holder = Some(me);
    true
}

/// Is somebody waiting to return from a foreign call?
pub fn returners_wait() -> bool {
    RETURNERS.load(Ordering::Relaxed) != 0
}

/// How many wait for the HEC.
#[cfg(test)]
pub fn waiting() -> usize {
    pool().returning.len()
}

/// Passes the HEC on. The caller must not touch it again before it has it back.
/// # Safety
/// The caller holds it, with no thread running.
pub unsafe fn release() {
    pass_on(pool());
}

unsafe fn pass_on(mut p: MutexGuard<'static, Pool>) {
    // Returners and runnable threads take turns, so that neither can keep the other waiting.
    let returner_first = !p.returner_last;
    let mut successor = if returner_first { next_returner(&mut p) } else { None };
    if successor.is_none() {
        successor = successor_for_work(&mut p);
    }
    if successor.is_none() {
        successor = next_returner(&mut p);
    }
    p.holder = successor;
    drop(p);
    if let Some(t) = successor {
        note_activity();
        t.wake.notify_one();
    }
}

fn next_returner(p: &mut Pool) -> Option<TaskRef> {
    let t = p.returning.pop_front()?;
    RETURNERS.fetch_sub(1, Ordering::Relaxed);
    p.returner_last = true;
    Some(t)
}

/// Who should run the first runnable thread?
unsafe fn successor_for_work(p: &mut Pool) -> Option<TaskRef> {
    p.returner_last = false;
    if !super::settings().threaded || p.stopping {
        return None;
    }
    let first = hec().run_queue.head;
    if first.is_null() {
        return None;
    }
    let bound = first.obj().bound as *const InCall;
    if !bound.is_null() {
        return Some((*bound).task);
    }
    Some(p.idle.pop().unwrap_or_else(|| {
        p.workers += 1;
        p.peak_workers = p.peak_workers.max(p.workers);
        p.all_workers += 1;
        start_worker()
    }))
}

fn start_worker() -> TaskRef {
    let t: TaskRef = Box::leak(Box::new(Task {
        wake: Condvar::new(),
        incall: Cell::new(std::ptr::null_mut()),
    }));
    let spawned = std::thread::Builder::new()
        .name("haskell-worker".into())
        .stack_size(WORKER_STACK_BYTES)
        .spawn(move || {
            ME.with(|m| m.set(Some(t)));
            wait_for_turn(pool(), t);
            // SAFETY: the HEC has been passed to this worker.
            unsafe { super::schedule::worker_loop(t) };
        });
    if let Err(e) = spawned {
        crate::observe::fatal::exit_with(1, &format!("cannot start an OS thread: {e}"));
    }
    t
}

/// Passes the HEC on and waits until it comes back: for a task bound to a thread that cannot
/// run now.
/// # Safety
/// As for [`release`].
pub unsafe fn pass_and_wait(me: TaskRef) {
    pass_on(pool());
    wait_for_turn(pool(), me);
}

/// A worker without work: joins the idle ones and sleeps. False when it should end instead.
/// # Safety
/// As for [`release`].
pub unsafe fn idle_worker(me: TaskRef) -> bool {
    let mut p = pool();
    if p.stopping || p.idle.len() >= MAX_IDLE_WORKERS {
        p.workers -= 1;
        pass_on(p);
        return false;
    }
    p.idle.push(me);
    pass_on(p);
    wait_for_turn(pool(), me);
    true
}

/// From now on the HEC is passed to returners only: the program is ending.
pub fn stop() {
    pool().stopping = true;
    STOPPING.store(true, Ordering::Relaxed);
}

pub fn stopping() -> bool {
    STOPPING.load(Ordering::Relaxed)
}

/// In the child of a fork: no OS thread but this one is left, and it holds the HEC.
/// # Safety
/// Called in the child, before anything else.
pub unsafe fn after_fork(me: TaskRef) {
    let mut p = POOL.try_lock().unwrap_or_else(|_| broken("forked while the pool was locked"));
    p.holder = Some(me);
    p.returning.clear();
    RETURNERS.store(0, Ordering::Relaxed);
    p.idle.clear();
    p.workers = 0;
    p.stopping = false;
}

/// Runs `f` with the pool locked: a fork within sees a consistent pool.
pub fn with_pool_locked<R>(f: impl FnOnce() -> R) -> R {
    let p = pool();
    let r = f();
    drop(p);
    r
}
