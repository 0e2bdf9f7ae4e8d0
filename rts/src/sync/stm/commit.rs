//! Commit protocol of transactions: reading, validation, committing and waiting [HMP05, §5].
//!
//! *Protocol*: Each TVar has a version, which is also its lock. The version is odd while a commit writes the TVar, or
//! while a waiter joins or leaves its queue. A lock is held within one primitive operation only.
//!
//! **Reading** loads the version before and after the value, so that version and value belong together.
//!
//! **Committing**, first try:
//! 1. Lock each TVar written, at the version that was seen.
//! 2. Check that each TVar that was only read is unlocked, at the version that was seen.
//! 3. Write the values, wake the threads that wait for them, and unlock each TVar at its next version.
//!
//! The transaction takes effect at the end of step 1. Each TVar that was only read still had its version some time
//! later, and no TVar that was written could change. Two transactions may each read what the other writes. A fence
//! between steps 1 and 2 ensures that at least one of them sees the other's lock in step 2. A transaction that wrote
//! nothing does only step 2, and writes nothing shared. One that wrote every TVar it touched has no step 2, and needs
//! no fence. With one HEC nothing is locked: all versions are compared, then the values are written.
//!
//! If a version has changed, another transaction has committed, and this one must run again. If only a lock is in the
//! way, no transaction need have committed, and transactions that fail together could repeat this for ever. So the
//! commit then makes a **second try**: it locks all TVars, also those only read, in the order of their addresses, and
//! waits for each lock. The order excludes deadlock, and a transaction that holds all locks commits. So every commit
//! that fails does so because another has succeeded.
//!
//! **Waiting** (`retry#`):
//! 1. Join the queue of each TVar, one at a time under its lock, if it is still at the version that was seen.
//! 2. Block the thread.
//! 3. Validate once more. A commit that read a queue before the thread was blocked had locked its TVar by then. The
//!    thread's lock makes that visible to this last check. If the check fails, the thread tries to claim itself; if
//!    another HEC was faster, it is awake anyway.
//!
//! *Invariant*: a transaction that commits has seen a consistent state.
//!
//! *Checked by*: the loom models in `rts/tests/models/transactions.rs`, which compile this file.
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

/// The result of comparing a version with the one that a transaction saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VersionCheck {
    Current,
    /// Locked, at the expected version.
    Locked,
    /// The TVar has another version.
    Changed,
}

impl Version {
    /// Waits until the TVar is unlocked, and returns its version.
    pub fn wait_unlocked(&self) -> usize {
        let mut spins = 0;
        loop {
            // Acquire: see `try_lock`.
            let version = self.0.load(Ordering::Acquire);
            if version & LOCKED == 0 {
                return version;
            }
            pause(&mut spins);
        }
    }

    /// Reads version and value as they were at one moment.
    pub fn read(&self, value: &AtomicUsize) -> (usize, usize) {
        let mut spins = 0;
        loop {
            match self.try_read(value) {
                Some(found) => return found,
                None => pause(&mut spins),
            }
        }
    }

    /// As [`Version::read`], but returns `None` while a commit writes the value.
    #[inline(always)]
    pub fn try_read(&self, value: &AtomicUsize) -> Option<(usize, usize)> {
        // Acquire: the value is at least as new as the version.
        let before = self.0.load(Ordering::Acquire);
        let found = value.load(Ordering::Acquire);
        // The acquire load of the value keeps this load after it: a value written under a lock makes the lock
        // visible.
        (before & LOCKED == 0 && self.0.load(Ordering::Relaxed) == before).then_some((before, found))
    }

    pub fn check(&self, expected: usize) -> VersionCheck {
        match self.0.load(Ordering::Acquire) {
            v if v == expected => VersionCheck::Current,
            v if v == expected | LOCKED => VersionCheck::Locked,
            _ => VersionCheck::Changed,
        }
    }

    /// Locks the TVar if its version is the expected one.
    pub fn try_lock(&self, expected: usize) -> VersionCheck {
        // Acquire, also in `check` and `wait_unlocked`: a thread that finds a new version also sees all locks of the
        // commit that wrote it. So its next attempt does not read the old state again. `unlock` releases what was
        // written.
        match self.0.compare_exchange(expected, expected | LOCKED, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => VersionCheck::Current,
            Err(v) if v == expected | LOCKED => VersionCheck::Locked,
            Err(_) => VersionCheck::Changed,
        }
    }

    /// Waits for the lock and takes it if the version is the expected one. Returns false if it is another.
    pub fn lock_at(&self, expected: usize) -> bool {
        let mut spins = 0;
        loop {
            match self.try_lock(expected) {
                VersionCheck::Current => return true,
                VersionCheck::Changed => return false,
                VersionCheck::Locked => pause(&mut spins),
            }
        }
    }

    /// Waits for the lock and takes it. Returns the version.
    pub fn lock(&self) -> usize {
        loop {
            let version = self.wait_unlocked();
            if self.try_lock(version) == VersionCheck::Current {
                return version;
            }
        }
    }

    /// Unlocks the TVar at the version that it had, or at the next one.
    pub fn unlock(&self, version: usize) {
        // Release: a thread that sees the version also sees what was written under the lock.
        self.0.store(version, Ordering::Release);
    }
}

/// What a transaction has read and written, one entry for each TVar.
pub trait Log {
    /// The most polls of one lock in the first try. A commit holds its locks for less than that, unless it is
    /// descheduled.
    const SPINS: u32 = 50;

