//! The mailbox of a HEC: messages to its holder, and requests to return to the scheduler.
//!
//! *Protocol* for messages:
//! 1. The sender adds its message and sets `any`. Only then does it check who holds the HEC.
//! 2. A task that releases the HEC checks `any` under the same lock (the HEC slot's).
//!
//! So one of three things happens. The sender finds a holder and requests its return, or the releasing task finds the
//! message, or the sender finds no holder and appoints a reader.
//!
//! *Protocol* for requests: a thread runs until it allocates up to a limit; a limit of zero stops it.
//! 1. The sender writes `wanted`, then a full fence, then the limit.
//! 2. A holder that is about to run a thread writes the limit, then a full fence, then reads `wanted`.
//!
//! So either the holder sees the request, or its limit is overwritten with zero.
//!
//! *Locking*: the messages have a lock of their own.
//!
//! *Checked by*: the loom models in `rts/tests/models/mailbox.rs`, which compile this file.
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

    /// Adds a message. The caller then makes sure that a task reads it.
    pub fn add(&self, message: T) {
        let mut messages = self.messages();
        messages.push(message);
        self.any.store(1, Ordering::Relaxed);
    }

    /// Is there a message? Exact under the lock of the HEC slot, or after taking the request that followed the message.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed) != 0
    }

    /// Takes all messages, oldest first.
    pub fn take(&self) -> Vec<T> {
        let mut messages = self.messages();
        self.any.store(0, Ordering::Relaxed);
        std::mem::take(&mut *messages)
    }

    /// Requests that the holder return to the scheduler, even if it is just about to run a thread.
    pub fn request_return(&self, limit: &AtomicUsize) {
        self.wanted.store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        limit.store(0, Ordering::Relaxed);
    }

    /// Lets a thread run up to `end`, unless a return has been requested.
    pub fn open(&self, limit: &AtomicUsize, end: usize) {
        limit.store(end, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.wanted.load(Ordering::Relaxed) != 0 {
            limit.store(0, Ordering::Relaxed);
        }
    }

    /// Is there a request or a message? A hint: one that arrives at this moment may be missed here, but stops the next
    /// thread.
    pub fn has_request(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != 0 || self.any.load(Ordering::Relaxed) != 0
    }

    /// Takes the request to return, if there is one. Acquire, paired with Release in `request_return`: the holder sees
    /// the message.
    pub fn take_return_request(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != 0 && self.wanted.swap(0, Ordering::Acquire) != 0
    }
}
