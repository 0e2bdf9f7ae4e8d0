//! Threads that throw to each other, and their HECs, for the models of `throwTo`. HECs, the scheduler and an MVar are
//! short forms.
//!
//! *Shipped code*: `sync/throwto_protocol.rs`, `thread/ownership.rs`, `thread/spinlock.rs` and `hec/mailbox.rs`.
use crate::atomics::{AtomicU16, AtomicUsize, Ordering};
use crate::shipped::mailbox::Mailbox;
use crate::shipped::ownership::{Claim, Ownership, NOT_BLOCKED};
use crate::shipped::spinlock::{Reason, Spin};
use crate::shipped::throwto_protocol::{self, Thrower, When};
use loom::cell::UnsafeCell;
use loom::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;

/// Reasons to be blocked.
const ON_MVAR: usize = 1;
const ON_MESSAGE: usize = 2;
pub const IN_CALL: usize = 3;
pub const IN_INTERRUPTIBLE_CALL: usize = 4;

/// HECs.
pub const A: usize = 0;
pub const B: usize = 1;
pub const C: usize = 2;
pub const HECS: usize = 3;

/// Threads: a target, its thrower, and a thread that throws to either.
pub const T: usize = 0;
pub const S: usize = 1;
pub const R: usize = 2;
pub const THREADS: usize = 3;

/// How often a message may be passed on once nothing else happens.
const MAX_ROUNDS: usize = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mask {
    Open,
    Interruptible,
    Uninterruptible,
    Finished,
}
pub use Mask::*;

/// What a thread has experienced, with the number of the message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Note {
    Hit(usize),
    /// Its own throw is done.
    Threw(usize),
}
pub use Note::*;

enum HecMessage {
    Thread(usize),
    Message(usize),
}

struct Thread {
    lock: usize,
    reason: Reason,
    owner: AtomicUsize,
    /// It returns to the HEC that it was on.
    pinned: bool,
    /// The message for which it waits.
    on: UnsafeCell<usize>,
    /// 0, or 1 plus the number of the first message.
    list: AtomicUsize,
    mask: UnsafeCell<Mask>,
    /// Its stack, in effect. Only its owner touches these; loom verifies that.
    notes: UnsafeCell<Vec<Note>>,
}

pub struct Message {
    pub source: usize,
    pub target: usize,
    next: UnsafeCell<Option<usize>>,
}

#[derive(Default)]
struct MVar {
    full: bool,
    waiting: Option<usize>,
}

pub struct World {
    locks: Vec<Spin>,
    threads: Vec<Thread>,
    pub messages: Vec<Message>,
    /// The threads that wait on each HEC. Its holder has this locked.
    slots: Vec<Mutex<VecDeque<usize>>>,
    mailboxes: Vec<Mailbox<HecMessage>>,
    mvar: Mutex<MVar>,
    /// How often the target's call has been interrupted.
    pub interrupted: AtomicUsize,
}

// SAFETY: loom verifies it.
unsafe impl Sync for World {}
unsafe impl Send for World {}

/// The initial state of a model: the HEC and mask of each thread; whether threads are pinned to their HECs or share one
/// lock; the source and target of each message.
pub struct Start {
    pub at: [usize; THREADS],
    pub mask: [Mask; THREADS],
    pub pinned: bool,
    pub one_lock: bool,
    pub messages: &'static [(usize, usize)],
}

impl Start {
    /// All exceptions are for the target.
    pub const TO_TARGET: Start =
        Start { at: [A, B, C], mask: [Open; 3], pinned: false, one_lock: false, messages: &[(S, T), (R, T)] };
    /// The thrower of the first message is thrown to as well.
    pub const CHAIN: Start = Start { messages: &[(S, T), (R, S)], ..Start::TO_TARGET };
}

