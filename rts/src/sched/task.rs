//! Tasks: OS threads that run, or have run, Haskell.
//!
//! *Protocol*: a task holds at most one HEC at a time ([`crate::sched::handoff`] says how it acquires it). It waits in
//! one place, [`Task::wait`]. A task that passes a HEC on writes the HEC's number to the successor's [`Parker`] and
//! unparks it. So a wake-up that comes before the successor sleeps is not lost.
//!
//! *Invariants*
//! - Only a task that stops the world ([`crate::sched::stop_world`]) holds several HECs.
//! - An idle worker may also be given the foreign call of a thread that ran on another task's OS thread
//!   ([`crate::sched::fiber`]).
use super::fiber::Fiber;
use crate::abi::{Closure, Tso};
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::adaptive_spin::AdaptiveSpin;
use crate::base::fatal::broken;
use crate::collector::parallel::helper_pool::Volunteer;
use crate::collector::policy::gc_threads;
use crate::hec::fork_safe_lock::HolderLock;
use crate::hec::{self, Hec};
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::call_predictor::Call;
use crate::sched::event_poll;
use crate::sched::event_poll::Slept;
use crate::sched::gc::helper_spin;
use crate::sched::gc::helper_spin::HelperSpin;
use crate::sched::handoff::protocol;
use crate::sched::handoff::protocol::{AssignedHec, Signal};
use crate::sched::task_parker;
use crate::sched::task_parker::Parker;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a task spins when it waits: about as long as waking it would take.
const SPIN_TIME: Duration = Duration::from_micros(30);

/// How long a task that cannot sleep in a poller sleeps before it tries again.
const WITHOUT_POLLER: Duration = Duration::from_millis(100);

/// The number of tasks that watch events.
static WATCHING: AtomicUsize = AtomicUsize::new(0);

/// A task that waits is spinning.
static A_TASK_SPINS: AtomicBool = AtomicBool::new(false);

/// What a waiting task is given: a HEC, or a thread's native stack in a foreign call.
pub type Wakeup = task_parker::Wakeup<Fiber>;

/// The result of an in-call, as C callers see it (`SchedulerStatus`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Status {
    NotFinished = 0,
    Success = 1,
    Killed = 2,
    Interrupted = 3,
    HeapExhausted = 4,
}

/// A call from C into Haskell in progress (`in_call.rs`).
pub struct InCall {
    pub task: TaskRef,
    pub status: Status,
    /// The value returned, or the exception that killed the thread.
    pub result: Closure,
    /// Its thread belongs to a user scheduler.
    pub(super) is_user: bool,
    /// The in-call that this OS thread was in when it called the C code that made this one.
    pub(super) prev: *mut InCall,
}

/// A foreign call in progress.
pub struct ForeignCall {
    pub(super) tso: Tso,
    /// The OS thread that makes the call, for calls that may be interrupted.
    pub(super) os_thread: libc::pthread_t,
    pub(super) interruptible: bool,
    /// The HEC that the thread is pinned to.
    pub(super) home: Option<usize>,
}

// SAFETY: only the thread's task accesses it, or any task while the world is stopped.
unsafe impl Send for ForeignCall {}

/// What a task watches while it waits.
#[derive(Clone, Copy)]
pub(super) struct Watched {
    /// The number of the HEC whose events it watches.
    pub no: usize,
    /// It is among the idle workers.
    pub is_idle: bool,
    /// Takes that HEC for the task, if no task holds it.
    pub take: fn(TaskRef, Watched) -> bool,
    /// The task has ended its watch: makes sure that another sees to the events.
    pub ended: fn(usize),
}

/// An OS thread that runs, or has run, Haskell.
pub struct Task {
    /// Wake-ups that were given to this task and that it has not taken yet.
    parker: Parker<Wakeup>,
    /// The HEC it holds, or null.
    hec: Cell<*mut Hec>,
    /// The HEC that it held last, which it tries first when it needs one.
    last: Cell<usize>,
    /// The HEC on which C wants its in-calls to begin, modulo the number of HECs.
    pub preferred: Cell<Option<usize>>,
    /// The OS thread of a worker.
    os_thread: AtomicU64,
    pub assigned_hec: AssignedHec,
    /// The events that it watches while it waits.
    watched: Cell<Option<Watched>>,
    /// It watches events.
    watches: AtomicBool,
    /// Decides whether to spin before it sleeps in a poller.
    watch_spin: Cell<AdaptiveSpin>,
    /// Decides whether to spin while one thread collects alone.
    world_spin: Cell<AdaptiveSpin>,
    /// Set while the task is about to wait for a stopped world, to help with the collection.
    volunteer: Cell<Option<Volunteer<'static>>>,
    /// The innermost in-call of this OS thread.
    pub incall: Cell<*mut InCall>,
    /// A fiber for the next thread that is not bound to this task.
    pub spare: Cell<Option<Fiber>>,
    /// The fiber on which it runs a thread that is not bound to it, or null.
    pub fiber: Cell<*mut Fiber>,
    /// The HEC that the thread of its innermost foreign call is pinned to. Written by the task, or by the one that
    /// gives it a call.
    pub home: Cell<Option<usize>>,
    /// The foreign call that it begins or makes.
    pub call: Cell<Call>,
    /// Its foreign calls in progress, innermost last. Other tasks read them only to find a thread. The collector
    /// updates their threads while the world is stopped.
    pub calls: HolderLock<Vec<ForeignCall>>,
}

