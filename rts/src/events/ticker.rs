//! The ticker: one OS thread that gives runnable threads their turns and notices idleness.
//!
//! Every tick it looks whether the HEC has been used since the last one. While it is, every
//! `switch_ticks` ticks the running thread is asked to give way. When it has not been for
//! `idle_delay`, one major collection looks for deadlocked threads and gives memory back; after
//! that the ticker sleeps until somebody uses the HEC again, so an idle program costs nothing.
//! (In the non-threaded way the main thread keeps the HEC while it waits, and the ticker ticks on.)
//!
//! In the threaded way others run while a thread is in a safe foreign call. In the non-threaded way nobody can, so that the call is a part
//! of the thread's time slice: a thread that does little else gives way as well.
use crate::crowd::CROWD;
use crate::hec::{self, GcRequest, TIME_IS_UP};
use crate::os_thread;
use crate::sched::seat::DOZE;
use crate::sched::{collect, gc_sync, roll, seat, world};
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
    let started = os_thread::start("haskell-ticker", move || run(s));
    if let Err(e) = started {
        crate::observe::fatal::exit_with(1, &format!("cannot start the ticker: {e}"));
    }
}

fn run(s: Settings) {
    let idle_ticks = s.idle_delay.map(|d| (d.as_nanos() / s.interval.as_nanos().max(1)).max(1) as u64);
    let slice = u64::from(s.switch_ticks);
    let (mut seen, mut quiet, mut ticks) = (usize::MAX, 0u64, 0u32);
    // Has this spell of idleness been collected, and when was the last one?
    let (mut collected, mut last) = (false, None::<Instant>);
    while !STOP.load(Ordering::Relaxed) {
        std::thread::sleep(s.interval);
        if PAUSED.load(Ordering::Relaxed) {
            continue;
        }
        let now = seat::times_taken();
        if seat::busy() || now != seen {
            seen = now;
            quiet = 0;
            collected = false;
            gc_sync::tick();
            ticks += 1;
            if ticks >= s.switch_ticks {
                ticks = 0;
                end_time_slices(s.threaded);
            }
            continue;
        }
        quiet += 1;
        if !s.threaded && quiet == slice {
            end_time_slices(false);
        }
        let wanted = s.threaded && idle_ticks.is_some_and(|ticks| quiet >= ticks);
        if wanted && !collected && last.is_none_or(|t| t.elapsed() >= s.idle_every) {
            collected = true;
            last = Some(Instant::now());
            let me = roll::me();
            if seat::try_acquire(me) {
                // That was us.
                seen = seen.wrapping_add(1);
                // SAFETY: a HEC is held, and no thread runs.
                unsafe {
                    if world::stop_if_idle(me) {
                        collect::collect_stopped(GcRequest::Major, true);
                        world::go_on(me);
                    }
                    seat::release(me);
                }
            }
        }
        if quiet > idle_ticks.unwrap_or(0).max(16).max(slice) && (collected || !wanted) {
            DOZE.sleep(|| !seat::busy() && seat::times_taken() == seen && !STOP.load(Ordering::Relaxed));
            quiet = 0;
        }
    }
}

/// Asks all running threads to give way. A HEC whose thread has been asked before and has not yet
/// is stuck. In the non-threaded way the thread that runs may be in a foreign call, and nobody hold the HEC.
fn end_time_slices(threaded: bool) {
    let mut stuck = 0;
    for no in (0..hec::count()).filter(|&no| !threaded || seat::is_held(no)) {
        // SAFETY: two atomics of a HEC that exists.
        let h = unsafe { &*hec::address(no) };
        stuck += (h.context_switch.swap(TIME_IS_UP, Ordering::Relaxed) == TIME_IS_UP) as usize;
        h.interrupt();
    }
    CROWD.set_stuck(stuck);
}

pub fn stop() {
    STOP.store(true, Ordering::Relaxed);
    DOZE.wake();
}

/// Starts again in the child of a fork, where the thread is gone.
pub fn restart() {
    PAUSED.store(false, Ordering::Relaxed);
    DOZE.after_fork();
    if let Some(&s) = SETTINGS.get() {
        start(s);
    }
}

/// Suspends and resumes ticking (`stopTimer`, `startTimer`): around a fork, for example.
pub fn pause(yes: bool) {
    PAUSED.store(yes, Ordering::Relaxed);
}
