//! Models of the user slots of HECs: SConts that are started on idle HECs, threads that leave a slot, and HECs that
//! sleep.
//!
//! *Checked*: a slot has one thread at a time, which sees what the one before it did there. A thread that has left its
//! slot and blocks is not taken for one that is in it. A HEC that sleeps after `retry#` in a switch is woken, and goes
//! on with its own thread.
//! *Shipped code*: `hec/user_slot.rs`, `hec/mailbox.rs` and what [`crate::support::scont_world`] lists.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::commit::{commit, wait, write_alone, Log, Version, Waiter};
use crate::shipped::mailbox::Mailbox;
use crate::shipped::ownership::NOT_BLOCKED;
use crate::shipped::scont_protocol::Status;
use crate::shipped::user_slot::UserSlot;
use crate::support::scont_world::{self, PASSIVE};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

const ON_MVAR: usize = 1;

/// A thread, and whether it is in a slot.
type Thread = scont_world::Thread<bool>;

impl Thread {
    fn set_in_slot(&self, is: bool) {
        self.own.with_mut(|p| unsafe { *p = is })
    }
    fn is_in_slot(&self) -> bool {
        self.own.with(|p| unsafe { *p })
    }
}

/// HECs that no thread of a user scheduler uses at the beginning, and passive threads. What a slot's thread does on the
/// HEC is counted in a plain word.
struct World {
    hecs: Vec<(UserSlot, UnsafeCell<usize>)>,
    threads: Vec<Thread>,
}

unsafe impl Sync for World {}
unsafe impl Send for World {}

impl World {
    fn new(hecs: usize, threads: usize) -> Arc<World> {
        Arc::new(World {
            hecs: (0..hecs).map(|_| (UserSlot::new(), UnsafeCell::new(0))).collect(),
            threads: (0..threads).map(|_| Thread::new(Status::ready(0), PASSIVE, false)).collect(),
        })
    }
    /// As `runOnIdleHEC` does it, for SCont 0 of a thread. Returns the HEC.
    fn run_on_idle(&self, me: usize, t: usize) -> Option<usize> {
        let no = self.hecs.iter().position(|(slot, _)| slot.take())?;
        let thread = &self.threads[t];
        let claimed = write_alone(&thread.version, true, || {
            let now = thread.now();
            (now.is_claimable(0) && thread.claim(me, PASSIVE)).then(|| {
                thread.status.store(now.claimed().0, Ordering::Release);
            })
        });
        if claimed.is_none() {
            self.hecs[no].0.leave();
            return None;
        }
        thread.set_in_slot(true);
        self.work(no);
        Some(no)
    }
    /// The thread in the slot of a HEC does something there.
    fn work(&self, no: usize) {
        self.hecs[no].1.with_mut(|n| unsafe { *n += 1 });
    }
    fn used(&self) -> usize {
        self.hecs.iter().filter(|(slot, _)| slot.is_used()).count()
    }
}

#[test]
fn one_scont_starts_on_one_hec() {
    explore(3, || {
        let w = World::new(2, 1);
        let v = w.clone();
        let other = thread::spawn(move || v.run_on_idle(2, 0));
        let mine = w.run_on_idle(1, 0);
        let other = other.join().unwrap();
        assert!(mine.is_some() != other.is_some(), "exactly one has started it");
        assert_eq!((w.used(), w.threads[0].now()), (1, Status::running(1)));
    });
}

#[test]
fn one_hec_gets_one_scont() {
    explore(3, || {
        let w = World::new(1, 2);
        let v = w.clone();
        let other = thread::spawn(move || v.run_on_idle(2, 1));
        let started = [w.run_on_idle(1, 0), other.join().unwrap()].map(|no| no.is_some());
        assert!(started[0] != started[1], "exactly one has the HEC");
        for (t, started) in w.threads.iter().zip(started) {
            assert_eq!(t.now(), if started { Status::running(1) } else { Status::ready(0) });
        }
        assert_eq!(w.used(), 1);
    });
}

