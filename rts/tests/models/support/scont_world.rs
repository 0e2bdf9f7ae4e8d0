//! Threads of user schedulers, each with its status, for the models of switches and of user slots.
//!
//! *Shipped code*: `sync/stm/scont_protocol.rs`, `sync/stm/commit.rs`, `thread/ownership.rs` and `thread/spinlock.rs`.
use super::leaked;
use crate::atomics::{AtomicU16, AtomicUsize, Ordering};
use crate::shipped::commit::{Log, Version};
use crate::shipped::ownership::{Ownership, NOT_BLOCKED};
use crate::shipped::scont_protocol::{commit_switch, Status};
use crate::shipped::spinlock::{Reason, Spin};
use loom::cell::UnsafeCell;
use loom::sync::Arc;

pub const PASSIVE: usize = 64;

/// A thread with its status TVar. Only its owner may touch what is its own; loom verifies that.
pub struct Thread<T> {
    pub version: Version,
    pub status: AtomicUsize,
    lock: &'static Spin,
    pub reason: &'static Reason,
    pub owner: &'static AtomicUsize,
    pub own: UnsafeCell<T>,
}

impl<T> Thread<T> {
    pub fn new(status: Status, why: usize, own: T) -> Thread<T> {
        Thread {
            version: Version(AtomicUsize::new(0)),
            status: AtomicUsize::new(status.0),
            lock: leaked(Spin(AtomicUsize::new(0))),
            reason: leaked(Reason(AtomicU16::new(why as u16))),
            owner: leaked(AtomicUsize::new(0)),
            own: UnsafeCell::new(own),
        }
    }
    pub fn ownership(&self) -> Ownership {
        Ownership { lock: Some(self.lock), reason: self.reason, owner: self.owner }
    }
    /// HEC `me` claims the thread, if it is blocked for this reason.
    pub fn claim(&self, me: usize, expected: usize) -> bool {
        let held = self.ownership().lock();
        self.ownership().claim((), me, |why| why == expected, &held).is_some()
    }
    pub fn now(&self) -> Status {
        Status(self.status.load(Ordering::Relaxed))
    }
}

/// A thread with a stack.
impl Thread<Vec<usize>> {
    pub fn push(&self, word: usize) {
        self.own.with_mut(|s| unsafe { (*s).push(word) })
    }
    pub fn words(&self) -> usize {
        self.own.with(|s| unsafe { (*s).len() })
    }
}

/// The threads; the first two run at the beginning, each on a HEC, and the third is passive.
pub struct World(pub [Thread<Vec<usize>>; 3]);

// SAFETY: loom verifies it.
unsafe impl Sync for World {}

impl World {
    pub fn new() -> Arc<World> {
        let running = || Thread::new(Status::running(0), NOT_BLOCKED, Vec::new());
        Arc::new(World([running(), running(), Thread::new(Status::ready(0), PASSIVE, Vec::new())]))
    }
}

pub struct Entry {
    thread: usize,
    version: usize,
    pub status: Status,
    written: bool,
}

impl Entry {
    pub fn write(&mut self, status: Status) {
        self.status = status;
        self.written = true;
    }
}

/// The log of a transaction: statuses of threads.
pub struct Statuses<'a>(&'a World, Vec<Entry>);

impl Statuses<'_> {
    pub fn new(w: &World) -> Statuses<'_> {
        Statuses(w, Vec::new())
    }
    pub fn read(&mut self, thread: usize) -> &mut Entry {
        let t = &self.0 .0[thread];
        let (version, status) = t.version.read(&t.status);
        self.1.push(Entry { thread, version, status: Status(status), written: false });
        self.1.last_mut().unwrap()
    }
}

impl Log for Statuses<'_> {
    const SPINS: u32 = 0;
    fn len(&self) -> usize {
        self.1.len()
    }
    fn version(&self, i: usize) -> &Version {
        &self.0 .0[self.1[i].thread].version
    }
    fn seen(&self, i: usize) -> usize {
        self.1[i].version
    }
    fn is_written(&self, i: usize) -> bool {
        self.1[i].written
    }
    fn order(&self, i: usize) -> usize {
        self.1[i].thread
    }
    fn publish(&mut self, i: usize) {
        self.0 .0[self.1[i].thread].status.store(self.1[i].status.0, Ordering::Release);
    }
}

/// The running thread `s` switches to SCont 0 of thread `t`, or to another if that is stale. Returns whether it was
/// not.
pub fn switch(w: &World, s: usize, t: usize) -> bool {
    loop {
        let mut log = Statuses::new(w);
        let own = log.read(s);
        own.write(own.status.passive());
        let chosen = log.read(t);
        let claimable = chosen.status.is_claimable(0);
        if claimable {
            chosen.write(chosen.status.claimed());
        }
        let mut claimed = false;
        let block = |_: &mut Statuses| {
            w.0[s].push(s);
            w.0[s].reason.set(PASSIVE as u16);
        };
        let claim = |_: &mut Statuses| claimed = claimable && w.0[t].claim(s, PASSIVE);
        if commit_switch(&mut log, true, block, claim) {
            assert_eq!(claimed, claimable, "a passive thread can be claimed under its status");
            if claimed {
                // It runs.
                w.0[t].push(s);
            }
            return claimed;
        }
    }
}
