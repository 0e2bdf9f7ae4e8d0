//! Delays and descriptors for programs without `base`'s event manager (the non-threaded way).
//!
//! Threads in `threadDelay`, `threadWaitRead` and `threadWaitWrite` wait here; the scheduler
//! polls between threads and sleeps in `ppoll(2)` when nothing else can run. A thread taken away
//! by an exception is forgotten through [`forget`]: a sleeper says itself until when it sleeps,
//! so it is found at once; those that wait for descriptors are searched, as `poll` does anyway.
use crate::abi::layout::*;
use crate::abi::Tso;
use crate::collector::roots::Visitor;
use crate::eval::raise_async::raise_async;
use crate::events::signals;
use crate::hec::Hec;
use crate::sched::{event_poll, handoff};
use crate::static_closure;
use crate::thread::park::{block, unblock, Wait};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// To sleep and be woken costs about as much processor time, and the system wakes nobody sooner: until a thread whose
/// time comes within less, there is no sleep.
const NO_SLEEP: Duration = Duration::from_micros(20);

struct Waiter {
    tso: Tso,
    fd: i32,
    write: bool,
}

/// Touched by the holder of the HEC only: the non-threaded way has one.
struct Waiting {
    /// By deadline, in nanoseconds since `zero`; the serial number orders equal ones.
    sleepers: BTreeMap<(u64, u64), Tso>,
    waiters: Vec<Waiter>,
    serial: u64,
    /// When the first thread went to sleep.
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

/// Makes a thread wait for so many microseconds, or until a descriptor can be read or written.
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
    // Far deadlines are as good as never, and must not overflow.
    let pause = Duration::from_micros(micros.max(0) as u64).min(Duration::from_secs(1 << 32));
    let until = w.now() + pause.as_nanos() as u64;
    w.sleepers.insert((until, w.serial), t);
    block(hec, t, BlockedOnDelay, until as usize);
}

/// Takes a thread away from what it waits for here.
/// # Safety
/// The HEC is held; for a sleeper, `wait.on` is what its `block_info` was when it went to sleep.
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

/// Does a thread wait here?
/// # Safety
/// The HEC is held.
pub unsafe fn has_waiting() -> bool {
    let w = waiting();
    !w.sleepers.is_empty() || !w.waiters.is_empty()
}

/// Wakes threads whose time has come or whose descriptor is ready. With `idle`, waits for the
/// first such event or for a signal. False if nobody waits here.
/// # Safety
/// The HEC is held, and nobody else needs it.
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
        if left.is_some_and(|left| left < NO_SLEEP) {
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
    for (t, got) in ready.into_iter().map(|(waiter, fd)| (waiter.tso, fd.revents)) {
        if got & libc::POLLNVAL != 0 {
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

/// Waiting threads are alive: the world outside will wake them.
pub fn roots(visit: &mut Visitor) {
    // SAFETY: the world is stopped.
    let w = unsafe { waiting() };
    for t in w.sleepers.values_mut().chain(w.waiters.iter_mut().map(|w| &mut w.tso)) {
        let mut c = t.closure();
        visit(&mut c);
        *t = Tso(c.0);
    }
}

/// In the child of a fork: the threads that waited are gone.
/// # Safety
/// The HEC is held.
pub unsafe fn after_fork() {
    waiting().sleepers.clear();
    waiting().waiters.clear();
}