// SAFETY: only the task's own OS thread accesses the cells, except `incall`: holders of the HEC that has a thread bound
// to the task read that. Only the task that runs a fiber accesses it, and gives it away whole.
unsafe impl Sync for Task {}
unsafe impl Send for Task {}

pub type TaskRef = &'static Task;

impl Task {
    /// Makes a task for an OS thread that has none. It is never freed (`task_table.rs`).
    pub(super) fn new() -> TaskRef {
        Box::leak(Box::new(Task {
            parker: Parker::new(),
            hec: Cell::new(null_mut()),
            last: Cell::new(0),
            preferred: Cell::new(None),
            os_thread: AtomicU64::new(0),
            assigned_hec: AssignedHec::new(),
            watched: Cell::new(None),
            watches: AtomicBool::new(false),
            watch_spin: Cell::new(AdaptiveSpin::NEW),
            world_spin: Cell::new(AdaptiveSpin::NEW),
            volunteer: Cell::new(None),
            incall: Cell::new(null_mut()),
            spare: Cell::new(None),
            fiber: Cell::new(null_mut()),
            home: Cell::new(None),
            call: Cell::new(Call::NONE),
            calls: HolderLock::new(Vec::new()),
        }))
    }

    /// Is its OS thread neither in Haskell nor in a call from Haskell? Called by that OS thread.
    pub(super) fn is_done(&self) -> bool {
        self.hec.get().is_null() && self.incall.get().is_null() && !self.is_worker()
    }

    /// Detaches its OS thread, which runs no Haskell any more. Called by that OS thread.
    pub(super) fn end(&self) {
        self.last.set(0);
        self.preferred.set(None);
        self.os_thread.store(0, Ordering::Relaxed);
        self.assigned_hec.leave();
        self.watch_spin.set(AdaptiveSpin::NEW);
        self.world_spin.set(AdaptiveSpin::NEW);
        if let Some(fiber) = self.spare.take() {
            fiber.free();
        }
    }

    /// Resets the task in the child of a fork, where locks that other OS threads held at the fork stay locked.
    /// # Safety
    /// Called in the child, by that OS thread.
    pub(super) unsafe fn after_fork(&self) {
        A_TASK_SPINS.store(false, Ordering::Relaxed);
        self.parker.renew();
        self.watched.set(None);
        self.watches.store(false, Ordering::Relaxed);
        WATCHING.store(0, Ordering::Relaxed);
        self.calls.renew(Vec::new());
        self.home.set(None);
    }

    /// Gives this task a wake-up, which ends its wait.
    pub fn unpark(&self, wakeup: Wakeup) {
        self.parker.unpark(wakeup);
    }

    /// Waits until this task is given a wake-up. If it [watches](Task::watch) a HEC's events, it may take that HEC.
    pub fn wait(&'static self) -> Wakeup {
        self.spin_first();
        match self.watched.get() {
            Some(watched) => self.wait_watching(watched),
            None => self.parker.park(),
        }
    }

    /// Watches the events of a HEC, which it holds and is about to release. It has begun a watch of them.
    pub(super) fn watch(&self, watched: Watched) {
        self.watched.set(Some(watched));
        self.watches.store(true, Ordering::Relaxed);
        WATCHING.fetch_add(1, Ordering::Relaxed);
    }

    /// Does it watch events? Other tasks may see it late.
    pub(super) fn watches(&self) -> bool {
        self.watches.load(Ordering::Relaxed)
    }

    /// Ends its watch, if it has one. It has been given HEC `given`, or something else.
    pub(super) fn end_watch(&self, given: Option<usize>) {
        if let Some(Watched { no, ended, .. }) = self.stop_watching() {
            if given != Some(no) {
                ended(no);
            }
        }
    }

    fn stop_watching(&self) -> Option<Watched> {
        let watched = self.watched.take()?;
        self.watches.store(false, Ordering::Relaxed);
        WATCHING.fetch_sub(1, Ordering::Relaxed);
        event_poll::watch(watched.no).end();
        Some(watched)
    }

