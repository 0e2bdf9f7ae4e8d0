//! OS threads that run, or have run, Haskell: *tasks*.
//!
//! A task holds at most one HEC at a time (`seat.rs` says how it gets it), and waits for its turn
//! in one place: [`Task::wait`]. Whoever passes a HEC to a task writes the HEC's number and
//! rings, so a turn that comes before the task sleeps is not lost. Only a task that stops the
//! world (`world.rs`) is passed several HECs. A worker that is idle may instead be given the foreign
//! call of a thread that ran on somebody else's OS thread (`fiber.rs`).
use super::fiber::Fiber;
use super::incall::InCall;
use super::lock::{HolderLock, Lock};
use super::seat;
use super::seating::{self, Called, Whereabouts};
use super::suspend::ForeignCall;
use super::turns::{self, Turns};
use crate::collector::muster;
use crate::crowd::CROWD;
use crate::hec::{self, Hec};
use crate::observe::eventlog::hooks as eventlog;
use crate::observe::fatal::broken;
use crate::observe::stats::Tasks;
use crate::thread::patience::Patience;
use std::cell::Cell;
use std::os::unix::thread::JoinHandleExt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Native stack of a worker: foreign calls run on it.
const WORKER_STACK_BYTES: usize = 2 << 20;

/// How long a task stays awake when it waits: about what it takes to wake it.
const PATIENCE: Duration = Duration::from_micros(30);

/// How long a task stays awake while the world is stopped: most collections are done by then.
const SHORT_STOP: Duration = Duration::from_micros(200);

/// A task that waits is still awake.
static SOMEBODY_LOOKS: AtomicBool = AtomicBool::new(false);

/// What a waiting task is given: a HEC, or a thread's stack, in a foreign call.
pub type Turn = turns::Turn<Fiber>;

/// An OS thread that runs, or has run, Haskell.
pub struct Task {
    /// What has been given to this task and not been taken up yet.
    turns: Turns<Turn>,
    /// The HEC it holds, or null.
    hec: Cell<*mut Hec>,
    /// The HEC it held last: where it goes first when it needs one.
    last: Cell<usize>,
    /// Where C wants its calls into Haskell to begin; to be taken modulo the number of HECs.
    pub preferred: Cell<Option<usize>>,
    /// For workers: which OS thread they are.
    os_thread: AtomicU64,
    pub whereabouts: Whereabouts,
    /// Whether to stay awake while the world is stopped.
    patience: Cell<Patience>,
    /// Innermost in-call of this OS thread.
    pub incall: Cell<*mut InCall>,
    /// A fiber for the next thread that is not bound to it.
    pub spare: Cell<Option<Fiber>>,
    /// The fiber on which it runs a thread that is not bound to it, or null.
    pub fiber: Cell<*mut Fiber>,
    /// The HEC that the thread of its innermost foreign call is tied to. For the task, or who gives it a call.
    pub home: Cell<Option<usize>>,
    /// Its foreign calls under way, innermost last. Others look at them only to find a thread; the
    /// collector moves their threads with the world stopped.
    pub calls: HolderLock<Vec<ForeignCall>>,
}

// SAFETY: the cells are touched by the task's own OS thread; `incall` is read by holders of the
// HEC that has a thread bound to it.
// A fiber is touched by the task that runs it, and given away whole.
unsafe impl Sync for Task {}
unsafe impl Send for Task {}

pub type TaskRef = &'static Task;

/// All tasks there have been. They are few and may be named by late wakers: they are never freed.
static ALL: Lock<Vec<TaskRef>> = Lock::new(Vec::new());

/// OS threads that have called in from outside; workers alive, at most alive, and started.
static BOUND: AtomicU64 = AtomicU64::new(0);
static WORKERS: AtomicUsize = AtomicUsize::new(0);
static PEAK_WORKERS: AtomicUsize = AtomicUsize::new(0);
static ALL_WORKERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static ME: Cell<Option<TaskRef>> = const { Cell::new(None) };
}

impl Task {
    fn new() -> TaskRef {
        let t: TaskRef = Box::leak(Box::new(Task {
            turns: Turns::new(),
            hec: Cell::new(null_mut()),
            last: Cell::new(0),
            preferred: Cell::new(None),
            os_thread: AtomicU64::new(0),
            whereabouts: Whereabouts::new(),
            patience: Cell::new(Patience::NEW),
            incall: Cell::new(null_mut()),
            spare: Cell::new(None),
            fiber: Cell::new(null_mut()),
            home: Cell::new(None),
            calls: HolderLock::new(Vec::new()),
        }));
        ALL.lock().push(t);
        t
    }

    /// Ends this task's wait.
    pub fn give(&self, turn: Turn) {
        self.turns.give(turn);
    }

    /// Waits until something is given to this task.
    pub fn wait(&self) -> Turn {
        self.look_around();
        self.turns.wait()
    }

    /// Stays awake for a while, for with several HECs threads often wake each other soon. One task
    /// at a time does so: others need the cores.
    fn look_around(&self) {
        if !hec::many() || CROWD.is_too_large() || SOMEBODY_LOOKS.swap(true, Ordering::Acquire) {
            return;
        }
        self.watch(PATIENCE);
        SOMEBODY_LOOKS.store(false, Ordering::Release);
    }

