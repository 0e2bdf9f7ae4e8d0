//! Delivery of `throwTo` messages between HECs.
//!
//! A message has a *source*, the thread that waits for its delivery, or none if it comes from outside Haskell. It has a
//! *target*, which may meanwhile move from HEC to HEC, block and wake.
//!
//! *Protocol*: the HEC that holds a message examines it under the locks of both threads ([`process`]). The first case
//! that is true applies:
//! 1. The source no longer waits for this message, because another exception has ended its wait. The message is
//!    dropped.
//! 2. The target is not blocked and another HEC owns it. Only that HEC may change it. The message goes to that HEC's
//!    mailbox. It is read between threads and processed again, and may then follow the target further.
//! 3. The target has finished: the source resumes.
//! 4. The exception may be raised now. This HEC claims the source, and also the target if it is blocked. It raises the
//!    exception, and both threads resume.
//! 5. Otherwise the message joins the end of the target's list. If the target is in an interruptible foreign call, the
//!    call is interrupted.
//!
//! A *passive* target, which waits in a `switch`, is claimed under the lock of its status
//! ([`crate::sync::stm::scont_protocol`]), as by a commit that switches to it. So either the commit claims it, and
//! the exception follows it, or the thrower does, and the commit finds another status than it has read.
//!
//! *Invariants*
//! - *No message is lost.* A message joins a list in two cases only. Either the target is blocked and cannot resume
//!   before the lock is released, or this HEC owns the target and it is not running. Every later owner of the target
//!   finds the message, because it checks the list when the target unmasks, blocks interruptibly, returns from a
//!   foreign call or finishes. The owner checks first without the lock ([`is_due`]): other HECs may remove messages
//!   meanwhile, but not add any.
//! - *No message is delivered twice, or without effect.* A message has one holder: a HEC, a mailbox or a list. It is
//!   valid only while its source waits for it. A HEC claims the source before it raises the exception. So delivery
//!   excludes an exception that ends the wait, wherever the message is. [`withdraw`] only keeps lists short.
//! - *Source and target are examined together.* The source stays blocked, so other threads can claim it. If a HEC
//!   claimed the source first and blocked it again when the target is not ready, the source would for a moment be
//!   neither blocked nor running.
//!
//! *Locking*: the lock of the target protects its list and the links of the messages in it. The status of a passive
//! target is locked before threads are.
//!
//! *Checked by*: the loom models in `rts/tests/models/throwto.rs`, which compile this file.
use crate::thread::ownership::{Claim, Held, Ownership, NOT_BLOCKED};

/// When an exception thrown to a thread may be raised in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    Now,
    Later,
    /// Later, but the foreign call that the thread is in should be interrupted.
    LaterInterrupt,
    Never,
}

/// A HEC whose holder throws exceptions, with access to the fields of threads and messages. All its arguments are live.
pub trait Thrower {
    type Thread: Copy;
    type Message: Copy + PartialEq;
    type Exception: Copy;

    /// The address that names this HEC as an owner.
    fn address(&self) -> usize;
    fn ownership(&self, t: Self::Thread) -> Ownership;
    /// When may an exception be raised in a thread that this HEC owns, or that is blocked or about to block for `why`?
    fn when(&self, t: Self::Thread, why: usize) -> When;
    /// Is a thread that is blocked for reason `why` a source that waits for `m`?
    fn waits_for(&self, t: Self::Thread, why: usize, m: Self::Message) -> bool;

    /// Is the thread passive? Unless it is locked, this may change.
    fn is_passive(&self, t: Self::Thread) -> bool;
    /// Locks the status of a passive thread, and returns its version.
    fn lock_status(&self, t: Self::Thread) -> usize;
    /// Unlocks the status, which was locked at this version. If the thread has been `claimed`, the status says so.
    fn unlock_status(&mut self, t: Self::Thread, version: usize, claimed: bool);