impl World {
    /// Runs a model with this world, and frees it.
    pub fn with(start: &Start, model: impl FnOnce(&'static World)) {
        let thread = |t| Thread {
            lock: if start.one_lock { 0 } else { t },
            reason: Reason(AtomicU16::new(NOT_BLOCKED as u16)),
            owner: AtomicUsize::new(start.at[t]),
            pinned: start.pinned,
            on: UnsafeCell::new(0),
            list: AtomicUsize::new(0),
            mask: UnsafeCell::new(start.mask[t]),
            notes: UnsafeCell::new(Vec::new()),
        };
        let message = |&(source, target): &(usize, usize)| Message { source, target, next: UnsafeCell::new(None) };
        let waiting = |no| (0..THREADS).filter(|&t| start.at[t] == no).collect();
        let world = Box::into_raw(Box::new(World {
            locks: (0..THREADS).map(|_| Spin(AtomicUsize::new(0))).collect(),
            threads: (0..THREADS).map(thread).collect(),
            messages: start.messages.iter().map(message).collect(),
            slots: (0..HECS).map(|no| Mutex::new(waiting(no))).collect(),
            mailboxes: (0..HECS).map(|_| Mailbox::new()).collect(),
            mvar: Mutex::new(MVar::default()),
            interrupted: AtomicUsize::new(0),
        }));
        // SAFETY: the model's threads have ended when it returns.
        unsafe {
            model(&*world);
            drop(Box::from_raw(world));
        }
    }

    /// Takes a HEC when no other task holds it.
    pub fn hold(&'static self, no: usize) -> Holder {
        Holder { w: self, no, queue: self.slots[no].lock().unwrap() }
    }

    /// Has all messages read, and read again where they are passed on.
    pub fn read_all(&'static self) {
        for _ in 0..=MAX_ROUNDS {
            if !self.mailboxes.iter().any(|mailbox| mailbox.any()) {
                return;
            }
            (0..HECS).for_each(|no| self.hold(no).read_messages());
        }
        panic!("a message is passed on for ever");
    }

    pub fn notes(&self, t: usize) -> Vec<Note> {
        self.threads[t].notes.with(|n| unsafe { (*n).clone() })
    }

    /// Verifies that each thread is where it should be: on the queue of its owner, or blocked. No message is in a list
    /// that no thread will look at.
    pub fn verify(&'static self) {
        let queues: Vec<VecDeque<usize>> = (0..HECS).map(|no| self.slots[no].lock().unwrap().clone()).collect();
        for (t, thread) in self.threads.iter().enumerate() {
            let here: Vec<usize> =
                (0..HECS).flat_map(|no| queues[no].iter().filter(|&&q| q == t).map(move |_| no)).collect();
            let finished = thread.mask.with(|m| unsafe { *m }) == Finished;
            if thread.reason.get() as usize == NOT_BLOCKED && !finished {
                assert_eq!(here, [thread.owner.load(Ordering::Relaxed)], "thread {t}");
            } else {
                assert_eq!(here, [], "thread {t}");
            }
            if thread.mask.with(|m| unsafe { matches!(*m, Open | Finished) }) {
                assert_eq!(thread.list.load(Ordering::Relaxed), 0, "thread {t} act not look");
            }
        }
        // A throw ends for its thrower: it is complete, or another exception has arrived.
        for (m, message) in self.messages.iter().enumerate() {
            let threw = count(&self.notes(message.source), Threw(m));
            let hit = count(&self.notes(message.target), Hit(m));
            let finished = self.threads[message.target].mask.with(|m| unsafe { *m }) == Finished;
            assert!(threw <= 1);
            assert!(hit == threw || finished && hit < threw, "message {m}: hit {hit}, threw {threw}");
        }
    }
}

pub fn count(notes: &[Note], note: Note) -> usize {
    notes.iter().filter(|&&n| n == note).count()
}

/// The holder of a HEC.
pub struct Holder {
    w: &'static World,
    no: usize,
    queue: MutexGuard<'static, VecDeque<usize>>,
}

impl Holder {
    fn thread(&self, t: usize) -> &'static Thread {
        &self.w.threads[t]
    }
    fn note(&self, t: usize, note: Note) {
        self.thread(t).notes.with_mut(|n| unsafe { (*n).push(note) });
    }
    /// Works on the thread's stack.
    fn touch(&self, t: usize) {
        self.thread(t).notes.with_mut(|_| ());
    }
    fn mask(&self, t: usize) -> Mask {
        self.thread(t).mask.with(|m| unsafe { *m })
    }
    fn set_mask(&self, t: usize, mask: Mask) {
        self.thread(t).mask.with_mut(|m| unsafe { *m = mask });
    }
    fn set_on(&self, t: usize, on: usize) {
        self.thread(t).on.with_mut(|o| unsafe { *o = on });
    }
    fn on(&self, t: usize) -> usize {
        self.thread(t).on.with(|o| unsafe { *o })
    }

