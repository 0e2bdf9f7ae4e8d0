//! Models of switches between SConts on several HECs.
//!
//! *Checked*: an SCont is claimed once, and its thread runs as the HEC left it that made it passive.
//! *Shipped code*: `sync/stm/scont_protocol.rs`, `sync/stm/commit.rs` and `thread/spinlock.rs`.
use crate::atomics::{AtomicU16, AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::commit::{Log, Version};
use crate::shipped::scont_protocol::{commit_switch, Status};
use crate::shipped::spinlock::{Reason, Spin};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const FREE: u16 = 0;
const PASSIVE: u16 = 64;

/// A thread with its status TVar. Only its owner may touch its stack; loom verifies that.
struct Thread {
    version: Version,
    status: AtomicUsize,
    lock: Spin,
    reason: Reason,
    stack: UnsafeCell<Vec<usize>>,
}

impl Thread {
    fn new(status: Status, why: u16) -> Thread {
        Thread {
            version: Version(AtomicUsize::new(0)),
            status: AtomicUsize::new(status.0),
            lock: Spin(AtomicUsize::new(0)),
            reason: Reason(AtomicU16::new(why)),
            stack: UnsafeCell::new(Vec::new()),
        }
    }
    fn push(&self, word: usize) {
        self.stack.with_mut(|s| unsafe { (*s).push(word) })
    }
    fn now(&self) -> Status {
        Status(self.status.load(Ordering::Relaxed))
    }
}

/// The threads; the first two run at the beginning, each on a HEC, and the third is passive.
struct World([Thread; 3]);

unsafe impl Sync for World {}

impl World {
    fn new() -> Arc<World> {
        let running = || Thread::new(Status::running(0), FREE);
        Arc::new(World([running(), running(), Thread::new(Status::ready(0), PASSIVE)]))
    }
}

struct Entry {
    thread: usize,
    version: usize,
    status: Status,
    written: bool,
}

/// The log of a switch: statuses of threads.
struct Switch<'a>(&'a World, Vec<Entry>);

impl Switch<'_> {
    fn read(&mut self, thread: usize) -> &mut Entry {
        let t = &self.0 .0[thread];
        let (version, status) = t.version.read(&t.status);
        self.1.push(Entry { thread, version, status: Status(status), written: false });
        self.1.last_mut().unwrap()
    }
}

impl Entry {
    fn write(&mut self, status: Status) {
        self.status = status;
        self.written = true;
    }
}

impl Log for Switch<'_> {
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
fn switch(w: &World, s: usize, t: usize) -> bool {
    loop {
        let mut log = Switch(w, Vec::new());
        let own = log.read(s);
        own.write(own.status.passive());
        let chosen = log.read(t);
        let claimable = chosen.status.is_claimable(0);
        if claimable {
            chosen.write(chosen.status.claimed());
        }
        let mut claimed = false;
        let block = |_: &mut Switch| {
            w.0[s].push(s);
            w.0[s].reason.set(PASSIVE);
        };
        let claim = |_: &mut Switch| {
            if claimable {
                let lock = &w.0[t].lock;
                lock.acquire();
                claimed = w.0[t].reason.take(FREE, |why| why == PASSIVE).is_some();
                lock.release();
            }
        };
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

#[test]
fn one_of_two_switches_gets_the_scont() {
    explore(3, || {
        let w = World::new();
        let v = w.clone();
        let other = thread::spawn(move || switch(&v, 1, 2));
        let mine = switch(&w, 0, 2);
        assert!(mine != other.join().unwrap(), "exactly one has claimed it");
        assert_eq!(w.0[2].now(), Status::running(1));
        for s in [0, 1] {
            assert_eq!((w.0[s].now(), w.0[s].reason.get()), (Status::waiting(0), PASSIVE));
        }
    });
}

#[test]
fn a_thread_that_has_just_become_passive_runs_elsewhere() {
    explore(3, || {
        let w = World::new();
        let v = w.clone();
        let other = thread::spawn(move || switch(&v, 1, 0));
        assert!(switch(&w, 0, 2));
        let runs_elsewhere = other.join().unwrap();
        let expected = if runs_elsewhere { (Status::running(1), FREE) } else { (Status::waiting(0), PASSIVE) };
        assert_eq!((w.0[0].now(), w.0[0].reason.get()), expected);
        assert_eq!(w.0[0].stack.with(|s| unsafe { (*s).len() }), 1 + runs_elsewhere as usize);
    });
}
