//! The protocol of transactions between HECs: reading, committing, waiting.
//!
//! Each TVar has a version, which is also its lock: odd while a commit writes the TVar, or a
//! waiter joins or leaves its queue. Locks are held within one primitive operation only.
//!
//! **Reading** takes value and version together, by reading the version before and after.
//!
//! **Committing**, first try:
//! 1. lock each TVar written, at the version that was seen;
//! 2. check that each TVar only read is unlocked, at the version that was seen;
//! 3. write the values, wake who waits for them, unlock each at its next version.
//!
//! The transaction took place when step 1 ended: each TVar read was still at its version some
//! time after, and none of those written could change. Of two that each read what the other
//! writes, one at least meets the other's lock in step 2: a fence stands between the steps. A
//! transaction that wrote nothing does only step 2, and writes nothing shared; one that wrote all it touched has no step 2,
//! and needs no fence. With one HEC nobody else is at work and nothing is locked: all versions are compared, then the
//! values written.
//!
//! If a version has moved on, another transaction has committed, and this one must run again. If
//! only a lock is in the way nobody need have got anywhere, and transactions that try and give
//! up together could go on so for ever. So then comes the *second try*: lock all TVars, also
//! those only read, in the order of their addresses, waiting for each. The order excludes
//! circles, and who has all commits. Either way every commit that fails is paid for by one that
//! has succeeded.
//!
//! **Waiting** (`retry#`): join the queue of each TVar, one at a time under its lock, if it is
//! still at the version that was seen; then block; then look once more whether all are. A
//! commit that wakes a queue before the thread was blocked has locked its TVar by then, and the
//! thread's lock makes that visible to this last look, so it is noticed there. A thread that
//! notices tries to claim itself; if somebody else was faster it is awake anyway.
use crate::base::atomics::{fence, AtomicUsize, Ordering};
use crate::thread::spinlock::pause;

const LOCKED: usize = 1;

/// The version after a write at `version`.
pub fn next(version: usize) -> usize {
    version + 2
}

/// The version of a TVar, and its lock.
#[repr(transparent)]
pub struct Version(pub AtomicUsize);

/// What a look at a version said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    Good,
    /// Locked, at the version that was expected.
    Busy,
    /// Another version.
    Changed,
}

impl Version {
    /// The version once nobody holds the lock.
    pub fn settled(&self) -> usize {
        let mut turns = 0;
        loop {
            // Acquire: see `try_lock`.
            let version = self.0.load(Ordering::Acquire);
            if version & LOCKED == 0 {
                return version;
            }
            pause(&mut turns);
        }
    }

    /// Version and value, as they were at one moment.
    pub fn read(&self, value: &AtomicUsize) -> (usize, usize) {
        let mut turns = 0;
        loop {
            match self.try_read(value) {
                Some(found) => return found,
                None => pause(&mut turns),
            }
        }
    }

    /// The same, unless a commit is writing the value.
    #[inline(always)]
    pub fn try_read(&self, value: &AtomicUsize) -> Option<(usize, usize)> {
        // Acquire: the value is no older.
        let before = self.0.load(Ordering::Acquire);
        let found = value.load(Ordering::Acquire);
        // The acquiring load of the value keeps this one after it: a value that was
        // written under a lock shows the lock.
        (before & LOCKED == 0 && self.0.load(Ordering::Relaxed) == before).then_some((before, found))
    }

    pub fn look(&self, expected: usize) -> Look {
        match self.0.load(Ordering::Acquire) {
            v if v == expected => Look::Good,
            v if v == expected | LOCKED => Look::Busy,
            _ => Look::Changed,
        }
    }

    /// Locks if the version is the expected one.
    pub fn try_lock(&self, expected: usize) -> Look {
        // Acquire, also in `look` and `settled`: who finds a new version sees all that its commit had locked, so the next attempt
        // will not read the same old state again. What is written under the lock is released with the values, and the lock with it.
        match self.0.compare_exchange(expected, expected | LOCKED, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => Look::Good,
            Err(v) if v == expected | LOCKED => Look::Busy,
            Err(_) => Look::Changed,
        }
    }

    /// Locks, waiting for it, if the version is the expected one. False if it is another.
    pub fn lock_at(&self, expected: usize) -> bool {
        let mut turns = 0;
        loop {
            match self.try_lock(expected) {
                Look::Good => return true,
                Look::Changed => return false,
                Look::Busy => pause(&mut turns),
            }
        }
    }

    /// Locks, waiting for it. Returns the version.
    pub fn lock(&self) -> usize {
        loop {
            let version = self.settled();
            if self.try_lock(version) == Look::Good {
                return version;
            }
        }
    }

    /// Unlocks at a version: the one it had, or the next.
    pub fn unlock(&self, version: usize) {
        // Release: whoever sees the version sees what was written under the lock.
        self.0.store(version, Ordering::Release);
    }
}

/// What a transaction has done, by entry.
pub trait Log {
    /// How often the first try looks at a lock before it gives up.
    const LOOKS: u32 = 50;

