//! The shared watcher: one OS thread that watches the event loops of many HECs that rest.
//!
//! With as many HECs as cores, each loop is watched by a task that can take the HEC at once (`sched/watch.rs`). HECs
//! beyond that do not keep an OS thread each: their loops become *members* of the set in which this OS thread sleeps.
//! The poller of a loop has a descriptor that is readable while there are events, so that a set can hold other sets.
//!
//! *Protocol*
//! 1. A task that is about to release a HEC has begun a watch of its loop, and makes the loop a member ([`join`]).
//! 2. The OS thread sleeps until a member is readable or its deadline has come. A wake-up for a loop makes its poller
//!    readable: for a new deadline, or a signal.
//! 3. It takes such members out of the set. Then it ends each watch, and sends a worker to the HEC
//!    ([`handoff::end_shared_watch`]). The next task that releases the HEC begins a new watch.
//!
//! *Locking*: the lock of the members is not held together with that of a loop.
use crate::base::cpus;
use crate::base::os_thread;
use crate::events::event_loop;
use crate::events::poller::{Interest, Kind, Poller};
use crate::events::wheel_time;
use crate::hec;
use crate::hec::fork_safe_lock::Lock;
use crate::sched::handoff;
use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

struct Members {
    members: Vec<Member>,
    /// The OS thread has been started.
    started: bool,
    /// The OS thread sleeps until this tick.
    sleeps_until: Option<u64>,
}

struct Member {
    no: usize,
    descriptor: i32,
    deadline: u64,
}

/// The set in which the OS thread sleeps. An event's data is the number of a HEC.
static SET: AtomicPtr<Poller> = AtomicPtr::new(null_mut());
static MEMBERS: Lock<Members> = Lock::new(Members::new());

impl Members {
    const fn new() -> Members {
        Members { members: Vec::new(), started: false, sleeps_until: None }
    }

    fn start(&mut self, set: &'static Poller) -> io::Result<()> {
        if !self.started {
            os_thread::start("haskell-watcher", move || loop {
                watch(set)
            })?;
            self.started = true;
        }
        Ok(())
    }

    fn first_deadline(&self) -> u64 {
        self.members.iter().map(|m| m.deadline).min().unwrap_or(u64::MAX)
    }
}

/// Makes the loop of HEC `no` a member. The caller has begun to watch it, and holds the HEC. False if the caller must
/// watch it itself: because there are events, because its back end has no such descriptor, or for lack of descriptors
/// or OS threads.
pub fn join(no: usize) -> bool {
    let Some((descriptor, deadline)) = event_loop::begin_shared_watch(no) else { return false };
    let mut st = MEMBERS.lock();
    let started = set().and_then(|set| st.start(set).map(|()| set));
    let added = started.and_then(|set| set.add(descriptor, no as u64, Interest::READ).map(|()| set));
    if let Ok(set) = added {
        st.members.push(Member { no, descriptor, deadline });
        if st.sleeps_until.is_some_and(|until| deadline < until) {
            set.wake();
        }
        return true;
    }
    drop(st);
    event_loop::end_shared_watch(no);
    false
}

/// Makes the pollers of all HECs and, with more HECs than cores, the set of the shared watcher: as long as the system
/// has descriptors left, because a program may use them up.
pub fn make_pollers() {
    event_loop::make_pollers();
    if hec::count() > cpus::at_start() {
        let _st = MEMBERS.lock();
        let _ = set();
    }
}

/// The set, made at the first call. Called under the lock.
fn set() -> io::Result<&'static Poller> {
    if SET.load(Ordering::Acquire).is_null() {
        SET.store(Box::into_raw(Box::new(Poller::new(Kind::Epoll)?)), Ordering::Release);
    }
    // SAFETY: it is freed only in the child of a fork.
    Ok(unsafe { &*SET.load(Ordering::Acquire) })
}

/// Sleeps until there are events for members, and has their HECs served.
fn watch(set: &Poller) {
    let mut st = MEMBERS.lock();
    let until = st.first_deadline();
    st.sleeps_until = Some(until);
    drop(st);
    let mut ready = Vec::new();
    // A wait that ends early, or fails, is followed by another.
    let _ = set.wait(&mut ready, wheel_time::until(until));
    let now = wheel_time::now();
    let mut st = MEMBERS.lock();
    st.sleeps_until = None;
    let is_due = |m: &mut Member| m.deadline <= now || ready.iter().any(|event| event.data == m.no as u64);
    let due = st.members.extract_if(.., is_due).inspect(|m| set.remove(m.descriptor)).map(|m| m.no);
    let due = due.collect::<Vec<_>>();
    drop(st);
    for no in due {
        event_loop::end_shared_watch(no);
        handoff::end_shared_watch(no);
    }
}

/// In the child of a fork: there is no such OS thread, and no member.
/// # Safety
/// No other OS thread exists.
pub unsafe fn after_fork() {
    MEMBERS.renew(Members::new());
    let set = SET.swap(null_mut(), Ordering::AcqRel);
    if !set.is_null() {
        Box::from_raw(set).close_after_fork();
    }
}
