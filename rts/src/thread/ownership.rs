//! Whose a thread is. Three words decide that: its lock, the reason why it is blocked, and its *owner*, a HEC.
//!
//! ```text
//!   not blocked  the owner's: the holder of that HEC alone touches the thread
//!   blocked      nobody's: whoever wants it claims it first
//!
//!   block        by the owner:                     reason = why
//!   claim        by anybody, under the lock:       reason = NOT_BLOCKED; owner = the claimant
//!   hand over    by the owner, under the lock:     owner = another
//!   come back    by the OS thread whose foreign call it was, under the lock: as a claim
//! ```
//!
//! So under the lock reason and owner belong together. A thread that is not blocked, and our own, stays so until we do
//! something about it; a blocked one stays so until the lock is released; one that is not blocked and
//! another HEC's may block, or go on to a third, at any moment.
//!
//! Orders: who blocks a thread publishes its stack by the store of the reason (Release); all others by releasing the lock.
//!
//! `rts/tests/models/throwto.rs` runs this file under loom.
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::thread::spinlock::{Reason, Spin};

/// The reason of a thread that is not blocked.
pub const NOT_BLOCKED: usize = 0;

/// The words of a thread that say whose it is.
#[derive(Clone, Copy)]
pub struct Ownership {
    /// None is needed as long as there is one HEC.
    pub lock: Option<&'static Spin>,
    pub reason: &'static Reason,
    pub owner: &'static AtomicUsize,
}

/// The locks of one or two threads, held until this is dropped.
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

/// A thread that was blocked and is the claimant's alone now.
#[must_use]
pub struct Claim<T> {
    pub thread: T,
    /// Why it was blocked.
    pub why: usize,
    /// Its owner before.
    pub home: usize,
}

impl Ownership {
    pub fn lock(self) -> Held {
        Held::new([self.lock, None])
    }

    /// Takes the locks of two threads; perhaps they share one. The only way to hold more than one: in the order of their
    /// addresses, so that nobody waits in a circle.
    pub fn lock_both(self, other: Ownership) -> Held {
        match (self.lock, other.lock) {
            (Some(a), Some(b)) if std::ptr::eq(a, b) => Held::new([Some(a), None]),
            (Some(a), Some(b)) if std::ptr::addr_of!(*b) < std::ptr::addr_of!(*a) => Held::new([Some(b), Some(a)]),
            both => Held::new(both.into()),
        }
    }

    /// Why the thread is blocked; exact for its owner, or under its lock.
    pub fn why(self) -> usize {
        self.reason.get() as usize
    }

    /// The owner of a thread that is not blocked.
    fn not_blocked(self, _: &Held) -> Option<usize> {
        (self.why() == NOT_BLOCKED).then(|| self.owner.load(Ordering::Relaxed))
    }

    /// Is the thread not blocked, and HEC `me`'s?
    pub fn is_ours(self, me: usize, held: &Held) -> bool {
        self.not_blocked(held) == Some(me)
    }

    /// Is the thread not blocked, and another HEC's than `me`? Whose then?
    pub fn elsewhere(self, me: usize, held: &Held) -> Option<usize> {
        self.not_blocked(held).filter(|&owner| owner != me)
    }

    /// Claims the thread for HEC `me` if it is blocked and `right(why)`.
    pub fn claim<T>(self, thread: T, me: usize, right: impl FnOnce(usize) -> bool, _: &Held) -> Option<Claim<T>> {
        let why = self.reason.take(NOT_BLOCKED as u16, |why| right(why as usize))? as usize;
        let home = self.owner.load(Ordering::Relaxed);
        self.owner.store(me, Ordering::Relaxed);
        Some(Claim { thread, why, home })
    }

    /// Blocks a thread of ours. It may be claimed at once.
    pub fn block(self, why: usize) {
        self.reason.set(why as u16);
    }

    /// Makes a thread of ours another HEC's.
    pub fn hand_over(self, to: usize) {
        let _held = self.lock();
        self.owner.store(to, Ordering::Relaxed);
    }

    /// The thread's foreign call has returned to HEC `me`.
    pub fn resume_from_call(self, me: usize) {
        let _held = self.lock();
        self.owner.store(me, Ordering::Relaxed);
        self.reason.set(NOT_BLOCKED as u16);
    }
}
