//! Ticks of the non-threaded way without an OS thread: a timer that sends a signal.
//!
//! The system may refuse a second OS thread (`ulimit -u`, the limit of a container). Then this timer does what the
//! ticker does. If there is no timer or no free signal either, the program runs without time slices.
//!
//! *Invariants*
//!
//! - The timer counts CPU time. So there is no tick while the program waits, and no waiting system call is interrupted.
//! - Foreign calls that wait are not counted by it. They are checked when they end (`sched/time_slices.rs`).
//! - The signal is the last unused real-time signal, because a program may use SIGVTALRM and SIGPROF itself.
use crate::sched::time_slices;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// The number of the timer plus one; 0 if there is none.
static TIMER: AtomicUsize = AtomicUsize::new(0);
static PAUSED: AtomicBool = AtomicBool::new(false);
/// Ticks of a time slice, and ticks since the last one ended.
static SWITCH_TICKS: AtomicU32 = AtomicU32::new(1);
static TICKS: AtomicU32 = AtomicU32::new(0);

/// Starts ticking, if the system allows it.
pub fn start(interval: Duration, switch_ticks: u32) {
    SWITCH_TICKS.store(switch_ticks, Ordering::Relaxed);
    PAUSED.store(false, Ordering::Relaxed);
    time_slices::count_calls(interval.saturating_mul(switch_ticks));
    // SAFETY: the handler is async-signal-safe, and `timer` is written before it is read.
    unsafe {
        let Some(signal) = take_signal() else { return };
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = signal;
        let mut timer: libc::timer_t = std::ptr::null_mut();
        if libc::timer_create(libc::CLOCK_PROCESS_CPUTIME_ID, &mut event, &mut timer) == 0 {
            TIMER.store(timer as usize + 1, Ordering::Relaxed);
            set(interval);
        }
    }
}

unsafe fn set(interval: Duration) {
    let Some(timer) = TIMER.load(Ordering::Relaxed).checked_sub(1) else { return };
    let time =
        libc::timespec { tv_sec: interval.as_secs() as libc::time_t, tv_nsec: interval.subsec_nanos() as libc::c_long };
    let times = libc::itimerspec { it_interval: time, it_value: time };
    libc::timer_settime(timer as libc::timer_t, 0, &times, std::ptr::null_mut());
}

/// A signal that the program does not use, with the handler of this module.
unsafe fn take_signal() -> Option<i32> {
    let is_free = |&signal: &i32| {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut old) == 0
            && (old.sa_sigaction == libc::SIG_DFL || old.sa_sigaction == tick as *const () as usize)
    };
    let signal = (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev().find(is_free)?;
    let mut action: libc::sigaction = std::mem::zeroed();
    action.sa_sigaction = tick as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    if libc::sigaction(signal, &action, std::ptr::null_mut()) != 0 {
        return None;
    }
    let mut mask = std::mem::zeroed();
    libc::sigemptyset(&mut mask);
    libc::sigaddset(&mut mask, signal);
    libc::pthread_sigmask(libc::SIG_UNBLOCK, &mask, std::ptr::null_mut());
    Some(signal)
}

extern "C" fn tick(_signal: i32) {
    // Only clocks, which cannot fail, and atomics: `errno` is preserved.
    if PAUSED.load(Ordering::Relaxed) {
        return;
    }
    let ticks = TICKS.load(Ordering::Relaxed) + 1;
    if ticks >= SWITCH_TICKS.load(Ordering::Relaxed) {
        TICKS.store(0, Ordering::Relaxed);
        time_slices::end_one();
    } else {
        TICKS.store(ticks, Ordering::Relaxed);
        time_slices::request_polls(false);
    }
}

/// Pauses or resumes ticking.
pub fn pause(yes: bool) {
    PAUSED.store(yes, Ordering::Relaxed);
}

/// Stops ticking at the end of the program.
pub fn stop() {
    // SAFETY: the timer is this module's; set to zero it stops.
    unsafe { set(Duration::ZERO) }
}
