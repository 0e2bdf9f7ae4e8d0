//! Models of threads that wait for an MVar, and of threads that race to claim them.
//!
//! *Checked*: a waiting thread is claimed by one of them, and no value is lost.
//! *Shipped code*: the locks in `thread/spinlock.rs` and `sync/header_lock.rs`, as `thread/park.rs`, `sync/mvar.rs` and
//! `sync/throwto.rs` use them.
use crate::atomics::{AtomicU16, AtomicUsize};
use crate::explore;
use crate::shipped::header_lock::Header;
use crate::shipped::spinlock::{Reason, Spin};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const FREE: u16 = 0;
const ON_MVAR: u16 = 1;

const LOCKED: usize = 1;
const MVAR: usize = 2;

/// A thread. Only its owner may touch its stack; loom verifies that.
struct Thread {
    lock: Spin,
    reason: Reason,
    stack: UnsafeCell<Vec<&'static str>>,
}

impl Thread {
    fn new(why: u16) -> Thread {
        Thread {
            lock: Spin(AtomicUsize::new(0)),
            reason: Reason(AtomicU16::new(why)),
            stack: UnsafeCell::new(Vec::new()),
        }
    }
    fn claim(&self, why: u16) -> bool {
        self.lock.acquire();
        let got = self.reason.take(FREE, |w| w == why).is_some();
        self.lock.release();
        got
    }
    fn note(&self, what: &'static str) {
        self.stack.with_mut(|s| unsafe { (*s).push(what) })
    }
    fn notes(&self) -> Vec<&'static str> {
        self.stack.with(|s| unsafe { (*s).clone() })
    }
}

#[derive(Default)]
struct MVar {
    waiting: bool,
    full: bool,
}

struct World {
    header: Header,
    mvar: UnsafeCell<MVar>,
    taker: Thread,
}

unsafe impl Sync for World {}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            header: Header(AtomicUsize::new(MVAR)),
            mvar: UnsafeCell::new(MVar::default()),
            taker: Thread::new(FREE),
        })
    }
    fn locked<R>(&self, f: impl FnOnce(&mut MVar) -> R) -> R {
        let info = self.header.lock(LOCKED);
        let r = self.mvar.with_mut(|m| f(unsafe { &mut *m }));
        self.header.unlock(info);
        r
    }
    /// The HEC of the taker parks it, or takes the value for it.
    fn park(&self) {
        self.taker.note("rests");
        let takes = self.locked(|m| {
            if m.full {
                m.full = false;
                return true;
            }
            m.waiting = true;
            self.taker.reason.set(ON_MVAR);
            false
        });
        if takes {
            self.taker.note("took");
        }
    }
    fn put(&self) {
        self.locked(|m| {
            let waits = std::mem::take(&mut m.waiting);
            if waits && self.taker.claim(ON_MVAR) {
                self.taker.note("was served");
            } else {
                m.full = true;
            }
        });
    }
    /// Returns true if the exception is raised now. Otherwise a message goes to the taker's HEC.
    fn throw(&self) -> bool {
        let claimed = self.taker.claim(ON_MVAR);
        if claimed {
            self.locked(|m| m.waiting = false);
            self.taker.note("was interrupted");
        }
        claimed
    }
}

#[test]
fn a_waiter_goes_to_its_waker_or_to_its_thrower() {
    explore(3, || {
        let w = World::new();
        let (p, t) = (w.clone(), w.clone());
        let putter = thread::spawn(move || p.put());
        let thrower = thread::spawn(move || t.throw());
        w.park();
        putter.join().unwrap();
        let thrown = thrower.join().unwrap();
        let notes = w.taker.notes();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert_eq!(w.taker.reason.get(), FREE, "no thread waits for an MVar that has been filled");
        assert_eq!(notes[1] == "was interrupted", thrown);
        w.locked(|m| assert!(!m.waiting && m.full == thrown, "one value, in one place"));
    });
}

#[test]
fn two_throwers_and_a_waker_share_no_thread() {
    explore(2, || {
        let w = World::new();
        w.park();
        let (p, t) = (w.clone(), w.clone());
        let putter = thread::spawn(move || p.put());
        let thrower = thread::spawn(move || t.throw());
        let mine = w.throw();
        putter.join().unwrap();
        let thrown = thrower.join().unwrap();
        assert!(!(mine && thrown));
        assert_eq!(w.taker.notes().len(), 2);
    });
}
