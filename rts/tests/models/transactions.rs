//! Models of transactions, with TVars that hold plain numbers.
//!
//! *Checked*: commits are atomic, a failed transaction reads a newer state, and no waiter misses a change.
//! *Shipped code*: `sync/stm/commit.rs` and `thread/spinlock.rs`.
use crate::atomics::{AtomicU16, AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::commit::{commit, is_valid, leave_queues, wait, Log, Version, Waiter};
use crate::shipped::spinlock::{Reason, Spin};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const FREE: u16 = 0;
const WAITING: u16 = 1;

struct TVar {
    version: Version,
    value: AtomicUsize,
    /// Does the waiting thread wait here? Under the lock.
    queue: UnsafeCell<bool>,
}

struct Memory {
    tvars: Vec<TVar>,
    /// The one thread that may wait.
    lock: Spin,
    reason: Reason,
    woken: AtomicUsize,
}

unsafe impl Sync for Memory {}

impl Memory {
    fn new(tvars: usize) -> Arc<Memory> {
        let tvar = |_| TVar {
            version: Version(AtomicUsize::new(0)),
            value: AtomicUsize::new(0),
            queue: UnsafeCell::new(false),
        };
        Arc::new(Memory {
            tvars: (0..tvars).map(tvar).collect(),
            lock: Spin(AtomicUsize::new(0)),
            reason: Reason(AtomicU16::new(FREE)),
            woken: AtomicUsize::new(0),
        })
    }
    fn claim(&self) -> bool {
        self.lock.acquire();
        let got = self.reason.take(FREE, |_| true).is_some();
        self.lock.release();
        got
    }
    fn now(&self, i: usize) -> usize {
        self.tvars[i].value.load(Ordering::Relaxed)
    }
}

struct Entry {
    tvar: usize,
    version: usize,
    value: usize,
    written: bool,
}

struct Transaction {
    memory: Arc<Memory>,
    log: Vec<Entry>,
}

impl Transaction {
    fn new(memory: &Arc<Memory>) -> Transaction {
        Transaction { memory: memory.clone(), log: Vec::new() }
    }
    fn entry(&mut self, tvar: usize) -> &mut Entry {
        let i = self.log.iter().position(|e| e.tvar == tvar).unwrap_or_else(|| {
            let v = &self.memory.tvars[tvar];
            let (version, value) = v.version.read(&v.value);
            self.log.push(Entry { tvar, version, value, written: false });
            self.log.len() - 1
        });
        &mut self.log[i]
    }
    fn read(&mut self, tvar: usize) -> usize {
        self.entry(tvar).value
    }
    fn write(&mut self, tvar: usize, value: usize) {
        let e = self.entry(tvar);
        e.value = value;
        e.written = true;
    }
    fn commit(mut self) -> bool {
        commit(&mut self, true)
    }
}

impl Log for Transaction {
    const SPINS: u32 = 0;
    fn len(&self) -> usize {
        self.log.len()
    }
    fn version(&self, i: usize) -> &Version {
        &self.memory.tvars[self.log[i].tvar].version
    }
    fn seen(&self, i: usize) -> usize {
        self.log[i].version
    }
    fn is_written(&self, i: usize) -> bool {
        self.log[i].written
    }
    fn order(&self, i: usize) -> usize {
        self.log[i].tvar
    }
    fn publish(&mut self, i: usize) {
        let v = &self.memory.tvars[self.log[i].tvar];
        v.value.store(self.log[i].value, Ordering::Release);
        let waits = v.queue.with(|q| unsafe { *q });
        if waits && self.memory.claim() {
            self.memory.woken.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Waiter for Transaction {
    fn join(&mut self, i: usize) {
        self.memory.tvars[self.log[i].tvar].queue.with_mut(|q| unsafe { *q = true })
    }
    fn leave(&mut self, i: usize) {
        self.memory.tvars[self.log[i].tvar].queue.with_mut(|q| unsafe { *q = false })
    }
    fn block(&mut self) {
        self.memory.lock.acquire();
        self.memory.reason.set(WAITING);
        self.memory.lock.release();
    }
    fn claim(&mut self) -> bool {
        self.memory.claim()
    }
}

/// Reads one TVar and, if it is 0, writes 1 to another.
fn take_if_free(m: &Arc<Memory>, other: usize, mine: usize) -> bool {
    let mut t = Transaction::new(m);
    if t.read(other) == 0 {
        t.write(mine, 1);
    }
    t.commit()
}

#[test]
fn one_of_two_conflicting_transactions_commits() {
    explore(3, || {
        let m = Memory::new(2);
        let n = m.clone();
        let other = thread::spawn(move || take_if_free(&n, 0, 1));
        let mine = take_if_free(&m, 1, 0);
        let theirs = other.join().unwrap();
        assert!(m.now(0) + m.now(1) == 1, "exactly one has written");
        assert!(mine || theirs, "each failure is paid for by a success");
    });
}

fn write_two(m: &Arc<Memory>) -> thread::JoinHandle<bool> {
    let m = m.clone();
    thread::spawn(move || {
        let mut t = Transaction::new(&m);
        t.write(0, 1);
        t.write(1, 1);
        t.commit()
    })
}

/// `fails` tells whether a transaction that has read fails, as far as it can know.
fn check_reread_after_failure(fails: fn(Transaction) -> bool) {
    explore(3, move || {
        let m = Memory::new(2);
        let writer = write_two(&m);
        let read_both = || {
            let mut t = Transaction::new(&m);
            t.read(0);
            t.read(1);
            t
        };
        if fails(read_both()) {
            assert!(read_both().commit(), "nothing else is written");
        }
        assert!(writer.join().unwrap());
    });
}

#[test]
fn a_failed_commit_does_not_read_the_old_state_again() {
    check_reread_after_failure(|t| !t.commit());
}

#[test]
fn a_failed_validation_does_not_read_the_old_state_again() {
    check_reread_after_failure(|t| !is_valid(&t));
}

#[test]
fn values_written_together_are_read_together() {
    explore(3, || {
        let m = Memory::new(2);
        let writer = write_two(&m);
        let mut t = Transaction::new(&m);
        let (x, y) = (t.read(0), t.read(1));
        let read = t.commit();
        assert!(!read || x == y);
        assert!(writer.join().unwrap(), "a reader blocks no writer");
    });
}

#[test]
fn a_reader_sees_what_a_value_refers_to() {
    explore(3, || {
        let m = Memory::new(1);
        let object = Arc::new(UnsafeCell::new(0));
        let (n, made) = (m.clone(), object.clone());
        let writer = thread::spawn(move || {
            made.with_mut(|o| unsafe { *o = 7 });
            let mut t = Transaction::new(&n);
            t.write(0, 1);
            assert!(t.commit());
        });
        if Transaction::new(&m).read(0) == 1 {
            assert_eq!(object.with(|o| unsafe { *o }), 7);
        }
        writer.join().unwrap();
    });
}

#[test]
fn transactions_that_lock_in_different_orders_all_commit() {
    explore(2, || {
        let m = Memory::new(2);
        let add = |m: &Arc<Memory>, first: usize| {
            let mut tries = 0;
            loop {
                let mut t = Transaction::new(m);
                for tvar in [first, 1 - first] {
                    let x = t.read(tvar);
                    t.write(tvar, x + 1);
                }
                tries += 1;
                if t.commit() {
                    return tries;
                }
            }
        };
        let n = m.clone();
        let other = thread::spawn(move || add(&n, 1));
        let tries = add(&m, 0) + other.join().unwrap();
        assert_eq!((m.now(0), m.now(1)), (2, 2));
        assert!(tries <= 3, "a transaction fails only if another has committed");
    });
}

#[test]
fn no_waiter_sleeps_through_a_change() {
    explore(3, || {
        let m = Memory::new(2);
        let n = m.clone();
        let writer = thread::spawn(move || {
            let mut t = Transaction::new(&n);
            t.write(1, 1);
            t.commit()
        });
        let mut t = Transaction::new(&m);
        let unchanged = t.read(0) + t.read(1) == 0;
        let waits = unchanged && wait(&mut t, true);
        assert!(writer.join().unwrap(), "a waiter blocks no writer");
        let woken = m.woken.load(Ordering::Relaxed);
        assert_eq!(woken, waits as usize, "woken if it waits, and once");
        assert_eq!(m.reason.get(), FREE);
        if waits {
            leave_queues(&mut t, 2, true);
        }
        assert!(m.tvars.iter().all(|v| !v.queue.with(|q| unsafe { *q })));
    });
}
