//! The event loop of a HEC: threads that wait for time or for descriptors, and timers (\[OT10\]; `docs/events.md`).
//!
//! *Protocol*
//!
//! 1. A thread comes to rest and is parked at a wait node (`waits.rs`). The frame on top of its stack has a status
//!    word, which the waker writes. Timers are nodes as well (`timeouts.rs`).
//! 2. A descriptor is registered with a poller once, edge-triggered. A wait on one that is registered already is
//!    *unverified*: if it stays unanswered, the poller is asked to report again what is ready (`unverified.rs`).
//! 3. The holder of the HEC serves the loop ([`poll`]): it wakes the threads whose descriptors are ready or whose
//!    deadlines have come, and runs timers.
//! 4. A task that watches the loop sleeps in its poller ([`sleep`]). It keeps what it is told in `pending`, for the
//!    holder.
//!
//! *Locking*: each loop has a lock, row 3 of the lock order. Locks of threads are taken under it.
use crate::abi::Closure;
use crate::base::clock::getMonotonicNSec;
use crate::base::once_ptr::{get_or_make, get_or_try_make};
use crate::collector::roots::{Scope, Visitor};
use crate::events::descriptors;
use crate::events::descriptors::Descriptor;
use crate::events::early_poll;
use crate::events::loop_state::{registered, waiter, State, READY, TIMED_OUT};
use crate::events::poller::{Interest, Poller, Ready, Waited};
use crate::events::selection;
use crate::events::unverified;
use crate::events::wait_nodes::{Handle, Kind};
use crate::events::wheel_time;
use crate::hec;
use crate::hec::byte_budget::virtual_time;
use crate::hec::fork_safe_lock::Lock;
use crate::hec::{Hec, MAX_HECS};
use crate::observe::eventlog::waits::{wait_began, Awaited};
use crate::observe::stats::EventCounts;
use crate::sched::event_poll;
use crate::sched::event_poll::Slept;
use crate::sched::{handoff, safe_call, settings};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::MutexGuard;
use std::time::Duration;

/// The most nodes that one poll fires: threads that run already should not wait for longer.
const BATCH: usize = 1024;

/// While something from outside may come, virtual time passes in steps of at most this length.
const VIRTUAL_STEP: Duration = Duration::from_millis(10);

pub(super) struct EventLoop {
    no: usize,
    /// Made when it is first needed.
    poller: AtomicPtr<Poller>,
    state: Lock<State>,
}

static LOOPS: [AtomicPtr<EventLoop>; MAX_HECS] = [const { AtomicPtr::new(null_mut()) }; MAX_HECS];

pub(super) fn event_loop(no: usize) -> &'static EventLoop {
    get_or_make(&LOOPS[no], || EventLoop::new(no))
}

fn existing(no: usize) -> Option<&'static EventLoop> {
    // SAFETY: a loop is never freed.
    unsafe { LOOPS[no].load(Ordering::Acquire).as_ref() }
}

fn status_of(e: &std::io::Error) -> isize {
    e.raw_os_error().unwrap_or(libc::EINVAL) as isize
}

/// Event data of a descriptor: its number, and the generation of its registration.
fn data_of(fd: i32, generation: u32) -> u64 {
    (generation as u64) << 32 | fd as u32 as u64
}

impl EventLoop {
    fn new(no: usize) -> EventLoop {
        EventLoop { no, poller: AtomicPtr::new(null_mut()), state: Lock::new(State::new(no)) }
    }

