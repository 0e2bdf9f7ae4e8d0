//! The lifetime of the runtime: its users, its end, and what other threads see in between.
//!
//! ```text
//!   Unused ──start──► Used(n) ──leave (the last), leave_all──► Ending(by) ──close──► Closed(by) ──mark_ended──► Ended
//! ```
//!
//! *Protocol*
//!
//! 1. `start` is `hs_init`, and `leave` is `hs_exit`.
//! 2. A thread that calls `leave_all` ends the program. The phase then stays `Closed` until the process has ended.
//! 3. A thread that would end the program while another OS thread shuts down waits for it. Otherwise the process could
//!    end before all its output is written.
//! 4. In `Ending`, Haskell flushes its handles, and may have to wait for other threads. So these continue without
//!    restriction. They may call C that calls Haskell, also on the OS thread that shuts down, and they may start OS
//!    threads.
//! 5. In `Closed`, a thread that would call Haskell waits. This is no error.
//! 6. In `Ended`, such a call from a C program is an error. A foreign call that Haskell made began in time, so it
//!    blocks for ever, as it will when it returns.
//!
//! *Invariants*
//!
//! - The phase names the OS thread that shuts down. That thread may call Haskell again (a finalizer may do anything),
//!   and must not wait for itself.
//! - A thread that returns from a foreign call, or that read `in_use` just before the end, waits for a HEC. After the
//!   world was stopped for the last time (`shutdown.rs`), no HEC is passed on. So the thread blocks for ever, and does
//!   not use the heap during the shutdown.
//!
//! *Locking*: the phase changes only under its lock.
//!
//! *Checked by* `rts/tests/models/shutdown.rs`, which runs this file under loom.
use crate::base::atomics::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;
use std::cell::UnsafeCell;

/// The system's number of an OS thread.
type OsThread = i32;

#[derive(Clone, Copy)]
enum Phase {
    Unused,
    /// The number of `start`s without a `leave`.
    Used(usize),
    Ending(OsThread),
    Closed(OsThread),
    Ended,
}

impl Phase {
    fn is_in_use(self) -> bool {
        matches!(self, Phase::Used(_) | Phase::Ending(_))
    }
}

struct Inner {
    /// Is the phase `Used` or `Ending`? Relaxed, because a thread that may ask knows by other means that the runtime
    /// has started.
    in_use: AtomicBool,
    phase: Mutex<Phase>,
    changed: Condvar,
}

pub struct Lifetime(UnsafeCell<Inner>);

// SAFETY: the content is only replaced while no other thread uses it.
unsafe impl Sync for Lifetime {}
unsafe impl Send for Lifetime {}

#[derive(Debug, PartialEq, Eq)]
pub enum Start {
    First,
    Again,
    /// The runtime cannot be started twice.
    TooLate,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Leave {
    /// The caller shuts down, and then calls [`Lifetime::mark_ended`].
    Last,
    NotLast,
    TooMany,
}

impl Inner {
    fn new(phase: Phase) -> Inner {
        Inner { in_use: AtomicBool::new(phase.is_in_use()), phase: Mutex::new(phase), changed: Condvar::new() }
    }

    // No code panics under the lock.
    fn lock(&self) -> MutexGuard<'_, Phase> {
        unpoisoned(self.phase.lock())
    }

    fn wait<'a>(&self, phase: MutexGuard<'a, Phase>) -> MutexGuard<'a, Phase> {
        unpoisoned(self.changed.wait(phase))
    }

    fn set(&self, phase: &mut Phase, to: Phase) {
        *phase = to;
        self.in_use.store(to.is_in_use(), Ordering::Relaxed);
    }
}

impl Lifetime {
    pub fn new() -> Lifetime {
        Lifetime(UnsafeCell::new(Inner::new(Phase::Unused)))
    }

    fn inner(&self) -> &Inner {
        // SAFETY: see `renew`.
        unsafe { &*self.0.get() }
    }

    /// May Haskell be called? The end may come at any moment after the answer.
    pub fn in_use(&self) -> bool {
        self.inner().in_use.load(Ordering::Relaxed)
    }

    pub fn start(&self) -> Start {
        let inner = self.inner();
        let mut phase = inner.lock();
        match *phase {
            Phase::Unused => {
                inner.set(&mut phase, Phase::Used(1));
                Start::First
            }
            Phase::Used(n) => {
                *phase = Phase::Used(n + 1);
                Start::Again
            }
            Phase::Ending(_) | Phase::Closed(_) | Phase::Ended => Start::TooLate,
        }
    }

    pub fn leave(&self, me: OsThread) -> Leave {
        let inner = self.inner();
        let mut phase = inner.lock();
        match *phase {
            Phase::Used(1) => {
                inner.set(&mut phase, Phase::Ending(me));
                Leave::Last
            }
            Phase::Used(n) => {
                *phase = Phase::Used(n - 1);
                Leave::NotLast
            }
            _ => Leave::TooMany,
        }
    }

    /// The caller ends the program, whether or not the runtime has other users. True if it must shut down first. Waits
    /// if another OS thread does so.
    pub fn leave_all(&self, me: OsThread) -> bool {
        let inner = self.inner();
        let mut phase = inner.lock();
        loop {
            match *phase {
                Phase::Used(_) => {
                    inner.set(&mut phase, Phase::Ending(me));
                    return true;
                }
                Phase::Ending(owner) | Phase::Closed(owner) if owner != me => phase = inner.wait(phase),
                _ => return false,
            }
        }
    }

    /// The thread that shuts down does not need Haskell any more.
    pub fn close(&self) {
        let inner = self.inner();
        let mut phase = inner.lock();
        if let Phase::Ending(owner) = *phase {
            inner.set(&mut phase, Phase::Closed(owner));
        }
    }

    /// The runtime has been shut down, and the process continues.
    pub fn mark_ended(&self) {
        let inner = self.inner();
        inner.set(&mut inner.lock(), Phase::Ended);
        inner.changed.notify_all();
    }

    /// May the caller call Haskell? Waits for the end if another OS thread has closed the runtime. A caller that
    /// Haskell itself called (`inside`) then blocks for ever. Every call into Haskell comes here, and `me` needs a
    /// system call. So both are evaluated near the end only.
    pub fn can_enter(&self, me: impl FnOnce() -> OsThread, inside: impl FnOnce() -> bool) -> bool {
        if self.in_use() {
            return true;
        }
        let inner = self.inner();
        let (me, inside) = (me(), inside());
        let mut phase = inner.lock();
        loop {
            phase = match *phase {
                Phase::Used(_) | Phase::Ending(_) => return true,
                Phase::Closed(owner) if owner != me => inner.wait(phase),
                Phase::Ended if inside => inner.wait(phase),
                _ => return false,
            }
        }
    }

    /// Sets the number of users to one.
    /// # Safety
    /// No other OS thread uses the runtime: in the child of a fork.
    pub unsafe fn renew(&self) {
        std::ptr::write(self.0.get(), Inner::new(Phase::Used(1)));
    }
}
