//! Thunk protocol: claims, updates and waiting for a thunk that several HECs may enter at once [HMP05, §3].
//!
//! *Protocol*: a thunk has a header and a spare word, the *indirectee*. Compiled code enters and updates it with plain
//! loads and stores:
//!
//! ```text
//!   update:  indirectee = value;  header = IND             (unless the header is IND or a black hole)
//!   eager:   indirectee = thread; header = EAGER_BLACKHOLE (compiled with -feager-blackholing)
//! ```
//!
//! The runtime claims a thunk for a thread that stops. That must exclude other claims:
//!
//! ```text
//!   claim:   header: thunk → WHITEHOLE (compare and exchange); indirectee = thread; header = BLACKHOLE
//! ```
//!
//! These steps interleave. An update that read the header before a claim may store its value under the claim. The claim
//! may also overwrite its value, and the update then stores IND over BLACKHOLE.
//!
//! **Updating a claimed thunk**: the thread exchanges the indirectee, from a claim to the value. If threads wait, it
//! finds their queue there. A value that is there already stays.
//!
//! **Waiting**: the thread exchanges a claim by a thread for a queue with its entry. If it finds a queue, it adds its
//! entry, unless the queue is closed. A thread that wakes a queue closes it. A closed queue is in no indirectee, so a
//! thread whose entry is refused examines the thunk again.
//!
//! **Lost queues**: the plain stores may overwrite a queue. So a queue also hangs on the owner of the claim, before it
//! is in the indirectee. The owner returns to its update frame, or loses it, and exchanges the indirectee. The owner
//! may find another word than its own claim, or lose a frame because it no longer owns the thunk. It then wakes all
//! queues that hang on it and whose thunks it does not evaluate ([`release_queues`]). It misses none: a queue that got
//! into the indirectee hung on the owner before, and replaced the owner's claim, so the owner's exchange comes later.
//! Waking too many is harmless, because a woken thread enters the thunk again.
//!
//! *Invariants*
//! - From the first time that the header is no thunk's, **the indirectee decides**, whatever the header says. If it is
//!   a thread (a *claim by* that thread) or a queue of waiters (a claim by the queue's owner), the thunk is under
//!   evaluation. Anything else is its value.
//! - A thunk that has been claimed is never unclaimed again.
//!
//! *Orderings*: values and queues are published by the store of the word that leads to them (Release), and read after
//! that word (Acquire). The exchanges of the indirectee and of the owner's list are SeqCst. Otherwise the plain store
//! between a waiter's and the owner's exchange of the indirectee would break the chain by which one sees what the other
//! did before.
//!
//! *Checked by*: the loom models in `rts/tests/evaluation`, which compile this file.
use crate::base::atomics::AtomicUsize;
use crate::base::atomics::Ordering::*;

/// The headers that make a thunk's indirectee decide, as this runtime writes them.
pub struct Headers {
    pub ind: usize,
    pub blackhole: usize,
    pub whitehole: usize,
}

/// What the indirectee of a thunk says, once the header is no thunk's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Under evaluation by this thread.
    By(usize),
    /// Under evaluation, and other threads wait in this queue.
    Queue(usize),
    Value,
}

/// Access to the words of objects. All addresses passed to it are of live objects.
pub trait Memory {
    /// The end of a list of queues or entries; also the entries of a closed queue.
    fn end(&self) -> usize;
    /// May other HECs change words at the same time?
    fn shared(&self) -> bool;
    fn headers(&self) -> Headers;
    /// Is `header` IND or one of the black holes?
    fn indirectee_decides(&self, header: usize) -> bool;
    fn claim(&self, indirectee: usize) -> Claim;
    fn header(&self, thunk: usize) -> &AtomicUsize;
    fn indirectee(&self, thunk: usize) -> &AtomicUsize;
    /// The entries of a queue, latest first.
    fn entries(&self, queue: usize) -> &AtomicUsize;
    fn next_entry(&self, entry: usize) -> &AtomicUsize;
    /// The thunk that a queue was made for.
    fn thunk_of(&self, queue: usize) -> usize;
    fn owner_of(&self, queue: usize) -> usize;
    /// The queues that hang on a thread, latest first.
    fn hanging(&self, thread: usize) -> &AtomicUsize;
    fn next_hanging(&self, queue: usize) -> &AtomicUsize;
}

/// The state of a thunk, as a thread finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Unclaimed,
    /// Another thread is claiming it at this moment, or giving it a value.
    BeingClaimed,
    /// Claimed: its indirectee, and what that says.
    Claimed(usize, Claim),
}

/// The result of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The value has replaced this claim.
    Replaced(Claim),
    /// The thunk has this value already.
    Kept(usize),
}

/// An operation that is left to the caller, which knows threads and the collector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pending {
    /// Wake the threads of these entries, latest first.
    Wake(usize),
    /// The link of this queue is about to change.
    Relink(usize),
}

/// Exchanges `old` for `new`, or returns the current value if another thread was faster.
fn exchange<M: Memory>(m: &M, word: &AtomicUsize, old: usize, new: usize) -> Result<usize, usize> {
    if m.shared() {
        word.compare_exchange(old, new, SeqCst, Acquire)
    } else {
        word.store(new, Relaxed);
        Ok(old)
    }
}

/// Reads the state of a thunk.
pub fn inspect<M: Memory>(m: &M, thunk: usize) -> State {
    let header = m.header(thunk).load(Acquire);
    if m.indirectee_decides(header) {
        let indirectee = m.indirectee(thunk).load(Acquire);
        State::Claimed(indirectee, m.claim(indirectee))
    } else if header == m.headers().whitehole {
        State::BeingClaimed
    } else {
        State::Unclaimed
    }
}

