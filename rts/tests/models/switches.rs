//! Models of switches between SConts on several HECs.
//!
//! *Checked*: an SCont is claimed once, and its thread runs as the HEC left it that made it passive. A passive thread
//! gets an exception, or what it waits for, but not both.
//! *Shipped code*: `sync/stm/scont_protocol.rs`, `sync/stm/commit.rs`, `sync/throwto_protocol.rs`,
//! `thread/ownership.rs` and `thread/spinlock.rs`.
use crate::atomics::{AtomicU16, AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::commit::{commit, next, Log, Version};
use crate::shipped::ownership::{Claim, Ownership};
use crate::shipped::scont_protocol::{commit_switch, Status};
use crate::shipped::spinlock::{Reason, Spin};
use crate::shipped::throwto_protocol::{throw, Thrower, When};
use crate::support::leaked;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const FREE: u16 = 0;
const PASSIVE: u16 = 64;

/// A thread with its status TVar. Only its owner may touch its stack; loom verifies that.
struct Thread {
    version: Version,
    status: AtomicUsize,
    lock: &'static Spin,
    reason: &'static Reason,
    owner: &'static AtomicUsize,
    stack: UnsafeCell<Vec<usize>>,
}

impl Thread {
    fn new(status: Status, why: u16) -> Thread {
        Thread {
            version: Version(AtomicUsize::new(0)),
            status: AtomicUsize::new(status.0),
            lock: leaked(Spin(AtomicUsize::new(0))),
            reason: leaked(Reason(AtomicU16::new(why))),
            owner: leaked(AtomicUsize::new(0)),
            stack: UnsafeCell::new(Vec::new()),
        }
    }
    fn push(&self, word: usize) {
        self.stack.with_mut(|s| unsafe { (*s).push(word) })
    }
    fn ownership(&self) -> Ownership {
        Ownership { lock: Some(self.lock), reason: self.reason, owner: self.owner }
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
                let ownership = w.0[t].ownership();
                let held = ownership.lock();
                claimed = ownership.claim((), s, |why| why == PASSIVE as usize, &held).is_some();
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

/// A HEC that throws to thread 2, which is masked or not.
struct Killer<'a> {
    w: &'a World,
    masked: bool,
    raised: bool,
}

impl Thrower for Killer<'_> {
    type Thread = usize;
    type Message = ();
    type Exception = ();

    fn address(&self) -> usize {
        9
    }
    fn ownership(&self, t: usize) -> Ownership {
        self.w.0[t].ownership()
    }
    fn when(&self, t: usize, why: usize) -> When {
        let given = self.w.0[t].now().is_ready();
        if why == PASSIVE as usize && !(self.masked && given) {
            When::Now
        } else {
            When::Later
        }
    }
    fn is_passive(&self, t: usize) -> bool {
        self.ownership(t).why() == PASSIVE as usize
    }
    fn lock_status(&self, t: usize) -> usize {
        self.w.0[t].version.lock()
    }
    fn unlock_status(&mut self, t: usize, version: usize, claimed: bool) {
        let t = &self.w.0[t];
        if claimed {
            t.status.store(t.now().claimed().0, Ordering::Release);
        }
        t.version.unlock(if claimed { next(version) } else { version });
    }
    fn raise(&mut self, t: usize, claim: Option<Claim<usize>>, _: ()) {
        assert!(claim.is_some());
        self.w.0[t].push(9);
        self.raised = true;
    }
    // There are no messages.
    fn waits_for(&self, _: usize, _: usize, _: ()) -> bool {
        false
    }
    fn source(&self, _: ()) -> Option<usize> {
        None
    }
    fn target(&self, _: ()) -> usize {
        2
    }
    fn exception(&self, _: ()) {}
    fn first(&self, _: usize) -> Option<()> {
        None
    }
    fn set_first(&mut self, _: usize, _: Option<()>) {}
    fn next(&self, _: ()) -> Option<()> {
        None
    }
    fn set_next(&mut self, _: (), _: Option<()>) {}
    fn release(&mut self, _: Claim<usize>) {}
    fn interrupt_call(&mut self, _: usize) {}
    fn send(&mut self, _: usize, _: ()) {}
}

/// Throws to thread 2. Returns whether the exception was raised at once.
fn kill(w: &World, masked: bool) -> bool {
    let mut killer = Killer { w, masked, raised: false };
    let done = throw(&mut killer, 2, ());
    assert_eq!(done, killer.raised);
    done
}

/// A transaction gives thread 2 to its scheduler, if its SCont 0 is current. Returns whether it was.
fn give(w: &World) -> bool {
    loop {
        let mut log = Switch(w, Vec::new());
        let entry = log.read(2);
        let current = entry.status.is_claimable(0);
        if current {
            entry.write(Status::ready(0));
        }
        if commit(&mut log, true) {
            return current;
        }
    }
}

#[test]
fn a_switch_or_an_exception_gets_a_passive_thread() {
    explore(3, || {
        let w = World::new();
        let v = w.clone();
        let killer = thread::spawn(move || kill(&v, false));
        let switched = switch(&w, 0, 2);
        assert!(switched != killer.join().unwrap(), "exactly one has claimed it");
        assert_eq!(w.0[2].now(), Status::running(1));
        assert_eq!(w.0[2].stack.with(|s| unsafe { (*s).len() }), 1);
    });
}

#[test]
fn a_masked_thread_is_given_to_its_scheduler_or_gets_an_exception() {
    explore(3, || {
        let w = World::new();
        w.0[2].status.store(Status::waiting(0).0, Ordering::Relaxed);
        let v = w.clone();
        let killer = thread::spawn(move || kill(&v, true));
        let given = give(&w);
        assert!(given != killer.join().unwrap(), "it has what it waited for, or the exception");
        assert_eq!(w.0[2].now(), if given { Status::ready(0) } else { Status::running(1) });
    });
}
