//! Groups: user schedulers as the runtime knows them, to tell which one is at fault.
//!
//! A thread of a user scheduler has a group, and those that it makes are in the same one. When the group is *ejected*,
//! its threads go to the built-in scheduler (`sched/eject.rs`).
//!
//! Groups may have a *parent*: the group of a dequeue activation that several schedulers share. A fault in that
//! activation is the parent's, unless the activation has said on whose behalf it runs (`hec/blame.rs`). When the
//! parent is ejected, all its groups are.
//!
//! *Invariants*
//! - A group is never freed, so its address names it. It takes about 100 bytes.
//! - A group is ejected while the world is stopped. So this does not change within a primitive operation.
//!
//! *Locking*: none. The list of all groups only grows, by compare-and-swap.
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// What a scheduler may use before it is ejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promise {
    /// CPU time of a transaction beyond its first tick, in nanoseconds.
    pub cpu_time: u64,
    /// Bytes that a transaction allocates beyond its first tick.
    pub allocation: u64,
    /// Seconds in which some thread of the group runs, if one is `Ready` all the time. 0: no limit.
    pub rest: u64,
}

impl Promise {
    /// Of groups that ask for no other. A transaction of a scheduler that works takes microseconds, and hardly meets
    /// a tick. The time for all of them leaves room for a machine that is busy with other programs.
    pub const DEFAULT: Promise = Promise { cpu_time: 10_000_000, allocation: 64 << 20, rest: 10 };
}

#[derive(Debug)]
pub struct Group {
    number: u64,
    /// What messages call it, or empty.
    name: Box<str>,
    parent: Option<&'static Group>,
    pub promise: Promise,
    is_ejected: AtomicBool,
    /// The second ([`SECOND`]) in which a thread of the group has last begun to run, or the group was looked at.
    last_run: AtomicU64,
    /// Was a thread `Ready` when the group was last looked at, and has none begun to run since?
    is_suspect: AtomicBool,
    next: AtomicPtr<Group>,
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        std::ptr::eq(self, other)
    }
}

/// A group, or none: that of the built-in scheduler. As a word it is an address, or 0.
pub type GroupRef = Option<&'static Group>;

static IS_FATAL: AtomicBool = AtomicBool::new(false);

/// Does a fault of a scheduler end the program (`--scheduler-faults`)?
pub fn is_fatal() -> bool {
    IS_FATAL.load(Ordering::Relaxed)
}

pub fn set_fatal(is_fatal: bool) {
    IS_FATAL.store(is_fatal, Ordering::Relaxed);
}

static ALL: AtomicPtr<Group> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicU64 = AtomicU64::new(0);

impl Group {
    /// Makes a group.
    pub fn new(name: &str, parent: GroupRef, promise: Promise) -> &'static Group {
        let group = Box::leak(Box::new(Group {
            number: COUNT.fetch_add(1, Ordering::Relaxed) + 1,
            name: name.into(),
            parent,
            promise,
            is_ejected: AtomicBool::new(false),
            last_run: AtomicU64::new(SECOND.load(Ordering::Relaxed)),
            is_suspect: AtomicBool::new(false),
            next: AtomicPtr::new(std::ptr::null_mut()),
        }));
        let mut first = ALL.load(Ordering::Relaxed);
        loop {
            group.next.store(first, Ordering::Relaxed);
            // Release: who finds the group sees its fields.
            match ALL.compare_exchange_weak(first, group, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return group,
                Err(other) => first = other,
            }
        }
    }

    /// # Safety
    /// The word is that of a group, or 0.
    pub unsafe fn of_word(word: usize) -> GroupRef {
        (word as *const Group).as_ref()
    }

    pub fn word(group: GroupRef) -> usize {
        group.map_or(0, |group| group as *const Group as usize)
    }

    /// What messages call it.
    pub fn title(&self) -> String {
        match &*self.name {
            "" => format!("scheduler {}", self.number),
            name => format!("scheduler {} ({name})", self.number),
        }
    }

    /// The group to which the dequeue activation of its threads belongs.
    pub fn of_dequeue(&'static self) -> &'static Group {
        self.parent.unwrap_or(self)
    }

    /// Is it ejected, or its parent?
    #[inline]
    pub fn is_ejected(&self) -> bool {
        self.is_ejected.load(Ordering::Relaxed) || self.parent.is_some_and(|parent| parent.is_ejected())
    }

    /// # Safety
    /// The world is stopped.
    pub unsafe fn eject(&self) {
        self.is_ejected.store(true, Ordering::Relaxed);
    }
}

/// Seconds in which the program has been seen to run. The clock may run on while the program is stopped.
pub static SECOND: AtomicU64 = AtomicU64::new(0);

impl Group {
    /// A thread of the group begins to run.
    #[inline]
    pub fn runs(&self) {
        let now = SECOND.load(Ordering::Relaxed);
        if self.last_run.load(Ordering::Relaxed) != now || self.is_suspect.load(Ordering::Relaxed) {
            self.last_run.store(now, Ordering::Relaxed);
            self.is_suspect.store(false, Ordering::Relaxed);
        }
    }

    /// Has no thread of the group begun to run for so long that it must be looked at?
    pub fn rests(&self) -> bool {
        let rested = SECOND.load(Ordering::Relaxed) - self.last_run.load(Ordering::Relaxed);
        self.promise.rest != 0 && rested >= self.promise.rest && !self.is_ejected()
    }

    /// The group, which rests, is looked at: is it at fault? It is the second time that a thread is `Ready`.
    pub fn look(&self, is_ready: bool) -> bool {
        self.last_run.store(SECOND.load(Ordering::Relaxed), Ordering::Relaxed);
        self.is_suspect.swap(is_ready, Ordering::Relaxed) && is_ready
    }
}

/// All groups, the latest first.
pub fn all() -> impl Iterator<Item = &'static Group> {
    // Acquire: see `Group::new`. SAFETY: groups are never freed.
    let load = |link: &AtomicPtr<Group>| unsafe { link.load(Ordering::Acquire).as_ref() };
    std::iter::successors(load(&ALL), move |group: &&'static Group| load(&group.next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_ejected_with_its_parent() {
        let parent = Group::new("hosts", None, Promise::DEFAULT);
        let [a, b] = ["a", ""].map(|name| Group::new(name, Some(parent), Promise::DEFAULT));
        assert!(all().any(|g| g == a) && all().any(|g| g == b) && a != b);
        assert_eq!(unsafe { Group::of_word(Group::word(Some(a))) }, Some(a));
        assert_eq!((Group::word(None), a.of_dequeue(), parent.of_dequeue()), (0, parent, parent));
        unsafe { a.eject() };
        assert_eq!([parent, a, b].map(|g| g.is_ejected()), [false, true, false]);
        unsafe { parent.eject() };
        assert!(b.is_ejected());
        assert_eq!(a.title(), format!("scheduler {} (a)", a.number));
        assert_eq!(b.title(), format!("scheduler {}", b.number));
    }

    #[test]
    fn a_group_that_rests_is_at_fault_when_a_thread_is_ready_twice() {
        let group = Group::new("", None, Promise { rest: 2, ..Promise::DEFAULT });
        let later = || SECOND.fetch_add(2, Ordering::Relaxed);
        assert!(!group.rests());
        later();
        assert!(group.rests() && !group.look(true) && !group.rests());
        later();
        group.runs();
        assert!(!group.rests());
        later();
        assert!(group.rests() && !group.look(true));
        later();
        assert!(group.rests() && !group.look(false));
        later();
        assert!(!group.look(true));
        later();
        assert!(group.rests() && group.look(true));
    }
}