    fn len(&self) -> usize;
    fn version(&self, i: usize) -> &Version;
    /// The version that the transaction saw.
    fn seen(&self, i: usize) -> usize;
    fn is_written(&self, i: usize) -> bool;
    /// The key by which TVars are ordered. It does not change while any commit is under way.
    fn order(&self, i: usize) -> usize;
    /// Writes the value and wakes the threads that wait for it. The TVar is locked if there are several HECs.
    fn publish(&mut self, i: usize);
}

/// Is everything still as the transaction saw it? The caller holds no lock; this waits until each TVar is unlocked.
pub fn is_valid(log: &impl Log) -> bool {
    (0..log.len()).all(|i| log.version(i).wait_unlocked() == log.seen(i))
}

/// Performs all writes of the transaction at once. Returns false if it has not seen a consistent state.
/// `many`: other HECs may run at the same time.
#[inline(always)]
pub fn commit(log: &mut impl Log, many: bool) -> bool {
    commit_with(log, many, |_| ())
}

/// As [`commit`]. If the transaction commits, `act` is called before anything is published, while all TVars written are
/// locked.
#[inline(always)]
pub fn commit_with<L: Log>(log: &mut L, many: bool, mut act: impl FnMut(&mut L)) -> bool {
    if many {
        return match first_try(log, &mut act) {
            VersionCheck::Current => true,
            VersionCheck::Changed => false,
            VersionCheck::Locked => second_try(log, &mut act),
        };
    }
    // No other HEC runs or holds a lock.
    if (0..log.len()).any(|i| log.version(i).check(log.seen(i)) != VersionCheck::Current) {
        return false;
    }
    act(log);
    publish(log, |log, i| log.is_written(i));
    true
}

#[inline(always)]
fn publish<L: Log>(log: &mut L, locked: impl Fn(&L, usize) -> bool) {
    for i in 0..log.len() {
        if !locked(log, i) {
            continue;
        }
        let seen = log.seen(i);
        if log.is_written(i) {
            log.publish(i);
            log.version(i).unlock(next(seen));
        } else {
            log.version(i).unlock(seen);
        }
    }
}

/// Writes one TVar outside any transaction. `write` is called while the TVar is locked, and returns `None` if it leaves
/// the TVar as it was.
pub fn write_alone<R>(version: &Version, many: bool, write: impl FnOnce() -> Option<R>) -> Option<R> {
    let seen = if many { version.lock() } else { version.wait_unlocked() };
    let result = write();
    version.unlock(if result.is_some() { next(seen) } else { seen });
    result
}

/// Repeats the check while the TVar is locked, at most `max_spins` times.
fn spin_while_locked(max_spins: u32, mut check: impl FnMut() -> VersionCheck) -> VersionCheck {
    let mut spins = 0;
    loop {
        let found = check();
        if found != VersionCheck::Locked || spins == max_spins {
            return found;
        }
        pause(&mut spins);
    }
}

fn first_try<L: Log>(log: &mut L, act: &mut impl FnMut(&mut L)) -> VersionCheck {
    let mut found = VersionCheck::Current;
    // Entries below this one are locked if they are written.
    let mut end = log.len();
    let mut only_read = false;
    for i in 0..log.len() {
        if !log.is_written(i) {
            only_read = true;
        } else {
            found = spin_while_locked(L::SPINS, || log.version(i).try_lock(log.seen(i)));
            if found != VersionCheck::Current {
                end = i;
                break;
            }
        }
    }
    if found == VersionCheck::Current && only_read {
        // This transaction's locks are stored before the locks of others are loaded.
        fence(Ordering::SeqCst);
        let reads = (0..log.len()).filter(|&i| !log.is_written(i));
        let mut checks = reads.map(|i| spin_while_locked(L::SPINS, || log.version(i).check(log.seen(i))));
        found = checks.find(|&l| l != VersionCheck::Current).unwrap_or(VersionCheck::Current);
    }
    if found == VersionCheck::Current {
        act(log);
        publish(log, |log, i| log.is_written(i));
    } else {
        unlock(log, (0..end).filter(|&i| log.is_written(i)));
    }
    found
}

fn unlock(log: &impl Log, entries: impl Iterator<Item = usize>) {
    entries.for_each(|i| log.version(i).unlock(log.seen(i)));
}

fn second_try<L: Log>(log: &mut L, act: &mut impl FnMut(&mut L)) -> bool {
    let mut all: Vec<usize> = (0..log.len()).collect();
    all.sort_unstable_by_key(|&i| log.order(i));
    match all.iter().position(|&i| !log.version(i).lock_at(log.seen(i))) {
        Some(changed) => {
            unlock(log, all[..changed].iter().copied());
            false
        }
        None => {
            act(log);
            publish(log, |_, _| true);
            true
        }
    }
}

/// A transaction that waits until a TVar that it has read changes.
pub trait Waiter: Log {
    /// Puts the thread in the queue of the TVar, which is locked if there are several HECs.
    fn join(&mut self, i: usize);
    /// Takes the thread out of the queue of the TVar, which is locked if there are several HECs.
    fn leave(&mut self, i: usize);
    /// Marks the thread as blocked, under its lock.
    fn block(&mut self);
    /// Claims the thread, if it is still blocked here.
    fn claim(&mut self) -> bool;
}

/// Makes the thread wait until a TVar changes. Returns false if one has changed already. After a return of true,
/// another HEC may own the thread.
pub fn wait(w: &mut impl Waiter, many: bool) -> bool {
    if !many {
        if !is_valid(w) {
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
    // A lock may belong to a commit that read the queue before the thread was blocked.
    if is_valid(w) || !w.claim() {
        return true;
    }
    leave_queues(w, w.len(), true);
    false
}

/// Takes the thread, which the caller owns, out of the first `n` queues.
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
