//! Exceptions on their way: what becomes of the messages of `throwTo`.
//!
//! A message has a *source*, the thread that waits for its delivery (or none: it comes from outside Haskell), and a *target*, which may
//! move from HEC to HEC, block and wake all the while. Whoever has the message looks at it under the locks of both threads ([`process`]),
//! and finds the first of these that is true:
//!
//! 1. The source does not wait for this message: another exception has ended its wait. The message is dropped.
//! 2. The target is not blocked, and another HEC's: only that may touch it. The message goes there as a letter, which
//!    is read between threads, and is processed again then, perhaps to follow the target further.
//! 3. The target has finished: the source goes on.
//! 4. The exception may be raised now: the target, if it is blocked, and the source are claimed, and become this HEC's; it is raised, and
//!    both go on.
//! 5. Else the message joins the target's list, last of all. If the target is in a foreign call that can be interrupted, it is.
//!
//! *None is lost.* A message joins a list in two cases only: the target is blocked, and cannot go on before the lock is released; or it is ours,
//! and not running. Whoever has the target from then on finds the message when it looks at the list, as it does whenever it
//! unmasks exceptions, blocks interruptibly, comes back from a foreign call, or finishes. Its owner looks without
//! the lock first ([`is_due`]): others may take messages out meanwhile, but not put any in.
//!
//! *None is delivered twice, or in vain.* A message has one holder, a HEC, an inbox or a list, and counts only while its source waits for it. Whoever
//! delivers it claims the source before it raises. So delivery and an exception that ends the wait
//! exclude each other, wherever the message is, and [`withdraw`] is only tidiness.
//!
//! *Source and target are looked at together*, so the source waits, for others to claim, as long as its message is looked at. Were
//! it claimed first and blocked again when the target turns out not to be ready, there would be moments in which it is neither.
//!
//! Locks: a list, and the links of the messages in it, belong to the lock of the target.
//!
//! `rts/tests/models/throwto.rs` runs this file under loom.
use crate::thread::ownership::{Claim, Held, Ownership, NOT_BLOCKED};

/// When an exception thrown to a thread may be raised in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    Now,
    Later,
    /// Later, but the foreign call it is in should be interrupted.
    LaterInterrupt,
    Never,
}

/// A HEC whose holder throws exceptions, and where it finds the words of threads and messages. All that are named to it are live.
pub trait Thrower {
    type Thread: Copy;
    type Message: Copy + PartialEq;
    type Exception: Copy;

    /// As owners are named.
    fn address(&self) -> usize;
    fn ownership(&self, t: Self::Thread) -> Ownership;
    /// For a thread that is ours or blocked, or about to be, for reason `why`.
    fn when(&self, t: Self::Thread, why: usize) -> When;
    /// Is a thread that is blocked for reason `why` a source that waits for `m`?
    fn waits_for(&self, t: Self::Thread, why: usize, m: Self::Message) -> bool;

    fn source(&self, m: Self::Message) -> Option<Self::Thread>;
    fn target(&self, m: Self::Message) -> Self::Thread;
    fn exception(&self, m: Self::Message) -> Self::Exception;

    /// The first message of a thread's list. Its owner may read this without the lock.
    fn first(&self, t: Self::Thread) -> Option<Self::Message>;
    fn set_first(&mut self, t: Self::Thread, m: Option<Self::Message>);
    fn next(&self, m: Self::Message) -> Option<Self::Message>;
    fn set_next(&mut self, m: Self::Message, next: Option<Self::Message>);

    /// Raises an exception in a target that is ours, and lets it go on if it was blocked.
    fn raise(&mut self, t: Self::Thread, claim: Option<Claim<Self::Thread>>, e: Self::Exception);
    /// Lets a source go on behind its throw.
    fn release(&mut self, source: Claim<Self::Thread>);
    fn interrupt_call(&mut self, t: Self::Thread);
    fn send(&mut self, to: usize, m: Self::Message);
}

/// What is to be done about a target.
enum Turn<T> {
    Elsewhere(usize),
    Never,
    /// Raise: it is ours, or was blocked and has been claimed.
    Now(Option<Claim<T>>),
    /// Wait in its list; perhaps interrupt its call.
    Later {
        interrupt: bool,
    },
}