    fn len(&self) -> usize;
    fn version(&self, i: usize) -> &Version;
    /// The version that the transaction saw.
    fn seen(&self, i: usize) -> usize;
    fn written(&self, i: usize) -> bool;
    /// By what TVars are ordered, the same for all while anybody commits.
    fn order(&self, i: usize) -> usize;
    /// Writes the value and wakes who waits. The TVar is locked, if there are several HECs.
    fn publish(&mut self, i: usize);
}

/// Is everything still as the transaction saw it? The caller holds no lock, and waits for them.
pub fn valid(log: &impl Log) -> bool {
    (0..log.len()).all(|i| log.version(i).settled() == log.seen(i))
}

/// Does what the transaction wrote, all at once; false if it has not seen a consistent state.
/// `many`: others may be at work at the same time.
#[inline(always)]
pub fn commit(log: &mut impl Log, many: bool) -> bool {
    if many {
        return match first_try(log) {
            Look::Good => true,
            Look::Changed => false,
            Look::Busy => second_try(log),
        };
    }
    // Nobody else is at work, or holds a lock.
    if (0..log.len()).any(|i| log.version(i).look(log.seen(i)) != Look::Good) {
        return false;
    }
    publish(log, |log, i| log.written(i));
    true
}

#[inline(always)]
fn publish<L: Log>(log: &mut L, locked: impl Fn(&L, usize) -> bool) {
    for i in 0..log.len() {
        if !locked(log, i) {
            continue;
        }
        let seen = log.seen(i);
        if log.written(i) {
            log.publish(i);
            log.version(i).unlock(next(seen));
        } else {
            log.version(i).unlock(seen);
        }
    }
}

/// Looks until the answer is not "busy", but not for long.
fn patiently(looks: u32, mut look: impl FnMut() -> Look) -> Look {
    let mut turns = 0;
    loop {
        let found = look();
        if found != Look::Busy || turns == looks {
            return found;
        }
        pause(&mut turns);
    }
}

fn first_try<L: Log>(log: &mut L) -> Look {
    let mut found = Look::Good;
    // Entries below this one are locked if they are written.
    let mut end = log.len();
    let mut only_read = false;
    for i in 0..log.len() {
        if !log.written(i) {
            only_read = true;
        } else {
            found = patiently(L::LOOKS, || log.version(i).try_lock(log.seen(i)));
            if found != Look::Good {
                end = i;
                break;
            }
        }
    }
    if found == Look::Good && only_read {
        // Our locks are set before we look for others'.
        fence(Ordering::SeqCst);
        let reads = (0..log.len()).filter(|&i| !log.written(i));
        let mut looks = reads.map(|i| patiently(L::LOOKS, || log.version(i).look(log.seen(i))));
        found = looks.find(|&l| l != Look::Good).unwrap_or(Look::Good);
    }
    if found == Look::Good {
        publish(log, |log, i| log.written(i));
    } else {
        unlock(log, (0..end).filter(|&i| log.written(i)));
    }
    found
}

fn unlock(log: &impl Log, entries: impl Iterator<Item = usize>) {
    entries.for_each(|i| log.version(i).unlock(log.seen(i)));
}

fn second_try(log: &mut impl Log) -> bool {
    let mut all: Vec<usize> = (0..log.len()).collect();
    all.sort_unstable_by_key(|&i| log.order(i));
    match all.iter().position(|&i| !log.version(i).lock_at(log.seen(i))) {
        Some(changed) => {
            unlock(log, all[..changed].iter().copied());
            false
        }
        None => {
            publish(log, |_, _| true);
            true
        }
    }
}

/// A transaction that waits for what it has read.
pub trait Waiter: Log {
    /// Puts the thread in the queue of the TVar, which is locked (if there are several HECs).
    fn join(&mut self, i: usize);
    /// Takes it out of the queue, which is locked (if there are several HECs).
    fn leave(&mut self, i: usize);
    /// Marks the thread as blocked, under its lock.
    fn block(&mut self);
    /// Claims the thread, if it is still blocked here.
    fn claim(&mut self) -> bool;
}

/// Makes the thread wait until a TVar changes. False if one has changed already. When this
/// returns true the thread may be another's.
pub fn wait(w: &mut impl Waiter, many: bool) -> bool {
    if !many {
        if !valid(w) {
            return false;
        }
        (0..w.len()).for_each(|i| w.join(i));
        w.block();
        return true;
    }
    for i in 0..w.len() {
        if !w.version(i).lock_at(w.seen(i)) {
            leave_queues(w, i, true);
            return false;
        }
        w.join(i);
        w.version(i).unlock(w.seen(i));
    }
    w.block();
    // A lock may be a commit's that has looked at the queue before we were blocked.
    if valid(w) || !w.claim() {
        return true;
    }
    leave_queues(w, w.len(), true);
    false
}

/// Takes the thread, which is the caller's, out of the first `n` queues.
pub fn leave_queues(w: &mut impl Waiter, n: usize, many: bool) {
    if !many {
        return (0..n).for_each(|i| w.leave(i));
    }
    for i in 0..n {
        let version = w.version(i).lock();
        w.leave(i);
        w.version(i).unlock(version);
    }
}