    /// As `schedule::read_messages`.
    pub fn read_messages(&mut self) {
        if !self.w.mailboxes[self.no].any() {
            return;
        }
        for message in self.w.mailboxes[self.no].take() {
            match message {
                HecMessage::Thread(t) => self.queue.push_back(t),
                HecMessage::Message(m) => throwto_protocol::process(self, m),
            }
        }
    }

    /// Runs a thread with this act if it is on the queue, then reads messages.
    pub fn run(&mut self, t: usize, act: impl FnOnce(&mut Holder, usize)) {
        if let Some(i) = self.queue.iter().position(|&q| q == t) {
            self.queue.remove(i);
            self.touch(t);
            act(self, t);
        }
        self.read_messages();
    }

    fn enqueue(&mut self, t: usize) {
        self.queue.push_back(t);
    }

    /// As `park::Claim::resume`.
    fn resume_claimed(&mut self, c: Claim<usize>) {
        self.set_on(c.thread, 0);
        if self.thread(c.thread).pinned && c.home != self.no {
            return self.migrate(c.thread, c.home);
        }
        self.enqueue(c.thread);
    }

    /// As `park::migrate`.
    pub fn migrate(&mut self, t: usize, to: usize) {
        self.ownership(t).hand_over(to);
        self.w.mailboxes[to].add(HecMessage::Thread(t));
    }

    /// As in `sched/balance.rs`.
    pub fn balance(&mut self, t: usize, to: usize) {
        match self.w.slots[to].try_lock() {
            Ok(mut queue) => {
                self.ownership(t).hand_over(to);
                queue.push_back(t);
            }
            Err(_) => self.enqueue(t),
        }
    }

    /// Has the thread unmask exceptions. For each one that arrives its handler runs, and it unmasks them again.
    pub fn unmask(&mut self, t: usize) {
        loop {
            self.set_mask(t, Open);
            if self.first(t).is_none() || !throwto_protocol::deliver_first(self, t) {
                return self.enqueue(t);
            }
        }
    }

    /// As `park_thread::park`. Returns true if the thread does not wait.
    fn receive(&mut self, t: usize, why: usize) -> bool {
        let received = throwto_protocol::is_due(self, t, why) && throwto_protocol::deliver_first(self, t);
        if received {
            self.enqueue(t);
        }
        received
    }

    pub fn take(&mut self, t: usize) {
        if self.receive(t, ON_MVAR) {
            return;
        }
        let mut mvar = self.w.mvar.lock().unwrap();
        if std::mem::take(&mut mvar.full) {
            return self.enqueue(t);
        }
        mvar.waiting = Some(t);
        self.ownership(t).block(ON_MVAR);
    }

    pub fn put(&mut self) {
        let mut mvar = self.w.mvar.lock().unwrap();
        if let Some(t) = mvar.waiting.take() {
            let held = self.ownership(t).lock();
            let claim = self.ownership(t).claim(t, self.no, |why| why == ON_MVAR, &held);
            drop(held);
            if let Some(c) = claim {
                return self.resume_claimed(c);
            }
        }
        mvar.full = true;
    }

    /// As `suspendThread`.
    pub fn suspend(&mut self, t: usize, why: usize) {
        self.ownership(t).block(why);
        // Its black holes are marked.
        self.touch(t);
    }

    /// As `resumeThread`. The exception is raised at once rather than by a frame.
    pub fn resume(&mut self, t: usize) {
        self.ownership(t).resume_from_call(self.no);
        self.set_on(t, 0);
        if throwto_protocol::is_due_now(self, t) {
            throwto_protocol::deliver_first(self, t);
        }
        self.enqueue(t);
    }