    /// Stays awake for so long, or until something is given to it.
    pub fn watch(&self, time: Duration) {
        let since = Instant::now();
        while !self.turns.any() && since.elapsed() < time {
            (0..16).for_each(|_| std::hint::spin_loop());
        }
    }

    /// Sleeps for so long, or until something is given to it.
    pub fn doze(&self, time: Duration) {
        self.turns.doze(time);
    }

    /// Has it been given something?
    pub fn is_called(&self) -> bool {
        self.turns.any()
    }

    /// The OS thread of a worker.
    pub fn os_thread(&self) -> libc::pthread_t {
        self.os_thread.load(Ordering::Acquire)
    }

    /// The number of the HEC it holds, or held last.
    pub fn last(&self) -> usize {
        self.last.get()
    }

    pub fn held(&self) -> *mut Hec {
        self.hec.get()
    }
}

impl seating::Task for TaskRef {
    fn whereabouts(self) -> &'static Whereabouts {
        &self.whereabouts
    }

    fn sit(self, no: usize) {
        self.hec.set(hec::address(no));
        let before = self.last.replace(no);
        if before != no {
            eventlog::task_migrates(name(self), before as u32, no as u32);
        }
    }

    fn stand(self) {
        self.hec.set(null_mut());
    }

    fn has_turn(self, no: usize) {
        self.give(Turn::Hec(no));
    }

    fn is_sent_for(self, no: usize) {
        self.give(Turn::Look(no));
    }

    fn await_call(self) -> Called {
        match self.wait() {
            Turn::Hec(no) => Called::Has(no),
            Turn::Look(no) => Called::Look(no),
            Turn::Call(_) => broken("a task that waits for a HEC was given a foreign call"),
        }
    }

    /// Mostly for a short collection, with which it helps.
    fn wait_for_world(self) -> usize {
        if !super::world::is_crowded() {
            let mut patience = self.patience.get();
            patience.try_it(|| {
                let since = Instant::now();
                muster::stand_by(|| !self.turns.any() && since.elapsed() < SHORT_STOP);
                self.turns.any()
            });
            self.patience.set(patience);
        }
        self.wait_turn()
    }
}

impl PartialEq for Task {
    fn eq(&self, other: &Task) -> bool {
        std::ptr::eq(self, other)
    }
}

pub fn same(a: TaskRef, b: TaskRef) -> bool {
    std::ptr::eq(a, b)
}

/// Shows every task.
pub fn each(mut f: impl FnMut(TaskRef)) {
    ALL.lock().iter().for_each(|&t| f(t));
}

/// The calling OS thread's task.
pub fn me() -> TaskRef {
    ME.with(|m| {
        m.get().unwrap_or_else(|| {
            let t = Task::new();
            m.set(Some(t));
            BOUND.fetch_add(1, Ordering::Relaxed);
            t
        })
    })
}

/// Names the task in event logs.
pub fn name(t: &Task) -> u64 {
    t as *const Task as u64
}

/// How many OS threads have run Haskell.
pub fn counts() -> Tasks {
    let bound = BOUND.load(Ordering::Relaxed);
    let workers = ALL_WORKERS.load(Ordering::Relaxed);
    let peak_workers = PEAK_WORKERS.load(Ordering::Relaxed) as u64;
    Tasks { total: bound + workers, bound, workers, peak_workers }
}

/// Starts an OS thread that waits to be passed a HEC and then runs threads.
pub fn start_worker() -> TaskRef {
    let t = Task::new();
    let alive = WORKERS.fetch_add(1, Ordering::Relaxed) + 1;
    PEAK_WORKERS.fetch_max(alive, Ordering::Relaxed);
    ALL_WORKERS.fetch_add(1, Ordering::Relaxed);
    let spawned = std::thread::Builder::new()
        .name("haskell-worker".into())
        .stack_size(WORKER_STACK_BYTES)
        .spawn(move || {
            ME.with(|m| m.set(Some(t)));
            // SAFETY: it is fresh.
            unsafe {
                eventlog::task_created(name(t), t.last() as u32);
                super::schedule::worker_loop(t);
            }
            eventlog::task_deleted(name(t));
            WORKERS.fetch_sub(1, Ordering::Relaxed);
        });
    match spawned {
        Ok(handle) => t.os_thread.store(handle.as_pthread_t(), Ordering::Release),
        Err(e) => crate::observe::fatal::exit_with(1, &format!("cannot start an OS thread: {e}")),
    }
    t
}

/// In the child of a fork: no OS thread but this one is left, and the world is stopped. Locks
/// that others held at the fork are held for ever, so all are made anew.
/// # Safety
/// Called in the child, before anything else.
pub unsafe fn after_fork(me: TaskRef) {
    ALL.renew(vec![me]);
    me.turns.renew();
    SOMEBODY_LOOKS.store(false, Ordering::Relaxed);
    me.calls.renew(Vec::new());
    me.home.set(None);
    WORKERS.store(0, Ordering::Relaxed);
    seat::after_fork(me);
}