#[test]
fn the_next_thread_in_a_slot_comes_after_the_last() {
    explore(3, || {
        let w = World::new(1, 1);
        assert!(w.hecs[0].0.take());
        let v = w.clone();
        // The slot's thread ends.
        let ends = thread::spawn(move || {
            v.work(0);
            v.hecs[0].0.leave();
        });
        let started = w.run_on_idle(1, 0).is_some();
        ends.join().unwrap();
        assert_eq!(w.used(), started as usize);
        assert_eq!(w.hecs[0].1.with(|n| unsafe { *n }), 1 + started as usize);
    });
}

#[test]
fn a_waker_finds_a_blocked_thread_outside_the_slot() {
    explore(3, || {
        let w = World::new(1, 1);
        let t = &w.threads[0];
        // It runs in the slot of the HEC.
        assert!(w.hecs[0].0.take() && t.claim(1, PASSIVE));
        t.set_in_slot(true);
        let v = w.clone();
        let waker = thread::spawn(move || {
            let t = &v.threads[0];
            // It is woken outside the slot, becomes passive again, and its scheduler may choose it.
            let woken = t.claim(2, ON_MVAR);
            if woken {
                assert!(!t.is_in_slot(), "it would go to a HEC that has gone on");
                write_alone(&t.version, true, || {
                    t.ownership().block(PASSIVE);
                    t.status.store(Status::waiting(0).0, Ordering::Release);
                    Some(())
                });
            }
            woken
        });
        // It leaves the slot, then blocks; an upcall goes on in the slot.
        t.set_in_slot(false);
        t.ownership().block(ON_MVAR);
        w.work(0);
        let woken = waker.join().unwrap();
        assert_eq!(t.ownership().why(), if woken { PASSIVE } else { ON_MVAR });
        assert!(woken || t.claim(1, ON_MVAR));
        assert_ne!(t.ownership().why(), if woken { NOT_BLOCKED } else { ON_MVAR });
    });
}

/// The thread in the slot of HEC 0 returns from a foreign call, while the ticker finds that the call takes long, and a
/// task takes the HEC.
#[test]
fn a_slot_of_a_thread_in_a_call_passes_on_once() {
    explore(3, || {
        let w = World::new(1, 1);
        assert!(w.hecs[0].0.take() && w.threads[0].claim(1, PASSIVE));
        w.threads[0].set_in_slot(true);
        w.work(0);
        w.hecs[0].0.begin_call();
        // Held by the task that holds the HEC. Inside: does the slot wait for the thread?
        let held = Arc::new(Mutex::new(true));
        let (v, h) = (w.clone(), held.clone());
        let taker = thread::spawn(move || {
            if !v.hecs[0].0.note_long_call() {
                return false;
            }
            let mut waits = h.lock().unwrap();
            let takes = v.hecs[0].0.is_overdue();
            if takes {
                assert!(*waits, "the thread has the slot again");
                *waits = false;
                v.threads[0].set_in_slot(false);
                v.hecs[0].0.end_call();
                v.work(0);
            }
            takes
        });
        let returned = {
            let mut waits = held.lock().unwrap();
            let keeps = *waits;
            if keeps {
                *waits = false;
                w.hecs[0].0.end_call();
                w.work(0);
            }
            assert_eq!(w.threads[0].is_in_slot(), keeps);
            keeps
        };
        assert!(taker.join().unwrap() != returned, "one of them has the slot");
        assert!(w.hecs[0].0.is_used() && !w.hecs[0].0.is_in_call() && !w.hecs[0].0.is_overdue());
    });
}

const ON_STM: usize = 6;

/// HEC 1, the thread in its slot, and a TVar for which this thread waits.
struct Sleep {
    version: Version,
    waited_for: UnsafeCell<bool>,
    thread: Thread,
    mailbox: Mailbox<()>,
    limit: AtomicUsize,
    /// No task holds the HEC. The lock is that of its slot for tasks.
    free: Mutex<bool>,
    /// How often the thread goes on.
    runs: AtomicUsize,
}

unsafe impl Sync for Sleep {}
unsafe impl Send for Sleep {}