fn judge<H: Thrower>(h: &H, target: H::Thread, held: &Held) -> Turn<H::Thread> {
    let ownership = h.ownership(target);
    if let Some(owner) = ownership.elsewhere(h.address(), held) {
        return Turn::Elsewhere(owner);
    }
    match h.when(target, ownership.why()) {
        When::Never => Turn::Never,
        When::Now => Turn::Now(ownership.claim(target, h.address(), |_| true, held)),
        When::Later => Turn::Later { interrupt: false },
        When::LaterInterrupt => Turn::Later { interrupt: true },
    }
}

/// Throws from a running thread. False if it must wait: then it blocks on a message, which is processed.
pub fn throw<H: Thrower>(h: &mut H, target: H::Thread, e: H::Exception) -> bool {
    let held = h.ownership(target).lock();
    let turn = judge(h, target, &held);
    drop(held);
    match turn {
        Turn::Never => true,
        Turn::Now(claim) => {
            h.raise(target, claim, e);
            true
        }
        Turn::Elsewhere(_) | Turn::Later { .. } => false,
    }
}

/// Does about a message what its source and its target allow. It is in no list and no inbox; all threads of this HEC are at rest.
pub fn process<H: Thrower>(h: &mut H, m: H::Message) {
    let (source, target) = (h.source(m), h.target(m));
    let held = match source {
        Some(s) => h.ownership(s).lock_both(h.ownership(target)),
        None => h.ownership(target).lock(),
    };
    if source.is_some_and(|s| !h.waits_for(s, h.ownership(s).why(), m)) {
        return;
    }
    let turn = judge(h, target, &held);
    let source = match turn {
        Turn::Never | Turn::Now(_) => source.and_then(|s| h.ownership(s).claim(s, h.address(), |_| true, &held)),
        Turn::Elsewhere(_) => None,
        Turn::Later { .. } => {
            enqueue(h, target, m);
            None
        }
    };
    drop(held);
    match turn {
        Turn::Never | Turn::Later { interrupt: false } => {}
        Turn::Now(claim) => h.raise(target, claim, h.exception(m)),
        // After the message is there: a call that returns by itself finds it.
        Turn::Later { interrupt: true } => h.interrupt_call(target),
        Turn::Elsewhere(owner) => h.send(owner, m),
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

/// Takes the first message off the list of a thread of ours.
fn pop<H: Thrower>(h: &mut H, t: H::Thread) -> Option<H::Message> {
    let _held = h.ownership(t).lock();
    let m = h.first(t)?;
    let rest = h.next(m);
    h.set_first(t, rest);
    h.set_next(m, None);
    Some(m)
}

/// Claims the source of a message. `None`: it waits for that no more, and the message is void.
fn claim_source<H: Thrower>(h: &H, m: H::Message) -> Option<Option<Claim<H::Thread>>> {
    let Some(s) = h.source(m) else { return Some(None) };
    let held = h.ownership(s).lock();
    h.ownership(s).claim(s, h.address(), |why| h.waits_for(s, why, m), &held).map(Some)
}

/// May an exception be raised now in a thread of ours that is about to wait for reason `why`, and does one wait for that?
pub fn is_due<H: Thrower>(h: &H, t: H::Thread, why: usize) -> bool {
    h.first(t).is_some() && h.when(t, why) == When::Now
}

/// As [`is_due`], for a thread that goes on.
pub fn is_due_now<H: Thrower>(h: &H, t: H::Thread) -> bool {
    is_due(h, t, NOT_BLOCKED)
}

/// Raises the first exception that waits for a thread of ours. False if there is none any more.
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

/// A thread of ours has finished: whoever wanted to throw to it goes on.
pub fn finished<H: Thrower>(h: &mut H, t: H::Thread) {
    while let Some(m) = pop(h, t) {
        if let Some(Some(source)) = claim_source(h, m) {
            h.release(source);
        }
    }
}

/// Takes back the message of a source that has been claimed, lest lists of masked threads grow. One that is on
/// its way is void, and will be dropped.
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
