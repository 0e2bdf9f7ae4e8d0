//! The ticker: one OS thread that gives runnable threads their turns and notices idleness.
//!
//! Every tick it looks whether a HEC has been used since the last one. While one is, every `switch_ticks` ticks the
//! running threads are asked to give way, and in the non-threaded way at each other tick to look for events
//! (`sched/time_slices.rs`). When none is used the ticker sleeps (`sched/ticker_sleep.rs`) until somebody takes one, so
//! an idle program costs nothing. In the threaded way it wakes up once more, after `idle_delay`: one major collection
//! looks for deadlocked threads and gives memory back.
//!
//! In the threaded way others run while a thread is in a safe foreign call. In the non-threaded way nobody can, so that
//! the call is a part of the thread's time slice: a thread that does little else gives way as well. The ticker sleeps
//! after that slice.
//!
//! Where the system has no OS thread for it, a program of the non-threaded way gets its ticks from a timer
//! (`timer_ticks.rs`).
use super::timer_ticks;
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
    /// Zero: no ticker at all.
    pub interval: Duration,
    pub switch_ticks: u32,
    /// `None`: no collection when idle.
    pub idle_delay: Option<Duration>,
    /// At least so long between two of those.
    pub idle_every: Duration,
    /// Only with several OS threads can an idle HEC be collected from here.
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

/// When an idle program is collected.
#[derive(Default)]
struct IdleCollections {
    /// Since when no HEC has been used, as far as the ticker has seen.
    since: Option<Instant>,
    /// This spell of idleness has been collected.
    done: bool,
    last: Option<Instant>,
}

impl IdleCollections {
    /// A HEC has been used.
    fn used(&mut self) {
        self.since = None;
        self.done = false;
    }

    /// None is used now: when is it time? `None`: not before one has been used.
    fn due(&mut self, s: &Settings) -> Option<Instant> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let delay = s.idle_delay.filter(|_| s.threaded && !self.done)?;
        // Too late to be told is never.
        let due = since.checked_add(delay)?;
        match self.last {
            Some(last) => Some(due.max(last.checked_add(s.idle_every)?)),
            None => Some(due),
        }
    }

    /// Collects, if no HEC is used meanwhile. True if a HEC has been taken for it.
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

/// Sees to it that a request to end all threads is served. A HEC that is in use has a holder who does.
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
    let (mut seen, mut quiet, mut ticks) = (usize::MAX, 0, 0);
    let mut idle = IdleCollections::default();
    let stopped = || STOP.load(Ordering::Relaxed);
    let paused = || PAUSED.load(Ordering::Relaxed);
    while !stopped() {
        std::thread::sleep(s.interval);
        if interrupt::is_requested() {
            serve_interrupt(s.threaded);
        }
        if paused() {
            TICKER_SLEEP.sleep(|| paused() && !stopped() && !interrupt::is_requested(), None);
            continue;
        }
        let now = handoff::take_count();
        if handoff::any_held() || now != seen {
            seen = now;
            quiet = 0;
            idle.used();
            sync_time::tick();
            ticks += 1;
            if ticks >= s.switch_ticks {
                ticks = 0;
                time_slices::end_all(s.threaded);
            } else if !s.threaded {
                time_slices::request_poll();
            }
            continue;
        }
        if !s.threaded && quiet < s.switch_ticks {
            quiet += 1;
            if quiet == s.switch_ticks {
                time_slices::end_all(false);
            }
            continue;
        }
        let mut due = idle.due(&s);
        if due.is_some_and(|due| due <= Instant::now()) {
            // That was us.
            seen = seen.wrapping_add(idle.collect() as usize);
            due = None;
        }
        let unused = || !handoff::any_held() && handoff::take_count() == seen;
        TICKER_SLEEP.sleep(|| unused() && !stopped() && !paused() && !interrupt::is_requested(), due);
    }
}

pub fn stop() {
    STOP.store(true, Ordering::Relaxed);
    TICKER_SLEEP.wake();
    timer_ticks::stop();
}

/// Starts again in the child of a fork, where the thread is gone.
pub fn restart() {
    PAUSED.store(false, Ordering::Relaxed);
    TICKER_SLEEP.after_fork();
    if let Some(&s) = SETTINGS.get() {
        start(s);
    }
}

/// Suspends and resumes ticking (`stopTimer`, `startTimer`): around a fork, for example.
pub fn pause(yes: bool) {
    PAUSED.store(yes, Ordering::Relaxed);
    timer_ticks::pause(yes);
    if !yes {
        TICKER_SLEEP.wake();
    }
}
