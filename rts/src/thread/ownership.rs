//! Ownership of threads. Three words decide it: the thread's lock, the reason why it is blocked, and its owner, a HEC.
//!
//! *Protocol*
//! ```text
//!                         block (by the owner)
//!              reason = why
//!      +--------------------------------------------------+
//!      |                                                  v
//!  not blocked                                         blocked
//!  owned by a HEC: only that HEC's holder            not owned: a HEC must claim
//!  may change the thread                             the thread before it changes it
//!      ^ |                                                |
//!      | | hand over (by the owner, under the lock)       |
//!      +-+ owner = another HEC                            |
//!      ^                                                  |
//!      +--------------------------------------------------+
//!              claim (by any HEC, under the lock)
//!              reason = NOT_BLOCKED; owner = the claimant
//!              resume from call (by the OS thread that made the call, under the lock): as a claim
//! ```
//!
//! *Invariants*
//! - Under the lock, reason and owner belong together.
//! - A thread that is not blocked and that this HEC owns stays so until the HEC's holder changes it.
//! - A blocked thread stays blocked until the lock is released.
//! - A thread that is not blocked and that another HEC owns may block, or pass to a third HEC, at any moment.
//!
//! *Locking*: the HEC that blocks a thread publishes the thread's stack by the store of the reason (Release). All other
//! operations publish by releasing the lock.
//!
//! *Checked by*: the loom models in `rts/tests/models/throwto.rs`, which compile this file.
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::thread::spinlock::{Reason, Spin};

/// The reason of a thread that is not blocked.
pub const NOT_BLOCKED: usize = 0;

/// The words of a thread that say who owns it.
#[derive(Clone, Copy)]
pub struct Ownership {
    /// Absent while there is one HEC.
    pub lock: Option<&'static Spin>,
    pub reason: &'static Reason,
    pub owner: &'static AtomicUsize,
}

/// The locks of one or two threads, held until this value is dropped.
pub struct Held([Option<&'static Spin>; 2]);

impl Held {
    fn new(locks: [Option<&'static Spin>; 2]) -> Held {
        locks.iter().flatten().for_each(|lock| lock.acquire());
        Held(locks)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.iter().flatten().for_each(|lock| lock.release());
    }
}

/// A thread that was blocked, and that only the claimant may now change.
#[must_use]
pub struct Claim<T> {
    pub thread: T,
    /// Why it was blocked.
    pub why: usize,
    /// The HEC that owned it before it blocked.
    pub home: usize,
}

impl Ownership {
    pub fn lock(self) -> Held {
        Held::new([self.lock, None])
    }

    /// Takes the locks of two threads, which may share one. This is the only way to hold more than one thread's lock.
    /// The locks are taken in the order of their addresses, so that no deadlock is possible.
    pub fn lock_both(self, other: Ownership) -> Held {
        match (self.lock, other.lock) {
            (Some(a), Some(b)) if std::ptr::eq(a, b) => Held::new([Some(a), None]),
            (Some(a), Some(b)) if std::ptr::addr_of!(*b) < std::ptr::addr_of!(*a) => Held::new([Some(b), Some(a)]),
            both => Held::new(both.into()),
        }
    }

    /// Why the thread is blocked. Exact for the thread's owner, or under its lock.
    pub fn why(self) -> usize {
        self.reason.get() as usize
    }

    /// The owner of a thread that is not blocked.
    fn not_blocked(self, _: &Held) -> Option<usize> {
        (self.why() == NOT_BLOCKED).then(|| self.owner.load(Ordering::Relaxed))
    }

    /// Is the thread not blocked, and owned by HEC `me`?
    pub fn is_ours(self, me: usize, held: &Held) -> bool {
        self.not_blocked(held) == Some(me)
    }

    /// The owner of a thread that is not blocked, if that is another HEC than `me`.
    pub fn elsewhere(self, me: usize, held: &Held) -> Option<usize> {
        self.not_blocked(held).filter(|&owner| owner != me)
    }

    /// Claims the thread for HEC `me` if it is blocked and `accepts(why)` holds.
    pub fn claim<T>(self, thread: T, me: usize, accepts: impl FnOnce(usize) -> bool, _: &Held) -> Option<Claim<T>> {
        let why = self.reason.take(NOT_BLOCKED as u16, |why| accepts(why as usize))? as usize;
        let home = self.owner.load(Ordering::Relaxed);
        self.owner.store(me, Ordering::Relaxed);
        Some(Claim { thread, why, home })
    }

    /// Blocks a thread that this HEC owns. Another HEC may claim it at once.
    pub fn block(self, why: usize) {
        self.reason.set(why as u16);
    }

    /// Gives a thread that this HEC owns to another HEC.
    pub fn hand_over(self, to: usize) {
        let _held = self.lock();
        self.owner.store(to, Ordering::Relaxed);
    }

    /// Makes HEC `me` the owner of a thread whose foreign call has returned.
    pub fn resume_from_call(self, me: usize) {
        let _held = self.lock();
        self.owner.store(me, Ordering::Relaxed);
        self.reason.set(NOT_BLOCKED as u16);
    }
}