    fn source(&self, m: Self::Message) -> Option<Self::Thread>;
    fn target(&self, m: Self::Message) -> Self::Thread;
    fn exception(&self, m: Self::Message) -> Self::Exception;

    /// The first message of a thread's list. Its owner may read this without the lock.
    fn first(&self, t: Self::Thread) -> Option<Self::Message>;
    fn set_first(&mut self, t: Self::Thread, m: Option<Self::Message>);
    fn next(&self, m: Self::Message) -> Option<Self::Message>;
    fn set_next(&mut self, m: Self::Message, next: Option<Self::Message>);

    /// Raises an exception in a target that this HEC owns, and resumes the target if it was blocked.
    fn raise(&mut self, t: Self::Thread, claim: Option<Claim<Self::Thread>>, e: Self::Exception);
    /// Resumes a source after its throw.
    fn release(&mut self, source: Claim<Self::Thread>);
    fn interrupt_call(&mut self, t: Self::Thread);
    fn send(&mut self, to: usize, m: Self::Message);
}

/// What to do with a message for a target.
enum Delivery<T> {
    Elsewhere(usize),
    Never,
    /// Raise the exception: this HEC owns the target, or has claimed it.
    Now(Option<Claim<T>>),
    /// Add the message to the target's list, and perhaps interrupt its foreign call.
    Later {
        interrupt: bool,
    },
}

fn decide<H: Thrower>(h: &H, target: H::Thread, held: &Held) -> Delivery<H::Thread> {
    let ownership = h.ownership(target);
    if let Some(owner) = ownership.elsewhere(h.address(), held) {
        return Delivery::Elsewhere(owner);
    }
    match h.when(target, ownership.why()) {
        When::Never => Delivery::Never,
        When::Now => Delivery::Now(ownership.claim(target, h.address(), |_| true, held)),
        When::Later => Delivery::Later { interrupt: false },
        When::LaterInterrupt => Delivery::Later { interrupt: true },
    }
}

/// The locks under which a message for a target is examined.
struct Examined {
    held: Held,
    /// The version of the target's status, if it is passive.
    status: Option<usize>,
}

/// Locks the target, and the source if there is one.
fn examine<H: Thrower>(h: &H, source: Option<H::Thread>, target: H::Thread) -> Examined {
    let ownership = h.ownership(target);
    loop {
        let status = h.is_passive(target).then(|| h.lock_status(target));
        let held = match source {
            Some(s) => h.ownership(s).lock_both(ownership),
            None => ownership.lock(),
        };
        if status.is_some() || !h.is_passive(target) {
            return Examined { held, status };
        }
        // It has become passive meanwhile.
    }
}

impl Examined {
    fn release<H: Thrower>(self, h: &mut H, target: H::Thread, claimed: bool) {
        drop(self.held);
        if let Some(version) = self.status {
            h.unlock_status(target, version, claimed);
        }
    }
}

impl<T> Delivery<T> {
    fn has_claimed(&self) -> bool {
        matches!(self, Delivery::Now(Some(_)))
    }
}

/// Throws from a running thread. Returns false if the thread must wait: it then blocks on a message, which is
/// processed.
pub fn throw<H: Thrower>(h: &mut H, target: H::Thread, e: H::Exception) -> bool {
    let locks = examine(h, None, target);
    let delivery = decide(h, target, &locks.held);
    locks.release(h, target, delivery.has_claimed());
    match delivery {
        Delivery::Never => true,
        Delivery::Now(claim) => {
            h.raise(target, claim, e);
            true
        }
        Delivery::Elsewhere(_) | Delivery::Later { .. } => false,
    }
}