impl Sleep {
    fn new() -> Arc<Sleep> {
        let thread = Thread::new(Status::running(0), NOT_BLOCKED, true);
        thread.owner.store(1, Ordering::Relaxed);
        Arc::new(Sleep {
            version: Version(AtomicUsize::new(0)),
            waited_for: UnsafeCell::new(false),
            thread,
            mailbox: Mailbox::new(),
            limit: AtomicUsize::new(1),
            free: Mutex::new(false),
            runs: AtomicUsize::new(0),
        })
    }
    /// A task that holds HEC 1 runs what has been sent to it.
    fn read_messages(&self) {
        let n = self.mailbox.take().len();
        self.runs.fetch_add(n, Ordering::Relaxed);
    }
    /// HEC `me` wakes the thread, if it waits: it goes back to its own HEC.
    fn wake(&self, me: usize) {
        if !self.thread.claim(me, ON_STM) {
            return;
        }
        assert!(self.thread.is_in_slot());
        self.thread.ownership().hand_over(1);
        self.mailbox.add(());
        let mut free = self.free.lock().unwrap();
        if std::mem::replace(&mut *free, false) {
            drop(free);
            self.read_messages();
        } else {
            drop(free);
            self.mailbox.request_return(&self.limit);
        }
    }
    /// The thread on HEC 1 retries, and the HEC sleeps.
    fn retry(&self, seen: usize) {
        if !wait(&mut Tvar { w: self, seen, written: false }, true) {
            self.runs.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut free = self.free.lock().unwrap();
        if self.mailbox.any() {
            drop(free);
            self.read_messages();
        } else {
            *free = true;
        }
    }
}

/// The log of a transaction that has touched the TVar. HEC 2 writes it.
struct Tvar<'a> {
    w: &'a Sleep,
    seen: usize,
    written: bool,
}

impl Log for Tvar<'_> {
    const SPINS: u32 = 0;
    fn len(&self) -> usize {
        1
    }
    fn version(&self, _: usize) -> &Version {
        &self.w.version
    }
    fn seen(&self, _: usize) -> usize {
        self.seen
    }
    fn is_written(&self, _: usize) -> bool {
        self.written
    }
    fn order(&self, i: usize) -> usize {
        i
    }
    fn publish(&mut self, _: usize) {
        if self.w.waited_for.with(|q| unsafe { *q }) {
            self.w.wake(2);
        }
    }
}

impl Waiter for Tvar<'_> {
    fn join(&mut self, _: usize) {
        self.w.waited_for.with_mut(|q| unsafe { *q = true });
    }
    fn leave(&mut self, _: usize) {
        self.w.waited_for.with_mut(|q| unsafe { *q = false });
    }
    fn block(&mut self) {
        let _held = self.w.thread.ownership().lock();
        self.w.thread.ownership().block(ON_STM);
    }
    fn claim(&mut self) -> bool {
        self.w.thread.claim(1, ON_STM)
    }
}

/// HEC 1 sleeps while HEC 2 gives it work and, if `thrown`, HEC 3 throws to its thread.
fn sleep(thrown: bool) {
    explore(2, move || {
        let w = Sleep::new();
        let v = w.clone();
        let enqueuer = thread::spawn(move || {
            let done = commit(&mut Tvar { w: &v, seen: 0, written: true }, true);
            assert!(done, "no other transaction writes");
        });
        let v = w.clone();
        let thrower = thrown.then(|| thread::spawn(move || v.wake(3)));
        w.retry(0);
        enqueuer.join().unwrap();
        if let Some(thrower) = thrower {
            thrower.join().unwrap();
        }
        assert_eq!(w.runs.load(Ordering::Relaxed), 1, "the thread goes on once");
        assert_eq!((w.thread.owner.load(Ordering::Relaxed), w.thread.ownership().why()), (1, NOT_BLOCKED));
    });
}

#[test]
fn a_hec_that_sleeps_goes_on_with_its_thread() {
    sleep(false);
}

#[test]
fn a_message_wakes_a_hec_that_sleeps() {
    sleep(true);
}
