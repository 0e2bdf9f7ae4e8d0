//! External events, for the scheduler: signals, time and descriptors. A folder above handles them; the scheduler calls
//! it between threads, and when it has nothing to run.
use crate::hec::{Hec, MAX_HECS};
use crate::sched::stuck_hecs;
use crate::sched::watch::Watch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::LazyLock;
use std::time::Duration;

/// What handles events.
#[derive(Clone, Copy)]
pub struct EventManager {
    /// Starts handlers of signals that have arrived, and wakes threads whose delay has expired or whose descriptor is
    /// ready. If `idle`, no thread is runnable. In the non-threaded way it then waits for such an event, and returns
    /// false if none can come. Otherwise it does not block, and returns whether threads have become runnable.
    pub poll: unsafe fn(hec: &mut Hec, idle: bool) -> bool,
    /// The same for the events of the HEC of this number, without blocking, on behalf of that HEC.
    pub poll_for: unsafe fn(hec: &mut Hec, no: usize),
    /// Looks, without blocking and without a HEC, whether there are events for the HEC of this number.
    pub look: fn(no: usize) -> bool,
    /// Sleeps until there are events for the HEC of this number, or until [`EventManager::wake`]. Needs no HEC.
    pub sleep: fn(no: usize) -> Slept,
    /// Ends this sleep, or the next one. Async-signal-safe.
    pub wake: fn(no: usize),
    /// Has the shared watcher watch the events of the HEC of this number, until it calls `handoff::end_shared_watch`.
    /// The caller holds the HEC. False if it cannot.
    pub join_shared_watch: fn(no: usize) -> bool,
}

/// How a sleep has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slept {
    /// There are events.
    Events,
    /// The task was woken, or by chance.
    Woken,
    /// The system has no descriptors left to sleep with. The next deadline is after this time.
    NoPoller(Option<Duration>),
}

static mut MANAGER: Option<EventManager> = None;

/// Signals wait for their handlers.
static SIGNALS: AtomicBool = AtomicBool::new(false);

static ALWAYS_WATCH_FIRST: AtomicBool = AtomicBool::new(false);

static WATCHES: LazyLock<Box<[Watch]>> = LazyLock::new(|| (0..MAX_HECS).map(|_| Watch::new()).collect());

/// After this many switches of threads the scheduler polls.
pub const SWITCHES: u32 = 64;

/// # Safety
/// Called once at start.
pub unsafe fn init(manager: EventManager) {
    MANAGER = Some(manager);
}

fn manager() -> Option<EventManager> {
    // SAFETY: written at start.
    unsafe { MANAGER }
}

/// Signals have arrived, or have been handled. Signal handlers may call this.
pub fn set_signals(pending: bool) {
    SIGNALS.store(pending, Ordering::SeqCst);
}

pub fn has_signals() -> bool {
    SIGNALS.load(Ordering::SeqCst)
}

pub(super) fn watch(no: usize) -> &'static Watch {
    &WATCHES[no]
}

/// The number of waits in the loop of HEC `no` has changed. Called under the loop's lock.
pub fn set_waits(no: usize, n: usize) {
    let signals = no == 0 && ALWAYS_WATCH_FIRST.load(Ordering::Relaxed);
    WATCHES[no].set_waits(n + signals as usize);
}

/// A task that watched has left events for the holder of HEC `no`, or they have been handled.
pub fn set_events(no: usize, any: bool) {
    WATCHES[no].set_events(any);
}

pub(super) fn has_events(no: usize) -> bool {
    WATCHES[no].has_events()
}

/// Are there waits in the loop of HEC `no`?
#[inline]
pub fn has_waits(no: usize) -> bool {
    WATCHES[no].has_waits()
}

/// May events come for HEC `no`, or have some come for a HEC that cannot serve them?
#[inline]
pub(super) fn is_expected(no: usize) -> bool {
    no == 0 && has_signals() || has_waits(no) || stuck_hecs::any()
}

/// May events come for HEC `no`, and is it time to look for them? Called between threads.
#[inline]
pub(super) fn is_due(hec: &mut Hec) -> bool {
    let no = hec.no as usize;
    if no == 0 && SIGNALS.load(Ordering::Relaxed) {
        return true;
    }
    if !has_waits(no) {
        return false;
    }
    hec.switches_until_poll = hec.switches_until_poll.saturating_sub(1);
    hec.switches_until_poll == 0
}

/// Do events for HEC `no` lack a task that sees to them, as long as no task holds it?
pub(super) fn needs_task(no: usize) -> bool {
    no == 0 && has_signals() || WATCHES[no].needs_watcher()
}

/// Handles events, as [`EventManager::poll`] says.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub(super) unsafe fn poll(hec: &mut Hec, idle: bool) -> bool {
    hec.switches_until_poll = SWITCHES;
    let Some(m) = manager() else { return false };
    let waiting = hec.runnable();
    stuck_hecs::take().for_each(|no| (m.poll_for)(hec, no));
    let rescued = hec.runnable() > waiting;
    (m.poll)(hec, idle && !rescued) || rescued
}

/// Are there events for HEC `no` now? Does not block, and needs no HEC.
pub(super) fn look(no: usize) -> bool {
    no == 0 && has_signals() || has_waits(no) && manager().is_some_and(|m| (m.look)(no))
}

pub(super) fn sleep(no: usize) -> Slept {
    manager().map_or(Slept::Woken, |m| (m.sleep)(no))
}

/// Has the shared watcher watch the events of HEC `no`, as [`EventManager::join_shared_watch`] says.
pub(super) fn join_shared_watch(no: usize) -> bool {
    manager().is_some_and(|m| (m.join_shared_watch)(no))
}

/// Ends the sleep of a task that watches the loop of HEC `no`. Async-signal-safe.
pub fn wake(no: usize) {
    if let Some(m) = manager() {
        (m.wake)(no);
    }
}

/// The first HEC counts as one with waits from now on: without a ticker, a task must always be there for signals.
pub fn always_watch_first() {
    ALWAYS_WATCH_FIRST.store(true, Ordering::Relaxed);
    set_waits(0, 0);
}

/// In the child of a fork: nothing waits, and no task watches.
pub fn after_fork() {
    WATCHES.iter().for_each(Watch::after_fork);
    stuck_hecs::after_fork();
    set_signals(false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_stays_due_until_it_is_done() {
        let no = MAX_HECS - 1;
        let mut hec = Hec::new(no as u32);
        hec.switches_until_poll = 2;
        set_waits(no, 1);
        let due = [0; 4].map(|_| is_due(&mut hec));
        set_waits(no, 0);
        assert_eq!(due, [false, true, true, true]);
    }
}