    fn wait_watching(&'static self, watched: Watched) -> Wakeup {
        let no = watched.no;
        loop {
            let mut slept = Slept::Woken;
            if let Some(wakeup) = self.parker.park_elsewhere(event_poll::wake, no, || slept = event_poll::sleep(no)) {
                self.end_watch(wakeup.hec());
                return wakeup;
            }
            match slept {
                // In the meantime a descriptor may become free, or there may be other deadlines.
                Slept::NoPoller(time) => {
                    let time = time.unwrap_or(WITHOUT_POLLER).min(WITHOUT_POLLER);
                    self.parker.park_timeout(time, || false);
                }
                Slept::Woken if !(no == 0 && event_poll::has_signals()) => {}
                Slept::Woken | Slept::Events => {
                    self.stop_watching();
                    if (watched.take)(self, watched) {
                        return Wakeup::Hec(no);
                    }
                    return self.parker.park();
                }
            }
        }
    }

    /// Spins for a while, because with several HECs threads often wake each other soon. One task at a time does so,
    /// because others need the cores. A task that watches does so only where it helps: its next threads may be woken by
    /// events alone.
    fn spin_first(&self) {
        let mut adaptive = self.watch_spin.get();
        let watches = self.watched.get().is_some();
        let spins = hec::many() && !ACTIVE_HECS.oversubscribed() && (!watches || adaptive.should_spin());
        if spins && !A_TASK_SPINS.swap(true, Ordering::Acquire) {
            self.spin_for(SPIN_TIME);
            A_TASK_SPINS.store(false, Ordering::Release);
            adaptive.record(self.has_wakeup());
        }
        self.watch_spin.set(adaptive);
    }

    /// Spins for `time`, or until the task is given a wake-up.
    pub fn spin_for(&self, time: Duration) {
        let since = Instant::now();
        while !self.parker.has_wakeup() && since.elapsed() < time {
            (0..16).for_each(|_| std::hint::spin_loop());
        }
    }

    /// Sleeps for `time`, or until the task is given a wake-up or [woken](protocol::Task::wake). Does not sleep if
    /// `awake` is true.
    pub fn park_timeout(&self, time: Duration, awake: impl FnOnce() -> bool) {
        self.parker.park_timeout(time, awake);
    }

    /// Has it been given a wake-up?
    pub fn has_wakeup(&self) -> bool {
        self.parker.has_wakeup()
    }

    /// The OS thread of a worker.
    pub fn os_thread(&self) -> libc::pthread_t {
        self.os_thread.load(Ordering::Acquire)
    }

    /// Makes it the task of a worker on this OS thread. Called by the task that has started the worker.
    pub(super) fn set_worker(&self, os_thread: libc::pthread_t) {
        self.os_thread.store(os_thread, Ordering::Release);
    }

    fn is_worker(&self) -> bool {
        self.os_thread() != 0
    }

    /// The number that names the task in event logs.
    pub fn name(&self) -> u64 {
        self as *const Task as u64
    }

    /// The number of the HEC that it holds or held last.
    pub fn last(&self) -> usize {
        self.last.get()
    }

    pub fn held(&self) -> *mut Hec {
        self.hec.get()
    }
}

impl protocol::Task for TaskRef {
    fn assigned_hec(self) -> &'static AssignedHec {
        &self.assigned_hec
    }

    fn on_acquire(self, no: usize) {
        self.hec.set(hec::address(no));
        let before = self.last.replace(no);
        if before != no {
            eventlog::task_migrated(self.name(), before as u32, no as u32);
        }
    }

    fn on_release(self) {
        self.hec.set(null_mut());
    }

    fn grant(self, no: usize) {
        self.unpark(Wakeup::Hec(no));
    }

    fn request_check(self, no: usize) {
        self.unpark(Wakeup::Check(no));
    }

    fn wake(self) {
        self.parker.wake();
    }

    fn await_signal(self) -> Signal {
        match self.wait() {
            Wakeup::Hec(no) => Signal::Granted(no),
            Wakeup::Check(no) => Signal::Check(no),
            Wakeup::Call(_) => broken("a task that waits for a HEC was given a foreign call"),
        }
    }

    /// In most cases the stop is for a short collection, with which the task helps.
    fn will_wait_for_world(self) {
        if !helper_spin::is_oversubscribed() {
            self.volunteer.set(gc_threads::volunteer(self.last()));
        }
    }

    fn wait_for_world(self) -> usize {
        if let Some(volunteer) = self.volunteer.take() {
            let mut spin = HelperSpin::begin(&self.world_spin);
            volunteer.wait_as_helper(|done| {
                if done {
                    spin.on_work();
                }
                !self.parker.has_wakeup() && spin.should_spin(gc_threads::is_single_threaded())
            });
            spin.end(self.parker.has_wakeup());
        }
        self.wait_turn()
    }
}

impl PartialEq for Task {
    fn eq(&self, other: &Task) -> bool {
        std::ptr::eq(self, other)
    }
}

/// The number of tasks that watch events.
pub(super) fn watching() -> usize {
    WATCHING.load(Ordering::Relaxed)
}

pub fn same(a: TaskRef, b: TaskRef) -> bool {
    std::ptr::eq(a, b)
}
