//! Models of thunks that are taken from passive threads.
//!
//! A thread in a switch needs a thunk that a passive thread evaluates. It takes the work from that thread's stack while
//! another HEC chooses the passive thread, as `take_from_passive` in `sync/substrate.rs`.
//!
//! *Checked*: whoever has the passive thread's status has its stack. The thread runs once, and the work is taken
//! once, or stays.
//! *Shipped code*: what [`crate::support::scont_world`] lists.
use crate::explore;
use crate::shipped::commit::next;
use crate::shipped::ownership::NOT_BLOCKED;
use crate::shipped::scont_protocol::Status;
use crate::support::scont_world::{switch, World, PASSIVE};
use loom::thread;

/// The work for a thunk on the stack of thread 2.
const WORK: usize = 7;

/// What became of the work.
#[derive(Debug, PartialEq)]
enum Taken {
    Work,
    /// It cannot be moved: the thread has been claimed, and runs beside the slot.
    Thread,
    /// The thread is not passive.
    Nothing,
}

/// HEC `me` takes the work from thread 2, or the thread.
fn take_from_passive(w: &World, me: usize, movable: bool) -> Taken {
    let t = &w.0[2];
    if t.ownership().why() != PASSIVE {
        return Taken::Nothing;
    }
    let version = t.version.lock();
    if t.ownership().why() != PASSIVE {
        t.version.unlock(version);
        return Taken::Nothing;
    }
    if movable {
        assert_eq!(t.own.with_mut(|s| unsafe { (*s).pop() }), Some(WORK));
        t.version.unlock(version);
        return Taken::Work;
    }
    assert!(t.claim(me, PASSIVE), "no HEC claims it without the version");
    t.status.store(t.now().claimed().0, crate::atomics::Ordering::Release);
    t.version.unlock(next(version));
    t.push(me);
    Taken::Thread
}

#[test]
fn work_is_taken_before_the_thread_runs_or_not() {
    explore(3, || {
        let w = World::new();
        w.0[2].push(WORK);
        let v = w.clone();
        let taker = thread::spawn(move || take_from_passive(&v, 1, true));
        assert!(switch(&w, 0, 2), "its SCont stays current");
        let taken = taker.join().unwrap() == Taken::Work;
        assert_eq!((w.0[2].now(), w.0[2].ownership().why()), (Status::running(1), NOT_BLOCKED));
        assert_eq!(w.0[2].words(), if taken { 1 } else { 2 });
    });
}

#[test]
fn a_thread_whose_work_stays_runs_on_one_hec() {
    explore(3, || {
        let w = World::new();
        w.0[2].push(WORK);
        let v = w.clone();
        let taker = thread::spawn(move || take_from_passive(&v, 1, false));
        let switched = switch(&w, 0, 2);
        assert!(switched != (taker.join().unwrap() == Taken::Thread), "exactly one has claimed it");
        assert_eq!((w.0[2].now(), w.0[2].ownership().why()), (Status::running(1), NOT_BLOCKED));
        assert_eq!(w.0[2].words(), 2);
    });
}

#[test]
fn work_is_taken_once() {
    explore(3, || {
        let w = World::new();
        w.0[2].push(WORK);
        w.0[2].push(WORK);
        let v = w.clone();
        let other = thread::spawn(move || take_from_passive(&v, 1, true));
        let mine = take_from_passive(&w, 0, true);
        assert_eq!((mine, other.join().unwrap()), (Taken::Work, Taken::Work));
        assert_eq!((w.0[2].now(), w.0[2].words()), (Status::ready(0), 0));
    });
}
