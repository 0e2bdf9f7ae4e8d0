//! How others reach the holder of a HEC: letters, and calls to come back to the scheduler.
//!
//! Letters. The sender adds its letter, says that there is one, and only then looks who holds the
//! HEC; whoever gives the HEC up looks whether there is a letter, under the same lock (the seat's).
//! So either the sender finds a holder, whom it calls back, or the one who gives up finds the
//! letter, or the sender finds nobody and appoints a reader.
//!
//! Calls. A thread runs until it allocates up to a limit; zero stops it. The caller writes `wanted`
//! and then the limit; a holder that is about to run a thread writes the limit and then reads
//! `wanted`; with a full fence between the two on either side. So either the holder sees the call,
//! or its limit is overwritten with zero.
//!
//! `rts/tests/models/mailbox.rs` runs this file under loom.
use crate::base::atomics::{fence, AtomicUsize, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;

pub struct Mailbox<T> {
    messages: Mutex<Vec<T>>,
    any: AtomicUsize,
    wanted: AtomicUsize,
}

impl<T> Mailbox<T> {
    pub fn new() -> Mailbox<T> {
        Mailbox { messages: Mutex::new(Vec::new()), any: AtomicUsize::new(0), wanted: AtomicUsize::new(0) }
    }

    pub fn messages(&self) -> MutexGuard<'_, Vec<T>> {
        unpoisoned(self.messages.lock())
    }

    /// Adds a letter. The caller then sees to it that somebody reads it.
    pub fn add(&self, message: T) {
        let mut messages = self.messages();
        messages.push(message);
        self.any.store(1, Ordering::Relaxed);
    }

    /// Is there a letter? Exact for who holds the seat's lock, or has heard the call that followed it; the letters have a lock of their own.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed) != 0
    }

    /// Takes all letters, oldest first.
    pub fn take(&self) -> Vec<T> {
        let mut messages = self.messages();
        self.any.store(0, Ordering::Relaxed);
        std::mem::take(&mut *messages)
    }

    /// Calls the holder back, even if it is just about to run a thread.
    pub fn call_back(&self, limit: &AtomicUsize) {
        self.wanted.store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        limit.store(0, Ordering::Relaxed);
    }

    /// Lets a thread run up to `end`, unless the holder is called back.
    pub fn open(&self, limit: &AtomicUsize, end: usize) {
        limit.store(end, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.wanted.load(Ordering::Relaxed) != 0 {
            limit.store(0, Ordering::Relaxed);
        }
    }

    /// Is there a call or a letter? A hint: one that comes at this moment may be missed here, but stops the next thread.
    pub fn has_request(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != 0 || self.any.load(Ordering::Relaxed) != 0
    }

    /// Has the holder been called back? It has heard it then. (Acquire, and Release in `call_back`: it sees the letter.)
    pub fn called_back(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != 0 && self.wanted.swap(0, Ordering::Acquire) != 0
    }
}