/// Processes a message as its source and target allow. It is in no list and no mailbox. All threads of this HEC are at
/// rest.
pub fn process<H: Thrower>(h: &mut H, m: H::Message) {
    let (source, target) = (h.source(m), h.target(m));
    let locks = examine(h, source, target);
    if source.is_some_and(|s| !h.waits_for(s, h.ownership(s).why(), m)) {
        return locks.release(h, target, false);
    }
    let delivery = decide(h, target, &locks.held);
    let source = match delivery {
        Delivery::Never | Delivery::Now(_) => {
            source.and_then(|s| h.ownership(s).claim(s, h.address(), |_| true, &locks.held))
        }
        Delivery::Elsewhere(_) => None,
        Delivery::Later { .. } => {
            enqueue(h, target, m);
            None
        }
    };
    locks.release(h, target, delivery.has_claimed());
    match delivery {
        Delivery::Never | Delivery::Later { interrupt: false } => {}
        Delivery::Now(claim) => h.raise(target, claim, h.exception(m)),
        // Only after the message is in the list: a call that returns by itself then finds it.
        Delivery::Later { interrupt: true } => h.interrupt_call(target),
        Delivery::Elsewhere(owner) => h.send(owner, m),
    }
    if let Some(s) = source {
        h.release(s);
    }
}

fn enqueue<H: Thrower>(h: &mut H, target: H::Thread, m: H::Message) {
    let Some(mut last) = h.first(target) else { return h.set_first(target, Some(m)) };
    while let Some(next) = h.next(last) {
        last = next;
    }
    h.set_next(last, Some(m));
}

/// Removes the first message from the list of a thread that this HEC owns.
fn pop<H: Thrower>(h: &mut H, t: H::Thread) -> Option<H::Message> {
    let _held = h.ownership(t).lock();
    let m = h.first(t)?;
    let rest = h.next(m);
    h.set_first(t, rest);
    h.set_next(m, None);
    Some(m)
}

/// Claims the source of a message. Returns `None` if the source no longer waits for it: the message is void.
fn claim_source<H: Thrower>(h: &H, m: H::Message) -> Option<Option<Claim<H::Thread>>> {
    let Some(s) = h.source(m) else { return Some(None) };
    let held = h.ownership(s).lock();
    h.ownership(s).claim(s, h.address(), |why| h.waits_for(s, why, m), &held).map(Some)
}

/// Does an exception wait that may be raised in a thread of this HEC that is about to wait for `why`?
pub fn is_due<H: Thrower>(h: &H, t: H::Thread, why: usize) -> bool {
    h.first(t).is_some() && h.when(t, why) == When::Now
}

/// As [`is_due`], for a thread that resumes.
pub fn is_due_now<H: Thrower>(h: &H, t: H::Thread) -> bool {
    is_due(h, t, NOT_BLOCKED)
}

/// Raises the first exception that waits for a thread of this HEC. Returns false if there is none.
pub fn deliver_first<H: Thrower>(h: &mut H, t: H::Thread) -> bool {
    while let Some(m) = pop(h, t) {
        if let Some(source) = claim_source(h, m) {
            h.raise(t, None, h.exception(m));
            if let Some(s) = source {
                h.release(s);
            }
            return true;
        }
    }
    false
}

/// A thread of this HEC has finished: resumes the sources of the messages in its list.
pub fn finished<H: Thrower>(h: &mut H, t: H::Thread) {
    while let Some(m) = pop(h, t) {
        if let Some(Some(source)) = claim_source(h, m) {
            h.release(source);
        }
    }
}

/// Removes the message of a claimed source from the target's list, so that lists of masked threads do not grow. A
/// message in a mailbox is void, and is dropped when it is read.
pub fn withdraw<H: Thrower>(h: &mut H, m: H::Message) {
    let target = h.target(m);
    let _held = h.ownership(target).lock();
    let mut before = None;
    let mut at = h.first(target);
    while let Some(found) = at.filter(|&at| at != m) {
        before = at;
        at = h.next(found);
    }
    if at.is_none() {
        return;
    }
    let rest = h.next(m);
    match before {
        None => h.set_first(target, rest),
        Some(before) => h.set_next(before, rest),
    }
}