    pub fn finish(&mut self, t: usize) {
        self.set_mask(t, Finished);
        throwto_protocol::finished(self, t);
    }

    /// Has the source of the message throw.
    pub fn throw(&mut self, m: usize) {
        self.run(self.w.messages[m].source, |h, s| {
            if throwto_protocol::throw(h, h.target(m), m) {
                h.note(s, Threw(m));
                return h.enqueue(s);
            }
            if h.receive(s, ON_MESSAGE) {
                return;
            }
            h.set_on(s, m);
            h.ownership(s).block(ON_MESSAGE);
            throwto_protocol::process(h, m);
        });
    }
}

impl Thrower for Holder {
    type Thread = usize;
    type Message = usize;
    type Exception = usize;

    fn address(&self) -> usize {
        self.no
    }
    fn ownership(&self, t: usize) -> Ownership {
        let thread = self.thread(t);
        Ownership { lock: Some(&self.w.locks[thread.lock]), reason: &thread.reason, owner: &thread.owner }
    }
    // The models of switches have passive threads.
    fn is_passive(&self, _: usize) -> bool {
        false
    }
    fn lock_status(&self, _: usize) -> usize {
        unreachable!("no thread is passive")
    }
    fn unlock_status(&mut self, _: usize, _: usize, _: bool) {
        unreachable!("no thread is passive")
    }
    fn when(&self, t: usize, why: usize) -> When {
        let now = |yes| if yes { When::Now } else { When::Later };
        match (why, self.mask(t)) {
            (_, Finished) => When::Never,
            (NOT_BLOCKED, mask) => now(mask == Open),
            (ON_MVAR | ON_MESSAGE, mask) => now(mask != Uninterruptible),
            (IN_INTERRUPTIBLE_CALL, Open | Interruptible) => When::LaterInterrupt,
            _ => When::Later,
        }
    }
    fn waits_for(&self, t: usize, why: usize, m: usize) -> bool {
        why == ON_MESSAGE && self.on(t) == m
    }
    fn source(&self, m: usize) -> Option<usize> {
        Some(self.w.messages[m].source)
    }
    fn target(&self, m: usize) -> usize {
        self.w.messages[m].target
    }
    fn exception(&self, m: usize) -> usize {
        m
    }
    fn first(&self, t: usize) -> Option<usize> {
        self.thread(t).list.load(Ordering::Relaxed).checked_sub(1)
    }
    fn set_first(&mut self, t: usize, m: Option<usize>) {
        self.thread(t).list.store(m.map_or(0, |m| m + 1), Ordering::Relaxed);
    }
    fn next(&self, m: usize) -> Option<usize> {
        self.w.messages[m].next.with(|n| unsafe { *n })
    }
    fn set_next(&mut self, m: usize, next: Option<usize>) {
        self.w.messages[m].next.with_mut(|n| unsafe { *n = next });
    }
    fn raise(&mut self, t: usize, claim: Option<Claim<usize>>, e: usize) {
        match &claim {
            None => {}
            Some(c) if c.why == ON_MVAR => self.w.mvar.lock().unwrap().waiting = None,
            Some(c) if c.why == ON_MESSAGE => throwto_protocol::withdraw(self, self.on(t)),
            Some(c) => panic!("an exception is raised in a thread blocked for reason {}", c.why),
        }
        assert_ne!(self.mask(t), Finished);
        // The handler runs with exceptions masked.
        self.set_mask(t, Interruptible);
        self.note(t, Hit(e));
        if let Some(c) = claim {
            self.resume_claimed(c);
        }
    }
    fn release(&mut self, source: Claim<usize>) {
        self.note(source.thread, Threw(self.on(source.thread)));
        self.resume_claimed(source);
    }
    fn interrupt_call(&mut self, t: usize) {
        assert_eq!(t, T);
        self.w.interrupted.fetch_add(1, Ordering::Relaxed);
    }
    fn send(&mut self, to: usize, m: usize) {
        self.w.mailboxes[to].add(HecMessage::Message(m));
    }
}
