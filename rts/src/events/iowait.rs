//! Delays and descriptors for programs without `base`'s event manager (the non-threaded way).
//!
//! Threads in `threadDelay`, `threadWaitRead` and `threadWaitWrite` wait here; the scheduler
//! polls between threads and sleeps in `ppoll(2)` when nothing else can run. A thread taken away
//! by an exception is forgotten through [`forget`].
use super::signals;
use crate::collector::roots::Visitor;
use crate::contract::{layout::*, Tso};
use crate::eval::freeze::raise_async;
use crate::hec::Hec;
use crate::static_closure;
use crate::thread::door::{block, unblock, Wait};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

struct Waiter {
    tso: Tso,
    fd: i32,
    write: bool,
}

/// Touched by the holder of the HEC only: the non-threaded way has one.
struct Waiting {
    /// By deadline; the serial number orders equal ones.
    sleepers: BTreeMap<(Instant, u64), Tso>,
    waiters: Vec<Waiter>,
    serial: u64,
}

static mut WAITING: Waiting =
    Waiting { sleepers: BTreeMap::new(), waiters: Vec::new(), serial: 0 };

unsafe fn waiting() -> &'static mut Waiting {
    &mut *std::ptr::addr_of_mut!(WAITING)
}

/// Makes a thread wait for so many microseconds, or until a descriptor can be read or written.
/// # Safety
/// `t` is at rest.
pub unsafe fn sleep(hec: &mut Hec, t: Tso, wait: Wait) {
    let w = waiting();
    if wait.why != BlockedOnDelay {
        w.waiters.push(Waiter { tso: t, fd: wait.on as i32, write: wait.why == BlockedOnWrite });
        return block(hec, t, wait.why, wait.on);
    }
    let micros = wait.on as i64;
    w.serial += 1;
    // Far deadlines are as good as never, and must not overflow.
    let pause = Duration::from_micros(micros.max(0) as u64).min(Duration::from_secs(1 << 32));
    w.sleepers.insert((Instant::now() + pause, w.serial), t);
    block(hec, t, BlockedOnDelay, 0);
}

/// Takes a thread away from whatever it waits for here.
/// # Safety
/// The HEC is held.
pub unsafe fn forget(_hec: &mut Hec, t: Tso) {
    waiting().sleepers.retain(|_, s| *s != t);
    waiting().waiters.retain(|w| w.tso != t);
}

/// Wakes threads whose time has come or whose descriptor is ready. With `idle`, waits for the
/// first such event or for a signal. False if nobody waits here.
/// # Safety
/// The HEC is held, and nobody else needs it.
pub unsafe fn poll(hec: &mut Hec, idle: bool) -> bool {
    let w = waiting();
    if w.sleepers.is_empty() && w.waiters.is_empty() {
        return false;
    }
    let mut now = Instant::now();
    wake_sleepers(hec, now);
    let idle = idle && hec.run_queue.is_empty();
    if w.waiters.is_empty() && !idle {
        return true;
    }
    let mut fds: Vec<libc::pollfd> = w
        .waiters
        .iter()
        .map(|w| libc::pollfd {
            fd: w.fd,
            events: if w.write { libc::POLLOUT } else { libc::POLLIN },
            revents: 0,
        })
        .collect();
    let n = if idle {
        let first = w.sleepers.first_key_value();
        signals::poll(&mut fds, first.map(|((until, _), _)| until.saturating_duration_since(now)))
    } else {
        libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, 0)
    };
    now = Instant::now();
    wake_sleepers(hec, now);
    if n <= 0 {
        return true;
    }
    let ready: Vec<(Tso, i16)> = w
        .waiters
        .iter()
        .zip(&fds)
        .filter(|(_, fd)| fd.revents != 0)
        .map(|(waiter, fd)| (waiter.tso, fd.revents))
        .collect();
    for (t, got) in ready {
        if got & libc::POLLNVAL != 0 {
            let e = static_closure!(base_GHCziEventziThread_blockedOnBadFD_closure);
            raise_async(hec, t, Some(e));
        } else {
            forget(hec, t);
            unblock(hec, t);
        }
    }
    true
}

unsafe fn wake_sleepers(hec: &mut Hec, now: Instant) {
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
