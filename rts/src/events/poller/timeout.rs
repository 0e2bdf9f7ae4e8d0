//! How long a wait may take.
use std::cell::Cell;
use std::ptr::null;
use std::time::{Duration, Instant};

/// A timeout as system calls take it. The system's rounding is turned off for this OS thread.
pub struct Timespec(Option<libc::timespec>);

impl Timespec {
    /// For ever if there is no timeout.
    pub fn new(timeout: Option<Duration>) -> Timespec {
        if timeout.is_some_and(|timeout| !timeout.is_zero()) {
            set_timer_slack();
        }
        Timespec(timeout.map(|timeout| libc::timespec {
            tv_sec: timeout.as_secs().min(libc::time_t::MAX as u64) as libc::time_t,
            tv_nsec: timeout.subsec_nanos() as libc::c_long,
        }))
    }
    pub fn get(&self) -> Option<libc::timespec> {
        self.0
    }
    pub fn as_ptr(&self) -> *const libc::timespec {
        self.0.as_ref().map_or(null(), |t| t as *const libc::timespec)
    }
}

/// Has the system wake this OS thread when a timeout ends, and not up to 50 µs later, which is how it saves power.
fn set_timer_slack() {
    thread_local!(static SET: Cell<bool> = const { Cell::new(false) });
    if !SET.replace(true) {
        // SAFETY: no memory is touched. If it fails, waits take a little longer.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
    }
}

/// A timeout of a wait that takes several system calls.
pub struct Deadline {
    /// None if there is none, or if the wait does not block.
    end: Option<Instant>,
    timeout: Option<Duration>,
}

impl Deadline {
    pub fn new(timeout: Option<Duration>) -> Deadline {
        let sleeps = timeout.filter(|timeout| !timeout.is_zero());
        // What is too long for the clock is for ever.
        Deadline { end: sleeps.and_then(|timeout| Instant::now().checked_add(timeout)), timeout }
    }
    /// The time that is left.
    pub fn left(&self) -> Option<Duration> {
        match self.end {
            Some(end) => Some(end.saturating_duration_since(Instant::now())),
            None => self.timeout.filter(Duration::is_zero),
        }
    }
}
