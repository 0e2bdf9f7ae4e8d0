//! Which user scheduler is to blame if the running transaction goes wrong, and whether it takes too long.
//!
//! A transaction runs *on behalf* of a group: the activations that it calls say of which. What is noted here is about
//! the thread that it names. If that thread waits and another one says the same of itself, the first has to blame only
//! its own group.
//!
//! *Protocol* of overtime
//! 1. A transaction of a `switch` or an upcall holds ticks off. The first one notes the CPU time of the OS thread, and
//!    the bytes allocated.
//! 2. At a later one more than the group has promised may have been used: that is a fault.
//! 3. CPU time is noted anew after a collection, which is not the transaction's, and when another OS thread has the
//!    HEC. A transaction that begins again is a new one, but not an upcall whose choice was stale: it may choose so for
//!    ever.
//! 4. While the transaction waits for a thunk, and other threads run, nothing counts.
//!
//! Real time would eject schedulers of a busy machine.
use crate::hec::sched_groups::{Group, GroupRef, Promise};
use std::time::Duration;

/// What goes wrong with a user scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Its dequeue or enqueue activation has raised an exception, with this text.
    DequeueRaised(String),
    EnqueueRaised(String),
    CpuTime,
    Allocation,
    Rest,
}

impl Kind {
    /// What the scheduler did.
    pub fn text(&self, promise: &Promise) -> String {
        match self {
            Kind::DequeueRaised(text) => format!("its dequeue activation raised: {text}"),
            Kind::EnqueueRaised(text) => format!("its enqueue activation raised: {text}"),
            Kind::CpuTime => {
                format!("a transaction took more than {:?} of CPU time", Duration::from_nanos(promise.cpu_time))
            }
            Kind::Allocation => format!("a transaction allocated more than {} bytes", promise.allocation),
            Kind::Rest => format!("none of its threads has run for {} s, although one is ready", promise.rest),
        }
    }
}

/// A fault that the holder of a HEC has found.
#[derive(Clone, Debug)]
pub struct Fault {
    pub group: &'static Group,
    pub kind: Kind,
}

/// What the HEC knows about the transaction that holds off ticks.
#[derive(Default)]
pub struct Blame {
    /// The number of a thread, and the group on whose behalf its transaction runs.
    behalf: (u64, GroupRef),
    overtime: Overtime,
    /// The next transaction repeats the last one.
    repeats: bool,
}

/// Since the first tick.
#[derive(Default)]
struct Overtime {
    /// The number of the thread, or 0.
    thread: u64,
    os_thread: i32,
    collections: usize,
    cpu_time: u64,
    allocated: u64,
}

/// What a transaction has used so far.
pub struct Usage {
    pub os_thread: i32,
    /// How many collections there were.
    pub collections: usize,
    pub cpu_time: u64,
    pub allocated: u64,
}

impl Blame {
    /// The transaction of a thread runs on behalf of a group from now on.
    #[inline]
    pub fn on_behalf(&mut self, thread: u64, group: GroupRef) {
        self.behalf = (thread, group);
    }

    /// On whose behalf the transaction of a thread runs, if that is known.
    pub fn culprit(&self, thread: u64) -> GroupRef {
        self.behalf.1.filter(|_| self.behalf.0 == thread)
    }

    /// A transaction begins.
    #[inline]
    pub fn begin(&mut self) {
        self.behalf.0 = 0;
        if !std::mem::take(&mut self.repeats) {
            self.overtime.thread = 0;
        }
    }

    /// The transaction has made a stale choice, and is repeated.
    pub fn repeat(&mut self) {
        self.repeats = true;
    }

    /// The transaction waits: its time begins anew.
    pub fn wait(&mut self) {
        self.overtime.thread = 0;
    }

    /// At a tick: has the transaction of a thread used more than is promised?
    pub fn overtime(&mut self, thread: u64, now: Usage, promise: &Promise) -> Option<Kind> {
        let o = &mut self.overtime;
        if o.thread != thread {
            o.thread = thread;
            o.allocated = now.allocated;
            o.os_thread = 0;
        }
        if (o.os_thread, o.collections) != (now.os_thread, now.collections) {
            (o.os_thread, o.collections, o.cpu_time) = (now.os_thread, now.collections, now.cpu_time);
        }
        if now.cpu_time.saturating_sub(o.cpu_time) > promise.cpu_time {
            return Some(Kind::CpuTime);
        }
        (now.allocated.saturating_sub(o.allocated) > promise.allocation).then_some(Kind::Allocation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(cpu_time: u64, allocated: u64) -> Usage {
        Usage { os_thread: 1, collections: 0, cpu_time, allocated }
    }

    const PROMISE: Promise = Promise { cpu_time: 10, allocation: 100, rest: 0 };

    #[test]
    fn time_and_allocation_count_from_the_first_tick() {
        let mut blame = Blame::default();
        assert_eq!(blame.overtime(1, usage(1000, 5000), &PROMISE), None);
        assert_eq!(blame.overtime(1, usage(1010, 5100), &PROMISE), None);
        assert_eq!(blame.overtime(1, usage(1011, 5100), &PROMISE), Some(Kind::CpuTime));
        assert_eq!(blame.overtime(1, usage(1010, 5101), &PROMISE), Some(Kind::Allocation));
        assert_eq!(blame.overtime(2, usage(1011, 5101), &PROMISE), None);
        blame.begin();
        assert_eq!(blame.overtime(2, usage(9000, 9000), &PROMISE), None);
        blame.repeat();
        blame.begin();
        assert_eq!(blame.overtime(2, usage(9011, 9000), &PROMISE), Some(Kind::CpuTime));
        blame.wait();
        assert_eq!(blame.overtime(2, usage(9011, 9000), &PROMISE), None);
    }

    #[test]
    fn collections_and_other_os_threads_take_no_time_of_a_transaction() {
        let mut blame = Blame::default();
        assert_eq!(blame.overtime(1, usage(1000, 0), &PROMISE), None);
        assert_eq!(blame.overtime(1, Usage { collections: 1, ..usage(2000, 0) }, &PROMISE), None);
        assert_eq!(blame.overtime(1, Usage { os_thread: 2, collections: 1, ..usage(5000, 0) }, &PROMISE), None);
        let late = Usage { os_thread: 2, collections: 1, ..usage(5000, 101) };
        assert_eq!(blame.overtime(1, late, &PROMISE), Some(Kind::Allocation));
    }

    #[test]
    fn a_transaction_blames_who_it_said_itself() {
        let group = Group::new("g", None, PROMISE);
        let mut blame = Blame::default();
        blame.on_behalf(1, Some(group));
        assert_eq!((blame.culprit(1), blame.culprit(2)), (Some(group), None));
        blame.begin();
        assert_eq!(blame.culprit(1), None);
    }
}
