//! How long the runtime lives: who uses it, who ends it, and what others see meanwhile.
//!
//! ```text
//!   Unused ──start──► Used(n) ──leave (the last), leave_all──► Ending(by) ──close──► Closed(by) ──ended──► Ended
//! ```
//!
//! `start` is `hs_init`, `leave` is `hs_exit`, and who calls `leave_all` ends the program: then the phase stays `Closed` until the
//! process is no more. The phase changes under its lock only. It names the OS thread that winds the runtime down, for that one may
//! come by again (a finalizer may do anything), and must not wait for itself:
//!
//! * Who would end the program while another OS thread winds down waits for that: else the process would be gone
//!   with half of its output.
//! * While it is `Ending`, Haskell flushes its handles, and may have to wait for what other threads do, so these go on in every
//!   respect: they call C that calls Haskell, also on the OS thread that winds down, and begin OS threads.
//! * Who would call Haskell when it is `Closed` waits, and does nothing wrong. When it is over, a C program has made a mistake; but
//!   a foreign call that Haskell made was made in time, so that it waits for good, as it will when it returns.
//!
//! Who comes back from a foreign call, or has looked just before the end (`in_use`, without the lock), goes on to wait for a HEC.
//! Once the world has been stopped for the last time (`shutdown.rs`) no HEC is passed on, so it waits for good: nobody touches
//! Haskell's heap behind the back of who winds down.
//!
//! `rts/tests/models/shutdown.rs` runs this file under loom.
use crate::base::atomics::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;
use std::cell::UnsafeCell;

/// Names an OS thread.
type OsThread = i32;

#[derive(Clone, Copy)]
enum Phase {
    Unused,
    /// So many `start` have not been matched by `leave`.
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
    /// Is the phase `Used` or `Ending`? Relaxed: who may ask knows by other means that the runtime has been started.
    in_use: AtomicBool,
    phase: Mutex<Phase>,
    changed: Condvar,
}

pub struct Lifetime(UnsafeCell<Inner>);

// SAFETY: what is within is only replaced when nobody else is there.
unsafe impl Sync for Lifetime {}
unsafe impl Send for Lifetime {}

#[derive(Debug, PartialEq, Eq)]
pub enum Start {
    First,
    Again,
    /// It cannot be started twice.
    TooLate,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Leave {
    /// The caller winds down, and says [`Lifetime::mark_ended`] then.
    Last,
    NotLast,
    TooMany,
}

impl Inner {
    fn new(phase: Phase) -> Inner {
        Inner { in_use: AtomicBool::new(phase.is_in_use()), phase: Mutex::new(phase), changed: Condvar::new() }
    }

    // Nothing panics under the lock.
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

    /// May Haskell be called, as far as one can see? The end may come at any moment.
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

    /// The caller ends the program, whoever still uses the runtime. True if it is to wind down first; if another OS thread does so,
    /// that is waited for.
    pub fn leave_all(&self, me: OsThread) -> bool {
        let inner = self.inner();
        let mut phase = inner.lock();
        loop {
            match *phase {
                Phase::Used(_) => {
                    inner.set(&mut phase, Phase::Ending(me));
                    return true;
                }
                Phase::Ending(by) | Phase::Closed(by) if by != me => phase = inner.wait(phase),
                _ => return false,
            }
        }
    }

    /// Who winds down needs Haskell no more.
    pub fn close(&self) {
        let inner = self.inner();
        let mut phase = inner.lock();
        if let Phase::Ending(by) = *phase {
            inner.set(&mut phase, Phase::Closed(by));
        }
    }

    /// The runtime has been wound down, and the process goes on.
    pub fn mark_ended(&self) {
        let inner = self.inner();
        inner.set(&mut inner.lock(), Phase::Ended);
        inner.changed.notify_all();
    }

    /// May the caller call Haskell? If another OS thread has closed the runtime, its end is waited for, and who is itself called by
    /// Haskell (`inside`) waits for good. Every call into Haskell asks, and to learn who calls (`me`) is a system call, so that
    /// both are asked near the end only.
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
                Phase::Closed(by) if by != me => inner.wait(phase),
                Phase::Ended if inside => inner.wait(phase),
                _ => return false,
            }
        }
    }

    /// There is one user, whatever there was.
    /// # Safety
    /// No other OS thread is left that uses it: in the child of a fork.
    pub unsafe fn renew(&self) {
        std::ptr::write(self.0.get(), Inner::new(Phase::Used(1)));
    }
}