/// The thread that owns a claim.
pub fn owner<M: Memory>(m: &M, claim: Claim) -> Option<usize> {
    match claim {
        Claim::By(thread) => Some(thread),
        Claim::Queue(queue) => Some(m.owner_of(queue)),
        Claim::Value => None,
    }
}

/// Gives an unclaimed thunk an indirectee and a header. Returns the old header, or `None` if another thread was faster.
fn take<M: Memory>(m: &M, thunk: usize, indirectee: usize, header: usize) -> Option<usize> {
    let hole = m.headers().whitehole;
    let seen = m.header(thunk).load(Acquire);
    if seen == hole || m.indirectee_decides(seen) || exchange(m, m.header(thunk), seen, hole).is_err() {
        return None;
    }
    m.indirectee(thunk).store(indirectee, Release);
    m.header(thunk).store(header, Release);
    Some(seen)
}

/// Claims an unclaimed thunk for a thread. Returns the header it had, or `None` if another thread was faster.
pub fn claim<M: Memory>(m: &M, thunk: usize, thread: usize) -> Option<usize> {
    take(m, thunk, thread, m.headers().blackhole)
}

/// Gives an unclaimed thunk its value. Returns false if another thread was faster.
pub fn fill<M: Memory>(m: &M, thunk: usize, value: usize) -> bool {
    take(m, thunk, value, m.headers().ind).is_some()
}

/// Gives a claimed thunk its value, whichever thread owns the claim.
pub fn finish<M: Memory>(m: &M, thunk: usize, value: usize) -> Outcome {
    let mut indirectee = m.indirectee(thunk).load(Acquire);
    loop {
        let claim = m.claim(indirectee);
        if claim != Claim::Value {
            if let Err(now) = exchange(m, m.indirectee(thunk), indirectee, value) {
                indirectee = now;
                continue;
            }
        }
        m.header(thunk).store(m.headers().ind, Release);
        return match claim {
            Claim::Value => Outcome::Kept(indirectee),
            claim => Outcome::Replaced(claim),
        };
    }
}

/// Performs what remains after an update by the thread whose frame has gone.
pub fn after_update<M: Memory>(m: &M, thread: usize, outcome: Outcome, mut pending: impl FnMut(Pending)) {
    let before = match outcome {
        Outcome::Kept(_) => return release_queues(m, thread, pending),
        Outcome::Replaced(before) => before,
    };
    if let Claim::Queue(queue) = before {
        pending(Pending::Wake(close(m, queue)));
    }
    match owner(m, before) {
        Some(o) if o != thread => release_queues(m, thread, pending),
        Some(_) if m.shared() => prune(m, thread),
        _ => {}
    }
}

/// Puts an entry in a queue. Returns false if the queue is closed.
pub fn enqueue<M: Memory>(m: &M, queue: usize, entry: usize) -> bool {
    let mut latest = m.entries(queue).load(Acquire);
    while latest != m.end() {
        m.next_entry(entry).store(latest, Relaxed);
        match exchange(m, m.entries(queue), latest, entry) {
            Ok(_) => return true,
            Err(now) => latest = now,
        }
    }
    false
}

/// Replaces a claim by a new queue, which has one entry and was made for `thunk` and the thread that claims it. Returns
/// false if the claim is no longer there; then the queue is closed.
pub fn open<M: Memory>(m: &M, queue: usize) -> bool {
    let (thunk, owner) = (m.thunk_of(queue), m.owner_of(queue));
    if m.shared() {
        hang(m, owner, queue);
    }
    let opened = exchange(m, m.indirectee(thunk), owner, queue).is_ok();
    if !opened {
        close(m, queue);
    }
    opened
}

/// Closes a queue. Returns its entries, latest first, which the caller must wake.
pub fn close<M: Memory>(m: &M, queue: usize) -> usize {
    if m.shared() {
        return m.entries(queue).swap(m.end(), SeqCst);
    }
    let entries = m.entries(queue).load(Relaxed);
    m.entries(queue).store(m.end(), Relaxed);
    entries
}

fn hang<M: Memory>(m: &M, thread: usize, queue: usize) {
    let mut latest = m.hanging(thread).load(Acquire);
    loop {
        m.next_hanging(queue).store(latest, Relaxed);
        match m.hanging(thread).compare_exchange(latest, queue, SeqCst, Acquire) {
            Ok(_) => return,
            Err(now) => latest = now,
        }
    }
}

/// Takes closed queues off the front of a thread's list. Only HECs that act for the thread take queues off, so a queue
/// that is first stays before its successor.
pub fn prune<M: Memory>(m: &M, thread: usize) {
    loop {
        let first = m.hanging(thread).load(Acquire);
        if first == m.end() || m.entries(first).load(Acquire) != m.end() {
            return;
        }
        let rest = m.next_hanging(first).load(Relaxed);
        // If another queue has been added meanwhile, that one is open.
        if m.hanging(thread).compare_exchange(first, rest, SeqCst, Relaxed).is_err() {
            return;
        }
    }
}

/// Closes the queues that hang on a thread and whose thunks it does not evaluate any more. Only HECs that act for the
/// thread call this, when one of its frames has gone.
pub fn release_queues<M: Memory>(m: &M, thread: usize, mut pending: impl FnMut(Pending)) {
    if !m.shared() {
        return;
    }
    let mut queue = m.hanging(thread).swap(m.end(), SeqCst);
    while queue != m.end() {
        let rest = m.next_hanging(queue).load(Relaxed);
        let claim = m.claim(m.indirectee(m.thunk_of(queue)).load(SeqCst));
        if owner(m, claim) != Some(thread) {
            pending(Pending::Wake(close(m, queue)));
        } else if m.entries(queue).load(Acquire) != m.end() {
            pending(Pending::Relink(queue));
            hang(m, thread, queue);
        }
        queue = rest;
    }
}
