//! The table of tasks: which OS thread has which task, and what becomes of a task.
//!
//! An OS thread has a task from its first call into Haskell until it ends, or until it says that it makes no more calls
//! for now. A worker has a task as long as it lives.
//!
//! *Invariants*
//! - A task's memory is never freed, and the task is kept for the next OS thread. Another task may still give it a late
//!   wake-up, because `handoff/protocol.rs` unparks after it has released the lock.
//! - A late wake-up is a [`Wakeup::Check`](crate::sched::task_parker::Wakeup). The new owner of the task checks and
//!   finds nothing, as the old one would have.
//! - A HEC is never late: a task that waits for one resumes when it has it.
use crate::base::{fatal, os_thread};
use crate::hec::fork_safe_lock::Lock;
use crate::hec::Hec;
use crate::observe::eventlog::hooks as eventlog;
use crate::observe::stats::Tasks;
use crate::sched::task::{same, Task, TaskRef};
use std::cell::Cell;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::OnceLock;

/// The size of a worker's native stack in bytes. Foreign calls run on it, so it is as large as a small OS thread's.
const WORKER_STACK_BYTES: usize = 2 << 20;

/// The tasks of OS threads that may run Haskell, and below those that are kept for others.
static IN_USE: Lock<Vec<TaskRef>> = Lock::new(Vec::new());
static FREE: Lock<Vec<TaskRef>> = Lock::new(Vec::new());

/// The number of OS threads that have called in from outside; then the numbers of workers alive, alive at most, and
/// started.
static BOUND: AtomicU64 = AtomicU64::new(0);
static WORKERS: AtomicUsize = AtomicUsize::new(0);
static PEAK_WORKERS: AtomicUsize = AtomicUsize::new(0);
static ALL_WORKERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static ME: Cell<Option<TaskRef>> = const { Cell::new(None) };
    static END: End = const { End };
}

/// Releases the task at the end of an OS thread that has called in.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        release_current();
    }
}

/// Calls `f` for every task that may be in a foreign call.
pub fn for_each(mut f: impl FnMut(TaskRef)) {
    IN_USE.lock().iter().for_each(|&t| f(t));
}

/// Takes a task for an OS thread that has none.
fn register() -> TaskRef {
    let kept = FREE.lock().pop();
    let t = kept.unwrap_or_else(Task::new);
    IN_USE.lock().push(t);
    t
}

/// Releases the calling OS thread's task.
fn retire() {
    if let Some(t) = ME.take() {
        t.end();
        IN_USE.lock().retain(|&other| !same(other, t));
        FREE.lock().push(t);
    }
}

/// The calling OS thread's task.
pub fn current() -> TaskRef {
    ME.get().unwrap_or_else(|| {
        let t = register();
        ME.set(Some(t));
        BOUND.fetch_add(1, Ordering::Relaxed);
        // An OS thread that calls in while it ends keeps its task.
        let _ = END.try_with(|_| ());
        t
    })
}

/// The HEC that the calling OS thread holds.
/// # Safety
/// The calling OS thread holds one, and no other reference to it is in use. A call that releases or acquires a HEC ends
/// the life of earlier references.
#[inline]
pub unsafe fn hec() -> &'static mut Hec {
    &mut *current().held()
}

/// The calling OS thread makes no more calls into Haskell for now. Does nothing within such a call or in a call from
/// Haskell.
pub fn release_current() {
    if ME.get().is_some_and(|t| t.is_done()) {
        retire();
    }
}

/// The numbers of OS threads that have run Haskell.
pub fn counts() -> Tasks {
    let bound = BOUND.load(Ordering::Relaxed);
    let workers = ALL_WORKERS.load(Ordering::Relaxed);
    let peak_workers = PEAK_WORKERS.load(Ordering::Relaxed) as u64;
    Tasks { total: bound + workers, bound, workers, peak_workers }
}

/// What workers do. The loop is above this file, and starts workers itself, so `sched::init` sets it.
static WORKER_LOOP: OnceLock<unsafe fn(TaskRef)> = OnceLock::new();

/// Has workers do this.
pub(super) fn run_workers_by(worker_loop: unsafe fn(TaskRef)) {
    let _ = WORKER_LOOP.set(worker_loop);
}

/// Starts a worker: an OS thread that waits for a HEC and then runs threads.
pub fn start_worker() -> TaskRef {
    let Some(&run) = WORKER_LOOP.get() else { fatal::broken("a worker before the scheduler has been initialised") };
    let t = register();
    let alive = WORKERS.fetch_add(1, Ordering::Relaxed) + 1;
    PEAK_WORKERS.fetch_max(alive, Ordering::Relaxed);
    ALL_WORKERS.fetch_add(1, Ordering::Relaxed);
    let mask = os_thread::mask_for_haskell();
    let spawned =
        std::thread::Builder::new().name("haskell-worker".into()).stack_size(WORKER_STACK_BYTES).spawn(move || {
            os_thread::set_mask(&mask);
            ME.set(Some(t));
            // SAFETY: the task is new and holds no HEC.
            unsafe {
                eventlog::task_created(t.name(), t.last() as u32);
                run(t);
            }
            eventlog::task_deleted(t.name());
            WORKERS.fetch_sub(1, Ordering::Relaxed);
            retire();
        });
    match spawned {
        // No other task gives it a wake-up before this, so it has not ended.
        Ok(handle) => t.set_worker(handle.as_pthread_t()),
        Err(e) => fatal::exit_with(1, &format!("cannot start an OS thread: {}", fatal::system_error(&e))),
    }
    t
}

/// Resets the table in the child of a fork. Only this OS thread exists there, and the world is stopped. Locks that
/// other OS threads held at the fork stay locked, so all are made anew.
/// # Safety
/// Called in the child, before anything else.
pub(super) unsafe fn after_fork(me: TaskRef) {
    IN_USE.renew(vec![me]);
    FREE.renew(Vec::new());
    me.after_fork();
    BOUND.store(1, Ordering::Relaxed);
    WORKERS.store(0, Ordering::Relaxed);
    PEAK_WORKERS.store(0, Ordering::Relaxed);
    ALL_WORKERS.store(0, Ordering::Relaxed);
}
