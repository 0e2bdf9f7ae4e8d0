//! The ticker: an OS thread that ends time slices and detects idleness.
//!
//! *Protocol*
//!
//! 1. At each tick it checks whether a HEC has been used since the last tick.
//! 2. If so, every `switch_ticks` ticks the running threads are asked to yield. In the non-threaded way, at all other
//!    ticks the thread is asked to check for events (`sched/time_slices.rs`).
//!    A deadline between two ticks may have it ask for that, too (`early_poll.rs`).
//! 3. If none is used, the ticker sleeps until a HEC is taken (`sched/ticker_sleep.rs`). So an idle program costs
//!    nothing.
//! 4. In the threaded way it wakes once more, after `idle_delay`. A major collection then looks for deadlocked threads
//!    and returns memory.
//! 5. In the threaded way other threads run during a safe foreign call. In the non-threaded way none can, so the call
//!    counts as part of the time slice. A thread that makes many calls yields as well. The ticker sleeps after that
//!    slice.
//! 6. In the threaded way it makes sure, at each tick, that a task sees to the events of every HEC: a HEC may have been
//!    left for a foreign call that takes long.
//! 7. If the system refuses the OS thread, a program of the non-threaded way gets its ticks from a timer
//!    (`timer_ticks.rs`).
//!
//! *Checked by* `rts/tests/models/ticker_sleep.rs`, for the sleep.
use super::{early_poll, timer_ticks};
use crate::base::clock::getMonotonicNSec;
use crate::base::fatal;
use crate::base::os_thread;
use crate::hec::GcRequest;
use crate::sched::gc::sync_time;
use crate::sched::handoff::TICKER_SLEEP;
use crate::sched::{gc, handoff, interrupt, stop_world, task_table, time_slices};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Zero: no ticker.
    pub interval: Duration,
    pub switch_ticks: u32,
    /// `None`: no collection when idle.
    pub idle_delay: Option<Duration>,
    /// Least time between two such collections.
    pub idle_every: Duration,
    /// Only with several OS threads can the ticker collect.
    pub threaded: bool,
}

static STOP: AtomicBool = AtomicBool::new(false);
static PAUSED: AtomicBool = AtomicBool::new(false);

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Starts the ticker.
pub fn start(s: Settings) {
    let _ = SETTINGS.set(s);
    STOP.store(false, Ordering::Relaxed);
    if s.interval.is_zero() {
        return;
    }
    match os_thread::start("haskell-ticker", move || run(s)) {
        Ok(_) => {}
        Err(_) if !s.threaded => timer_ticks::start(s.interval, s.switch_ticks),
        Err(e) => fatal::exit_with(1, &format!("cannot start the ticker: {}", fatal::system_error(&e))),
    }
}

/// The schedule of collections of an idle program.
#[derive(Default)]
struct IdleCollections {
    /// The start of the idle time, as far as the ticker has seen.
    since: Option<Instant>,
    /// There was a collection in this idle time.
    done: bool,
    last: Option<Instant>,
}

impl IdleCollections {
    /// Records that a HEC was used.
    fn mark_used(&mut self) {
        self.since = None;
        self.done = false;
    }

    /// The time of the next collection, while no HEC is used. `None`: not before one is used.
    fn due(&mut self, s: &Settings) -> Option<Instant> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let delay = s.idle_delay.filter(|_| s.threaded && !self.done)?;
        // Beyond the range of the clock means never.
        let due = since.checked_add(delay)?;
        match self.last {
            Some(last) => Some(due.max(last.checked_add(s.idle_every)?)),
            None => Some(due),
        }
    }

    /// Collects, unless a HEC is used meanwhile. True if a HEC was acquired for it.
    fn collect(&mut self) -> bool {
        self.done = true;
        self.last = Some(Instant::now());
        let me = task_table::current();
        if !handoff::try_acquire(me) {
            return false;
        }
        // SAFETY: a HEC is held, and no thread runs.
        unsafe {
            if stop_world::stop_if_idle(me) {
                gc::collect_stopped(GcRequest::Major, true);
                stop_world::resume(me);
            }
            handoff::release(me);
        }
        true
    }
}

/// Serves a request to end all threads. If a HEC is in use, its holder does.
fn serve_interrupt(threaded: bool) {
    interrupt::stop_threads();
    let me = task_table::current();
    if threaded && handoff::try_acquire(me) {
        // SAFETY: a HEC is held, and no thread runs on it.
        unsafe {
            interrupt::end_threads(me);
            handoff::release(me);
        }
    }
}

fn run(s: Settings) {
    let (mut seen, mut idle_ticks, mut ticks) = (usize::MAX, 0, 0);
    let mut idle = IdleCollections::default();
    let stopped = || STOP.load(Ordering::Relaxed);
    let paused = || PAUSED.load(Ordering::Relaxed);
    let serve = || {
        if s.threaded {
            handoff::ensure_all_served();
        }
    };
    while !stopped() {
        let end = getMonotonicNSec().saturating_add(s.interval.as_nanos() as u64);
        while early_poll::sleep_until(end) {
            time_slices::request_early_polls(s.threaded);
        }
        if interrupt::is_requested() {
            serve_interrupt(s.threaded);
        }
        if paused() {
            TICKER_SLEEP.sleep(|| paused() && !stopped() && !interrupt::is_requested(), None);
            serve();
            continue;
        }
        serve();
        let now = handoff::take_count();
        if handoff::any_held() || now != seen {
            seen = now;
            idle_ticks = 0;
            idle.mark_used();
            sync_time::tick();
            ticks += 1;
            if ticks >= s.switch_ticks {
                ticks = 0;
                time_slices::end_all(s.threaded);
            } else {
                time_slices::request_polls(s.threaded);
            }
            continue;
        }
        if !s.threaded && idle_ticks < s.switch_ticks {
            idle_ticks += 1;
            if idle_ticks == s.switch_ticks {
                time_slices::end_all(false);
            }
            continue;
        }
        let mut due = idle.due(&s);
        if due.is_some_and(|due| due <= Instant::now()) {
            // The ticker itself has acquired a HEC.
            seen = seen.wrapping_add(idle.collect() as usize);
            due = None;
        }
        let unused =
            || !handoff::any_held() && handoff::take_count() == seen && !(s.threaded && handoff::any_needs_task());
        TICKER_SLEEP.sleep(|| unused() && !stopped() && !paused() && !interrupt::is_requested(), due);
        // A signal may have woken the ticker.
        serve();
    }
}

pub fn stop() {
    STOP.store(true, Ordering::Relaxed);
    TICKER_SLEEP.wake();
    timer_ticks::stop();
}

/// Starts the ticker again in the child of a fork, where its thread is gone.
pub fn restart() {
    PAUSED.store(false, Ordering::Relaxed);
    TICKER_SLEEP.after_fork();
    if let Some(&s) = SETTINGS.get() {
        start(s);
    }
}

/// Pauses or resumes ticking (`stopTimer`, `startTimer`), around a fork for example.
pub fn pause(yes: bool) {
    PAUSED.store(yes, Ordering::Relaxed);
    timer_ticks::pause(yes);
    if !yes {
        TICKER_SLEEP.wake();
    }
}