    /// The number of its HEC.
    pub fn no(&self) -> usize {
        self.no
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The poller, made at the first call. Fails if the system has no descriptors left.
    fn poller(&self) -> std::io::Result<&Poller> {
        // It is freed only in the child of a fork.
        get_or_try_make(&self.poller, selection::new_poller)
    }

    pub fn existing_poller(&self) -> Option<&Poller> {
        // SAFETY: as above.
        unsafe { self.poller.load(Ordering::Acquire).as_ref() }
    }

    /// Does the poller report whatever becomes ready, without being asked again?
    pub fn has_edges(&self) -> bool {
        self.existing_poller().is_none_or(|poller| poller.kind().has_edges())
    }

    /// Registers a descriptor for these events and those that were awaited before. What is ready is reported. The error
    /// is the system's: the status of what waits.
    pub fn register(&self, fd: i32, d: &Descriptor, want: Interest) -> Result<(), isize> {
        let poller = self.poller().map_err(|e| status_of(&e))?;
        d.next_generation();
        d.interest.set(d.interest.get() | want);
        let data = data_of(fd, d.generation.get());
        let result = match poller.add(fd, data, d.interest.get()) {
            Err(e) if e.raw_os_error() == Some(libc::EEXIST) => poller.verify(fd, data, d.interest.get()),
            result => result,
        };
        d.registered.set(result.is_ok());
        result.map_err(|e| status_of(&e))
    }

    /// Takes a descriptor from the poller. Events that the poller has reported already are dropped.
    pub fn deregister(&self, fd: i32, d: &Descriptor) {
        d.interest.set(Interest::NONE);
        if d.registered.replace(false) {
            d.next_generation();
            if let Some(poller) = self.existing_poller() {
                poller.remove(fd);
            }
        }
    }

    /// Has the poller report again what is ready of a registered descriptor, also for the events `want`. If C code has
    /// closed the number, and perhaps the system has given it out again, it is registered anew.
    pub fn verify(&self, fd: i32, d: &Descriptor, want: Interest) -> Result<(), isize> {
        let Some(poller) = self.existing_poller() else { return Ok(()) };
        d.interest.set(d.interest.get() | want);
        match poller.verify(fd, data_of(fd, d.generation.get()), d.interest.get()) {
            Ok(()) => Ok(()),
            Err(_) => self.register(fd, d, want),
        }
    }

    /// What the poller reports now.
    fn reported(&self) -> Vec<Ready> {
        let mut ready = Vec::new();
        if let Some(poller) = self.existing_poller() {
            wait(poller, &mut ready, Some(Duration::ZERO));
        }
        ready
    }

    /// What has been registered and verified takes effect, also while no task sleeps in the poller.
    pub fn flush(&self) {
        if let Some(poller) = self.existing_poller() {
            poller.flush();
        }
    }

    /// Publishes for the scheduler how much waits here.
    pub fn publish(&self, st: &State) {
        event_poll::set_waits(self.no, st.nodes.used());
        event_poll::set_events(self.no, !st.pending.is_empty());
    }

    /// Adds a node that fires after a number of microseconds.
    /// # Safety
    /// The target fits the kind.
    pub unsafe fn add_timer(&self, st: &mut State, kind: Kind, target: Closure, micros: isize) -> Handle {
        st.counts.timers += 1;
        wait_began(self.no as u32, || (waiter(kind, target), Awaited::Microseconds(micros)));
        let index = st.new_node(kind, target, -1, 0);
        self.publish(st);
        self.set_timer(st, index, micros);
        st.nodes.handle(index)
    }

    /// Has a node fire after a number of microseconds.
    pub fn set_timer(&self, st: &mut State, index: u32, micros: isize) {
        let deadline = wheel_time::after(micros);
        st.nodes.node(index).timed = true;
        st.wheel.insert(&mut st.nodes, index, deadline);
        self.on_deadline(st, deadline);
    }

    /// A deadline has been set: a task that sleeps for longer is woken.
    pub fn on_deadline(&self, st: &mut State, deadline: u64) {
        if st.watched_until.is_some_and(|until| deadline < until) {
            st.watched_until = Some(deadline);
            wake(self.no);
        }
        if self.is_for_user_scheduler() {
            early_poll::by(wheel_time::start_of(deadline));
        }
    }

    fn is_for_user_scheduler(&self) -> bool {
        // SAFETY: the HEC of a loop exists, and only an atomic of it is used.
        unsafe { &*hec::address(self.no) }.user_slot.is_used()
    }

    /// Verifies waits that have not been answered: all, or those that are old enough.
    /// # Safety
    /// As for [`State::fire`].
    unsafe fn verify_unanswered(&self, hec: &mut Hec, st: &mut State, all: bool) {
        if st.unverified.is_empty() {
            return;
        }
        while let Some(index) = st.unverified.take(&mut st.nodes, all) {
            let fd = st.nodes.node(index).fd;
            let Some(d) = descriptors::of(fd).filter(|d| d.registered.get()) else { continue };
            st.counts.verified += 1;
            if let Err(status) = self.verify(fd, d, Interest::NONE) {
                st.fire_events(hec, d, Interest::BOTH, status);
            }
        }
    }

    /// In the non-threaded way closes are not seen: `base` tells its event manager only with `-threaded`. So when
    /// nothing has fired for as long as a wait stays unverified, all descriptors with waiters are verified, once. A
    /// number that is not open ends its waits, and one that means another file is registered anew.
    /// # Safety
    /// As for [`State::fire`].
    unsafe fn reverify(&self, hec: &mut Hec, st: &mut State, idle: bool, fired: bool) {
        let activity = st.counts.activity();
        if idle && !fired && st.descriptor_waits != 0 && activity != st.reverify_after {
            st.reverify_after = activity;
            st.reverify_at = Some(wheel_time::now() + unverified::AFTER);
        } else if fired {
            st.reverify_at = None;
        } else if st.reverify_at.is_some_and(|at| at <= wheel_time::now()) {
            st.reverify_at = None;
            for (fd, d) in descriptors::waited_for(self.no) {
                st.counts.verified += 1;
                if let Err(status) = self.verify(fd, d, Interest::NONE) {
                    st.fire_events(hec, d, Interest::BOTH, status);
                }
            }
        }
    }

    /// Registers a descriptor for the nodes that wait for it.
    /// # Safety
    /// As for [`State::fire`].
    pub unsafe fn register_again(&self, hec: &mut Hec, st: &mut State, fd: i32, d: &Descriptor) {
        if let Err(status) = self.register(fd, d, Interest::BOTH) {
            st.fire_events(hec, d, Interest::BOTH, status);
        }
    }

    /// Wakes threads and runs timers. Returns how many.
    /// # Safety
    /// The caller holds `hec`.
    unsafe fn serve(&self, hec: &mut Hec, st: &mut State, ready: &[Ready]) -> usize {
        let mut fired = 0;
        let pending = std::mem::take(&mut st.pending);
        for event in pending.iter().chain(ready) {
            if let Some(d) = registered(event, self.no) {
                fired += st.fire_events(hec, d, event.events, READY);
            }
        }
        if !st.wheel.is_empty() {
            let now = wheel_time::now();
            while fired < BATCH {
                let Some(index) = st.wheel.pop_expired(&mut st.nodes, now) else { break };
                let node = st.nodes.node(index);
                node.timed = false;
                let status = if node.fd >= 0 { TIMED_OUT } else { READY };
                st.fire(hec, index, status);
                fired += 1;
            }
        }
        fired
    }

    /// Keeps what the poller has reported for the next task that serves the loop. True if there is something. Events
    /// that nothing waits for are dropped: a later wait is verified.
    fn keep_for_holder(&self, st: &mut State, ready: Vec<Ready>) -> bool {
        let awaited = ready.into_iter().filter(|event| st.is_awaited(event, self.no)).collect::<Vec<_>>();
        st.pending.extend(awaited);
        self.publish(st);
        !st.pending.is_empty()
    }

    /// When there is something to do, without events: the next deadline, or a wait to verify.
    fn next_deadline(&self, st: &mut State) -> Option<u64> {
        let timer = st.wheel.next_deadline(&mut st.nodes);
        timer.into_iter().chain(st.unverified.next_due(&mut st.nodes)).chain(st.reverify_at).min()
    }
}

/// Makes the pollers of all HECs, as long as the system has descriptors left.
pub(super) fn make_pollers() {
    for no in 0..hec::count() {
        let _ = event_loop(no).poller();
    }
}

/// Serves the loop of `hec` without blocking: wakes threads and starts timers. With `idle`, nothing else can run, and
/// unanswered waits are verified. Returns true if there are new runnable threads.
/// # Safety
/// The caller holds `hec`, and no thread runs on it.
pub unsafe fn poll(hec: &mut Hec, idle: bool) -> bool {
    poll_for(hec, hec.no as usize, idle)
}

/// The same for loop `no`, on behalf of its HEC: threads that wake run on `hec`.
/// # Safety
/// As for [`poll`].
pub unsafe fn poll_for(hec: &mut Hec, no: usize, idle: bool) -> bool {
    let Some(l) = existing(no) else { return false };
    let ready = l.reported();
    let mut st = l.lock();
    st.counts.polls += 1;
    let fired = l.serve(hec, &mut st, &ready);
    l.verify_unanswered(hec, &mut st, idle && fired == 0);
    if !settings().threaded {
        l.reverify(hec, &mut st, idle, fired > 0);
    }
    if st.is_shared {
        l.flush();
    }
    l.publish(&st);
    if hec.user_slot.is_used() {
        early_poll::by(l.next_deadline(&mut st).map_or(u64::MAX, wheel_time::start_of));
    }
    hec.has_runnable() && fired > 0
}

/// Waits for events. A signal or an error may end the wait early: the caller looks for events anyway. Was it woken?
fn wait(poller: &Poller, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> bool {
    matches!(poller.wait(ready, timeout), Ok(Waited::Woken))
}

/// What the loops of all HECs have done.
pub fn counts() -> EventCounts {
    (0..MAX_HECS).filter_map(existing).map(|l| l.lock().counts).sum()
}

/// Under a random run order: does no thread run, and is none in a foreign call? Then only a deadline, or the event of a
/// descriptor, can make one runnable.
fn no_thread_is_active() -> bool {
    !handoff::any_held() && !safe_call::any_in_progress()
}

/// Sleeps in the poller of loop `no` until a descriptor is ready, a deadline has come, or the poller is woken. The
/// caller need not hold a HEC. Virtual time jumps to the deadline
/// instead; where something from outside may come first, it passes as real time does.
pub fn sleep(no: usize) -> Slept {
    let l = event_loop(no);
    let mut st = l.lock();
    let deadline = l.next_deadline(&mut st);
    if !st.pending.is_empty() || deadline.is_some_and(|d| d <= wheel_time::now()) {
        return Slept::Events;
    }
    let timeout = deadline.and_then(wheel_time::until);
    let Ok(poller) = l.poller() else { return Slept::NoPoller(timeout) };
    // A signal that comes from now on wakes the poller.
    if no == 0 && event_poll::has_signals() {
        return Slept::Woken;
    }
    let is_virtual = virtual_time::now().is_some();
    if let Some(deadline) = deadline.filter(|_| is_virtual && st.descriptor_waits == 0 && no_thread_is_active()) {
        virtual_time::jump_to(wheel_time::start_of(deadline));
        return Slept::Events;
    }
    st.watched_until = Some(deadline.unwrap_or(u64::MAX));
    drop(st);
    let mut ready = Vec::new();
    let timeout = if is_virtual { timeout.map(|timeout| timeout.min(VIRTUAL_STEP)) } else { timeout };
    let began = getMonotonicNSec();
    let woken = wait(poller, &mut ready, timeout);
    if let Some(now) = virtual_time::now() {
        virtual_time::jump_to(now + (getMonotonicNSec() - began));
    }
    let mut st = l.lock();
    st.watched_until = None;
    st.counts.polls += 1;
    st.counts.sleeps += 1;
    st.counts.interrupted_sleeps += woken as u64;
    if l.keep_for_holder(&mut st, ready) || deadline.is_some_and(|d| d <= wheel_time::now()) {
        Slept::Events
    } else {
        Slept::Woken
    }
}

/// The shared watcher watches loop `no` from now on. Returns the descriptor of its poller, and the next deadline.
/// `None` if it cannot, or if there are events.
pub(super) fn begin_shared_watch(no: usize) -> Option<(i32, u64)> {
    let l = event_loop(no);
    let descriptor = l.existing_poller()?.descriptor()?;
    let mut st = l.lock();
    let deadline = l.next_deadline(&mut st).unwrap_or(u64::MAX);
    if !st.pending.is_empty() || deadline <= wheel_time::now() {
        return None;
    }
    l.flush();
    st.watched_until = Some(deadline);
    st.is_shared = true;
    Some((descriptor, deadline))
}

/// The shared watcher does not watch loop `no` any more, because there may be events. A wake-up for it has been seen.
pub(super) fn end_shared_watch(no: usize) {
    let l = event_loop(no);
    if let Some(poller) = l.existing_poller() {
        let mut ready = Vec::new();
        // A wait without any time would leave a wake-up to others.
        wait(poller, &mut ready, Some(Duration::from_nanos(1)));
        let mut st = l.lock();
        st.watched_until = None;
        st.is_shared = false;
        l.keep_for_holder(&mut st, ready);
    }
}

/// Looks, without blocking, whether a descriptor of loop `no` is ready or a deadline has come. The caller need not hold
/// a HEC.
pub fn look(no: usize) -> bool {
    let Some(l) = existing(no) else { return false };
    let ready = l.reported();
    let mut st = l.lock();
    st.counts.polls += 1;
    l.keep_for_holder(&mut st, ready) || l.next_deadline(&mut st).is_some_and(|d| d <= wheel_time::now())
}

/// Wakes the task that sleeps in the poller of loop `no`, or the next one that will. Async-signal-safe.
pub fn wake(no: usize) {
    if let Some(poller) = existing(no).and_then(EventLoop::existing_poller) {
        poller.wake();
    }
}

/// Visits waiting threads and actions. They are alive, because an external event will wake or run them.
pub fn roots(visit: &mut Visitor, scope: Scope) {
    for no in 0..hec::count() {
        if let Some(l) = existing(no) {
            l.lock().nodes.visit(visit, scope);
        }
    }
}

/// Makes all loops new, in the child of a fork: nothing waits there. The parent's pollers are closed, and their sets
/// are left alone.
/// # Safety
/// No other OS thread exists.
pub unsafe fn after_fork() {
    for no in 0..MAX_HECS {
        if let Some(l) = existing(no) {
            l.state.renew(State::new(no));
            let poller = l.poller.swap(null_mut(), Ordering::AcqRel);
            if !poller.is_null() {
                Box::from_raw(poller).close_after_fork();
            }
            event_poll::set_waits(no, 0);
        }
    }
    descriptors::after_fork();
}
