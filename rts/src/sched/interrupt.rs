//! Interrupting the program: `interruptStgRts` ends every Haskell thread.
//!
//! No handler and no finalizer of `Control.Exception` runs. In-calls return [`Interrupted`](super::in_call::Status),
//! and so does every later one, until the program ends. A thread in a foreign call ends after the call, when the
//! scheduler runs it.
//!
//! *Protocol*
//! ```text
//!     RUNNING ---- request ----> REQUESTED ---- end_threads ----> INTERRUPTED
//! ```
//! 1. [`request`] sets the state to `REQUESTED`, stops the running threads at their next heap check, and wakes the
//!    ticker. It takes no lock, so a signal handler may call it.
//! 2. A task that returns to the scheduler's loop, or the ticker when no HEC is in use, stops the world. It ends every
//!    thread that is not in a foreign call, and sets the state to `INTERRUPTED` ([`end_threads`]).
//! 3. From then on the scheduler [ends](end_thread) each thread instead of running it.
//!
//! *Invariant*: a request may come at any moment while the ticker or an idle task is about to sleep. Both check for a
//! request after they have announced their sleep (`ticker_sleep.rs`, [`sleep_unless_requested`]).
use crate::abi::layout::*;
use crate::abi::Tso;
use crate::eval::raise_async::raise_async;
use crate::hec::{self, Hec};
use crate::sched::task::TaskRef;
use crate::sched::{bound_threads, handoff, lenient, spark, stop_world, time_slices};
use crate::sync::throwto::finished;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

const RUNNING: u8 = 0;
const REQUESTED: u8 = 1;
const INTERRUPTED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(RUNNING);
/// In the non-threaded way: the `tid` of the OS thread that waits for events in a system call, or 0.
static SLEEPER: AtomicI32 = AtomicI32::new(0);

/// Requests that all threads be ended. Async-signal-safe; any OS thread may call this.
pub fn request() {
    if STATE.compare_exchange(RUNNING, REQUESTED, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        stop_threads();
        handoff::TICKER_SLEEP.wake();
    }
}

/// Stops what keeps the scheduler from seeing the request: running threads, and in the non-threaded way the system call
/// of an idle program. The ticker repeats this until the request has been seen.
pub fn stop_threads() {
    for no in 0..hec::count() {
        // SAFETY: accesses atomics of a HEC that exists.
        time_slices::end(unsafe { &*hec::address(no) });
    }
    let sleeper = SLEEPER.load(Ordering::SeqCst);
    if sleeper != 0 {
        // SAFETY: the signal has a handler that does nothing. A thread that has ended is not found.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), sleeper, libc::SIGVTALRM) };
    }
}

/// Is there a request that no task has served yet?
pub fn is_requested() -> bool {
    STATE.load(Ordering::SeqCst) == REQUESTED
}

/// Have all threads been ended?
pub fn has_ended_threads() -> bool {
    STATE.load(Ordering::Relaxed) == INTERRUPTED
}

/// Runs `sleep`, a system call that a signal ends. Its argument says whether there is a request already. All signals
/// are blocked, and the system call unblocks them.
pub fn sleep_unless_requested<R>(sleep: impl FnOnce(bool) -> R) -> R {
    // SAFETY: the number of the calling OS thread.
    SLEEPER.store(unsafe { libc::gettid() }, Ordering::SeqCst);
    let result = sleep(is_requested());
    SLEEPER.store(0, Ordering::SeqCst);
    result
}

/// Serves a request: stops the world and ends all threads that are not in a foreign call.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn end_threads(me: TaskRef) {
    while is_requested() {
        if !stop_world::stop(me) {
            continue;
        }
        if is_requested() {
            let hec = super::hec();
            let all: Vec<Tso> = bound_threads::every_thread().collect();
            let in_call =
                |t: Tso| matches!(t.obj().why_blocked as usize, BlockedOnCCall | BlockedOnCCall_Interruptible);
            for t in all.into_iter().filter(|&t| !finished(t) && !in_call(t)) {
                end_thread(hec, t);
            }
            stop_world::hecs().into_iter().for_each(|h| {
                spark::clear(h);
                lenient::clear(h);
            });
            STATE.store(INTERRUPTED, Ordering::SeqCst);
        }
        stop_world::resume(me);
    }
}

/// Ends one thread, without handlers.
/// # Safety
/// `t` is at rest, has not finished, and is in no foreign call. The caller holds `hec`, and either the world is stopped
/// or `hec` owns `t`.
pub(super) unsafe fn end_thread(hec: &mut Hec, t: Tso) {
    raise_async(hec, t, None);
}

/// Resets the state in the child of a fork: a request was for the parent.
pub fn after_fork() {
    STATE.store(RUNNING, Ordering::SeqCst);
    SLEEPER.store(0, Ordering::SeqCst);
}
