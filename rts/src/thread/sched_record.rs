//! Scheduling records: what user schedulers and the runtime know about a thread, beside its TSO.
//!
//! A record (hec_SCHED, a MUT_PRIM) belongs to one thread, whose `sched` names it. A thread has none until it uses an
//! operation of `Hecaton.Substrate`.
//!
//! | field | written by | meaning |
//! |---|---|---|
//! | dequeue, enqueue | the thread itself | its activations; absent until it sets or inherits them |
//! | next | the thread itself | activations that it will have when a switch has made it passive |
//! | aux | transactions | a TVar for the program's use |
//! | status | switches and the runtime | a TVar ([`crate::sync::stm::scont_protocol`]) |
//! | group, next group | the thread itself | its group ([`crate::hec::sched_groups`]); that which comes with `next` |
//! | run time, started | the HEC that runs it | nanoseconds up to the last stop; when it began to run, or 0 |
//!
//! *Invariants*
//! - The activations are in effect when both are set. Until then the thread belongs to the built-in scheduler.
//! - A thread whose activations are in effect has a group. When that is ejected both are taken away, while the world is
//!   stopped (`sched/eject.rs`).
//! - The two TVars of a record never change, only their values.
//!
//! *Checked by*: the unit tests in `rts/src/sync/substrate_tests.rs`, and the heap checker.
use crate::abi::{Closure, Tso};
use crate::hec::run_queue::dirty_tso;
use crate::hec::sched_groups::{Group, GroupRef, Promise};
use crate::hec::Hec;
use crate::{info, static_closure};

const ACTIVATIONS: usize = 1;
const AUX: usize = 3;
const STATUS: usize = 4;
const NEXT: usize = 5;
const RUN_TIME: usize = 6;
const STARTED: usize = 7;
const GROUP: usize = 8;
const NEXT_GROUP: usize = 9;
const RECORD_WORDS: usize = 10;

/// One of a thread's two activations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    Dequeue,
    Enqueue,
}

/// What makes a thread one of a user scheduler: its two activations, and the group.
pub type Membership = ([Closure; 2], GroupRef);

/// The record of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SchedRecord(Closure);

fn absent() -> Closure {
    Tso::end().closure()
}

/// # Safety
/// For all methods: threads and records are live.
#[expect(clippy::missing_safety_doc, reason = "the section above is about all methods")]
impl SchedRecord {
    /// The thread's record, if it has one.
    #[inline(always)]
    pub unsafe fn of(t: Tso) -> Option<SchedRecord> {
        let record = t.obj().sched;
        (record != absent()).then_some(SchedRecord(record))
    }

    /// Gives a thread a record with this membership, if there is any.
    pub unsafe fn make(
        hec: &mut Hec,
        t: Tso,
        membership: Option<Membership>,
        aux: Closure,
        status: Closure,
    ) -> SchedRecord {
        let r = hec.allocate(RECORD_WORDS);
        r.set_info(info!(hec_SCHED_info));
        let (activations, group) = membership.unwrap_or(([absent(); 2], None));
        for (i, activation) in activations.into_iter().enumerate() {
            r.set_word(ACTIVATIONS + i, activation.0);
        }
        r.set_word(AUX, aux.0);
        r.set_word(STATUS, status.0);
        r.set_word(NEXT, absent().0);
        r.set_word(RUN_TIME, 0);
        r.set_word(STARTED, 0);
        r.set_word(GROUP, Group::word(group));
        r.set_word(NEXT_GROUP, 0);
        dirty_tso(&mut hec.remembered, t);
        t.obj().sched = r;
        SchedRecord(r)
    }

    /// The thread begins to run at this time.
    pub unsafe fn start(self, now: u64) {
        self.0.set_word(STARTED, now as usize);
    }

    /// The thread stops at this time.
    pub unsafe fn stop(self, now: u64) {
        self.0.set_word(RUN_TIME, self.run_time(now) as usize);
        self.0.set_word(STARTED, 0);
    }

    /// Nanoseconds for which the thread has run since it got its record.
    pub unsafe fn run_time(self, now: u64) -> u64 {
        let running = match self.0.word(STARTED) as u64 {
            0 => 0,
            started => now.saturating_sub(started),
        };
        self.0.word(RUN_TIME) as u64 + running
    }

    pub unsafe fn aux(self) -> Closure {
        self.0.field(AUX)
    }

    pub unsafe fn status(self) -> Closure {
        self.0.field(STATUS)
    }

    /// The activation, if both are set.
    pub unsafe fn activation(self, which: Activation) -> Option<Closure> {
        self.has_activations().then(|| self.0.field(ACTIVATIONS + which as usize))
    }

    /// The group of the thread's scheduler, or none if that is the built-in one.
    pub unsafe fn group(self) -> GroupRef {
        Group::of_word(self.0.word(GROUP))
    }

    /// The thread belongs to a group from now on, also with activations that it has not set yet.
    pub unsafe fn set_group(self, group: &'static Group) {
        self.0.set_word(GROUP, Group::word(Some(group)));
    }

    /// What the thread has, and those get that inherit from it.
    pub unsafe fn membership(self) -> Membership {
        ([self.0.field(ACTIVATIONS), self.0.field(ACTIVATIONS + 1)], self.group())
    }

    pub unsafe fn has_activations(self) -> bool {
        self.0.field(ACTIVATIONS) != absent() && self.0.field(ACTIVATIONS + 1) != absent()
    }

    /// Will both activations be set when this one is?
    pub unsafe fn will_have_activations(self, which: Activation) -> bool {
        self.0.field(ACTIVATIONS + 1 - which as usize) != absent()
    }

    /// Sets an activation. When both are in effect, the thread is in a group of its own, unless it was in one.
    pub unsafe fn set_activation(self, hec: &mut Hec, which: Activation, to: Closure) {
        self.0.set_word(ACTIVATIONS + which as usize, to.0);
        hec.remember(self.0);
        if self.group().is_none() && self.has_activations() {
            self.0.set_word(GROUP, Group::word(Some(Group::new("", None, Promise::DEFAULT))));
        }
    }

    /// The group is ejected: the thread has no activations.
    pub unsafe fn leave_group(self) {
        for i in [0, 1] {
            self.0.set_word(ACTIVATIONS + i, absent().0);
        }
        self.0.set_word(GROUP, 0);
    }

    /// Sets what the thread will have when a switch has made it passive: an evaluated pair of activations, or `()` for
    /// none, and the group.
    pub unsafe fn set_next(self, hec: &mut Hec, next: Option<Closure>, group: GroupRef) {
        self.0.set_word(NEXT, next.unwrap_or(absent()).0);
        self.0.set_word(NEXT_GROUP, Group::word(group));
        hec.remember(self.0);
    }

    /// A switch makes the thread passive: it gets its next activations, if they have been set. Were they? Those of an
    /// ejected group are none.
    pub unsafe fn advance(self, hec: &mut Hec) -> bool {
        let next = self.0.field(NEXT);
        if next == absent() {
            return false;
        }
        let pair = next.untag();
        let group = Group::of_word(self.0.word(NEXT_GROUP));
        let is_ejected = group.is_some_and(Group::is_ejected);
        let is_none = pair == static_closure!(ghczmprim_GHCziTuple_Z0T_closure) || is_ejected;
        for i in [0, 1] {
            let to = if is_none { absent() } else { pair.field(1 + i) };
            self.0.set_word(ACTIVATIONS + i, to.0);
        }
        self.0.set_word(GROUP, if is_none { 0 } else { Group::word(group) });
        self.set_next(hec, None, None);
        true
    }
}
