//! The words of a thunk, and what several HECs may do to them at the same time.
//!
//! A thunk has a header and a spare word, the *indirectee*. Compiled code enters and updates it
//! with plain loads and stores (2005 paper, §3):
//!
//! ```text
//!   update:  indirectee = value;  header = IND             (unless the header is IND or a black hole)
//!   eager:   indirectee = thread; header = EAGER_BLACKHOLE (compiled with -feager-blackholing)
//! ```
//!
//! The runtime claims a thunk for a thread that stops, and that must exclude other claims:
//!
//! ```text
//!   claim:   header: thunk → WHITEHOLE (compare and exchange); indirectee = thread; header = BLACKHOLE
//! ```
//!
//! These interleave. An update whose look at the header came before a claim may store its value
//! under the claim, or have its value overwritten by the claim and then store IND over BLACKHOLE.
//! So from the first time on that the header is no thunk's, **the indirectee decides** whatever
//! the header says: a thread (a *claim by* it) or a queue of waiters (a claim by the queue's
//! owner) is a thunk under evaluation, anything else is its value. A thunk once claimed is never
//! unclaimed again.
//!
//! *Who updates a claimed thunk* exchanges the indirectee, from a claim to the value, and finds
//! the queue there if anybody waits. A value that is there already stays.
//!
//! *Who waits* exchanges a claim by a thread for a queue with its entry, or adds its entry to the
//! queue it finds, unless that is closed. Whoever wakes a queue closes it; a closed queue is in no
//! indirectee, so an entry refused means that the thunk is worth another look.
//!
//! *The plain stores* overwrite queues unseen. So a queue also hangs on the claim's owner, and
//! does so before it is in the indirectee. The owner comes by: it returns to its update frame
//! or loses it, and exchanges the indirectee. If it finds anything but its own claim, or loses a
//! frame because the thunk is not its own any more, it wakes all queues that hang on it and whose
//! thunk is not under its evaluation ([`settle`]). Why it misses none: a queue that got into the
//! indirectee hung on the owner before, and found the owner's claim there, so the owner's exchange
//! comes later. To wake too often is harmless: a thread that wakes enters the thunk again.
//!
//! Orders: values and queues are published by the store of the word that leads to them (Release)
//! and read after that word (Acquire). The exchanges of indirectee and of the owner's list are
//! SeqCst, since the plain store between a waiter's and the owner's exchange of the indirectee
//! breaks the chain by which the one would see what the other did before.
//!
//! `rts/tests/evaluation` runs this file under loom.
use crate::base::atomics::AtomicUsize;
use crate::base::atomics::Ordering::*;

/// The headers that say that a thunk's indirectee counts, as this runtime writes them.
pub struct Headers {
    pub ind: usize,
    pub blackhole: usize,
    pub whitehole: usize,
}

/// What the indirectee of a thunk is, once the header is no thunk's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Under evaluation by this thread.
    By(usize),
    /// Under evaluation, and others wait in this queue.
    Queue(usize),
    Value,
}

/// Where the words are. All addresses given to it are of live objects.
pub trait Memory {
    /// The end of a list of queues or entries; the entries of a closed queue.
    fn end(&self) -> usize;
    /// May others change words at the same time?
    fn shared(&self) -> bool;
    fn headers(&self) -> Headers;
    /// Is `header` IND or one of the black holes?
    fn indirectee_counts(&self, header: usize) -> bool;
    fn claim(&self, indirectee: usize) -> Claim;
    fn header(&self, thunk: usize) -> &AtomicUsize;
    fn indirectee(&self, thunk: usize) -> &AtomicUsize;
    /// The entries of a queue, latest first.
    fn entries(&self, queue: usize) -> &AtomicUsize;
    fn next_entry(&self, entry: usize) -> &AtomicUsize;
    /// The thunk, and the thread, that a queue was made for.
    fn thunk_of(&self, queue: usize) -> usize;
    fn owner_of(&self, queue: usize) -> usize;
    /// The queues that hang on a thread, latest first.
    fn hanging(&self, thread: usize) -> &AtomicUsize;
    fn next_hanging(&self, queue: usize) -> &AtomicUsize;
}

/// A thunk as a thread finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Unclaimed,
    /// Another thread claims it at this moment, or gives it a value.
    BeingClaimed,
    /// Claimed: its indirectee, and what that is.
    Claimed(usize, Claim),
}

/// What became of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The value is in, in the place of this claim.
    Replaced(Claim),
    /// There is a value already.
    Kept(usize),
}

/// What is left to the caller, who knows threads and the collector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pending {
    /// The threads of these entries, latest first, are to be woken.
    Wake(usize),
    /// The link of this queue is about to change.
    Relink(usize),
}

