//! Delays and descriptors for programs without `base`'s event manager (the non-threaded way).
//!
//! *Protocol*
//!
//! 1. Threads in `threadDelay`, `threadWaitRead` and `threadWaitWrite` wait here.
//! 2. The scheduler polls between threads. It sleeps in `ppoll(2)` if nothing else can run.
//! 3. A thread that an exception removes is deleted by [`forget`]. The end of a sleeper's delay is in its object, so
//!    the sleeper is found at once. Threads that wait for descriptors are searched linearly, as in `poll`.
//!
//! *Locking*: only the holder of the HEC; the non-threaded way has one HEC.
//!
//! *Checked by* `events/tests.rs`.
use crate::abi::layout::*;
use crate::abi::Tso;
use crate::collector::roots::Visitor;
use crate::eval::raise_async::raise_async;
use crate::events::signals;
use crate::hec::wait::Wait;
use crate::hec::Hec;
use crate::sched::{event_poll, handoff};
use crate::static_closure;
use crate::thread::park::{block, unblock};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// If a deadline is nearer than this, there is no sleep. Sleeping and waking cost about as much processor time, and the
/// system wakes no process sooner.
const MIN_SLEEP: Duration = Duration::from_micros(20);

struct Waiter {
    tso: Tso,
    fd: i32,
    write: bool,
}

/// Only the holder of the HEC uses this: the non-threaded way has one HEC.
struct Waiting {
    /// By deadline in nanoseconds since `zero`. The serial number orders equal deadlines.
    sleepers: BTreeMap<(u64, u64), Tso>,
    waiters: Vec<Waiter>,
    serial: u64,
    /// The time when the first thread went to sleep.
    zero: Option<Instant>,
}

static mut WAITING: Waiting = Waiting { sleepers: BTreeMap::new(), waiters: Vec::new(), serial: 0, zero: None };

unsafe fn waiting() -> &'static mut Waiting {
    &mut *std::ptr::addr_of_mut!(WAITING)
}

impl Waiting {
    /// Nanoseconds since `zero`.
    fn now(&mut self) -> u64 {
        self.zero.get_or_insert_with(Instant::now).elapsed().as_nanos() as u64
    }
}

/// Lets a thread wait for a number of microseconds, or for a descriptor that can be read or written.
/// # Safety
/// `t` is at rest.
pub unsafe fn sleep(hec: &mut Hec, t: Tso, wait: Wait) {
    let w = waiting();
    event_poll::set_expected(true);
    if wait.why != BlockedOnDelay {
        w.waiters.push(Waiter { tso: t, fd: wait.on as i32, write: wait.why == BlockedOnWrite });
        return block(hec, t, wait.why, wait.on);
    }
    let micros = wait.on as i64;
    w.serial += 1;
    // Far deadlines never come, but must not overflow.
    let delay = Duration::from_micros(micros.max(0) as u64).min(Duration::from_secs(1 << 32));
    let until = w.now() + delay.as_nanos() as u64;
    w.sleepers.insert((until, w.serial), t);
    block(hec, t, BlockedOnDelay, until as usize);
}

/// Removes a thread that waits here.
/// # Safety
/// The HEC is held. For a sleeper, `wait.on` is the value of its `block_info`.
pub unsafe fn forget(t: Tso, wait: Wait) {
    let w = waiting();
    if wait.why != BlockedOnDelay {
        w.waiters.retain(|w| w.tso != t);
        return;
    }
    let until = wait.on as u64;
    let mut same = w.sleepers.range((until, 0)..=(until, u64::MAX));
    if let Some(key) = same.find(|(_, s)| **s == t).map(|(key, _)| *key) {
        w.sleepers.remove(&key);
    }
}

/// Do any threads wait here?
/// # Safety
/// The HEC is held.
pub unsafe fn has_waiting() -> bool {
    let w = waiting();
    !w.sleepers.is_empty() || !w.waiters.is_empty()
}

/// Wakes threads whose deadline has passed or whose descriptor is ready. With `idle`, waits for the first such event or
/// for a signal. False if no thread waits here.
/// # Safety
/// The HEC is held, and no other task needs it.
pub unsafe fn poll(hec: &mut Hec, idle: bool) -> bool {
    if !has_waiting() {
        return false;
    }
    let w = waiting();
    let now = w.now();
    wake_sleepers(hec, now);
    let idle = idle && hec.run_queue.is_empty();
    if w.waiters.is_empty() && !idle {
        return true;
    }
    let mut fds: Vec<libc::pollfd> = w
        .waiters
        .iter()
        .map(|w| libc::pollfd { fd: w.fd, events: if w.write { libc::POLLOUT } else { libc::POLLIN }, revents: 0 })
        .collect();
    let n = if idle {
        let first = w.sleepers.first_key_value();
        let left = first.map(|((until, _), _)| Duration::from_nanos(until.saturating_sub(now)));
        if left.is_some_and(|left| left < MIN_SLEEP) {
            signals::poll(&mut fds, Some(Duration::ZERO))
        } else {
            handoff::idle_while(|| signals::poll(&mut fds, left))
        }
    } else {
        libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, 0)
    };
    let now = w.now();
    wake_sleepers(hec, now);
    if n <= 0 {
        return true;
    }
    let (ready, rest): (Vec<_>, Vec<_>) = w.waiters.drain(..).zip(&fds).partition(|(_, fd)| fd.revents != 0);
    w.waiters.extend(rest.into_iter().map(|(waiter, _)| waiter));
    for (t, revents) in ready.into_iter().map(|(waiter, fd)| (waiter.tso, fd.revents)) {
        if revents & libc::POLLNVAL != 0 {
            let e = static_closure!(base_GHCziEventziThread_blockedOnBadFD_closure);
            raise_async(hec, t, Some(e));
        } else {
            unblock(hec, t);
        }
    }
    true
}

unsafe fn wake_sleepers(hec: &mut Hec, now: u64) {
    let w = waiting();
    while let Some(first) = w.sleepers.first_entry() {
        if first.key().0 > now {
            break;
        }
        unblock(hec, first.remove());
    }
}

/// Visits waiting threads. They are alive, because an external event will wake them.
pub fn roots(visit: &mut Visitor) {
    // SAFETY: the world is stopped.
    let w = unsafe { waiting() };
    for t in w.sleepers.values_mut().chain(w.waiters.iter_mut().map(|w| &mut w.tso)) {
        let mut c = t.closure();
        visit(&mut c);
        *t = Tso(c.0);
    }
}

/// In the child of a fork: the waiting threads are gone.
/// # Safety
/// The HEC is held.
pub unsafe fn after_fork() {
    waiting().sleepers.clear();
    waiting().waiters.clear();
}