/// From `old` to `new`, unless somebody was faster: then what is there.
fn exchange<M: Memory>(m: &M, word: &AtomicUsize, old: usize, new: usize) -> Result<usize, usize> {
    if m.shared() {
        word.compare_exchange(old, new, SeqCst, Acquire)
    } else {
        word.store(new, Relaxed);
        Ok(old)
    }
}

/// Looks at a thunk.
pub fn look<M: Memory>(m: &M, thunk: usize) -> State {
    let header = m.header(thunk).load(Acquire);
    if m.indirectee_counts(header) {
        let indirectee = m.indirectee(thunk).load(Acquire);
        State::Claimed(indirectee, m.claim(indirectee))
    } else if header == m.headers().whitehole {
        State::BeingClaimed
    } else {
        State::Unclaimed
    }
}

/// Which thread a claim is by.
pub fn owner<M: Memory>(m: &M, claim: Claim) -> Option<usize> {
    match claim {
        Claim::By(thread) => Some(thread),
        Claim::Queue(queue) => Some(m.owner_of(queue)),
        Claim::Value => None,
    }
}

/// Gives an unclaimed thunk an indirectee and a header; the old header, or `None` if somebody was
/// faster.
fn seize<M: Memory>(m: &M, thunk: usize, indirectee: usize, header: usize) -> Option<usize> {
    let hole = m.headers().whitehole;
    let seen = m.header(thunk).load(Acquire);
    if seen == hole || m.indirectee_counts(seen) || exchange(m, m.header(thunk), seen, hole).is_err() {
        return None;
    }
    m.indirectee(thunk).store(indirectee, Release);
    m.header(thunk).store(header, Release);
    Some(seen)
}

/// Claims an unclaimed thunk for a thread: the header it had.
pub fn claim<M: Memory>(m: &M, thunk: usize, thread: usize) -> Option<usize> {
    seize(m, thunk, thread, m.headers().blackhole)
}

/// Gives an unclaimed thunk its value. False if somebody was faster.
pub fn fill<M: Memory>(m: &M, thunk: usize, value: usize) -> bool {
    seize(m, thunk, value, m.headers().ind).is_some()
}

/// Gives a thunk that has been claimed, by whomever, its value.
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

/// What the thread whose frame has gone owes after an update.
pub fn after_update<M: Memory>(m: &M, thread: usize, outcome: Outcome, mut owe: impl FnMut(Pending)) {
    let before = match outcome {
        Outcome::Kept(_) => return settle(m, thread, owe),
        Outcome::Replaced(before) => before,
    };
    if let Claim::Queue(queue) = before {
        owe(Pending::Wake(close(m, queue)));
    }
    match owner(m, before) {
        Some(o) if o != thread => settle(m, thread, owe),
        Some(_) if m.shared() => prune(m, thread),
        _ => {}
    }
}

/// Puts an entry in a queue. False if the queue is closed.
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

/// Puts a queue that nobody knows yet, made for `thunk` and the thread that claims it, and
/// with one entry in it, in the place of the claim. False if the claim is not there any more; then
/// the queue is closed.
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

/// Closes a queue: its entries, latest first, are the caller's to wake.
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

/// Takes closed queues off the front of a thread's list. Only those who act for the thread take
/// queues off, so one that is first stays before its successor.
pub fn prune<M: Memory>(m: &M, thread: usize) {
    loop {
        let first = m.hanging(thread).load(Acquire);
        if first == m.end() || m.entries(first).load(Acquire) != m.end() {
            return;
        }
        let rest = m.next_hanging(first).load(Relaxed);
        // Should another queue have come, that one is open.
        if m.hanging(thread).compare_exchange(first, rest, SeqCst, Relaxed).is_err() {
            return;
        }
    }
}

/// Closes the queues that hang on a thread and whose thunks it does not evaluate (any more). Called by those who act for the thread only, when a
/// frame of its has gone.
pub fn settle<M: Memory>(m: &M, thread: usize, mut owe: impl FnMut(Pending)) {
    if !m.shared() {
        return;
    }
    let mut queue = m.hanging(thread).swap(m.end(), SeqCst);
    while queue != m.end() {
        let rest = m.next_hanging(queue).load(Relaxed);
        let claim = m.claim(m.indirectee(m.thunk_of(queue)).load(SeqCst));
        if owner(m, claim) != Some(thread) {
            owe(Pending::Wake(close(m, queue)));
        } else if m.entries(queue).load(Acquire) != m.end() {
            owe(Pending::Relink(queue));
            hang(m, thread, queue);
        }
        queue = rest;
    }
}
