//! Models of switches between SConts on several HECs.
//!
//! *Checked*: an SCont is claimed once, and its thread runs as the HEC left it that made it passive. A passive thread
//! gets an exception, or what it waits for, but not both.
//! *Shipped code*: `sync/throwto_protocol.rs` and what [`crate::support::scont_world`] lists.
use crate::atomics::Ordering;
use crate::explore;
use crate::shipped::commit::{commit, next};
use crate::shipped::ownership::{Claim, Ownership, NOT_BLOCKED};
use crate::shipped::scont_protocol::Status;
use crate::shipped::throwto_protocol::{throw, Thrower, When};
use crate::support::scont_world::{switch, Statuses, World, PASSIVE};
use loom::thread;

#[test]
fn one_of_two_switches_gets_the_scont() {
    explore(3, || {
        let w = World::new();
        let v = w.clone();
        let other = thread::spawn(move || switch(&v, 1, 2));
        let mine = switch(&w, 0, 2);
        assert!(mine != other.join().unwrap(), "exactly one has claimed it");
        assert_eq!(w.0[2].now(), Status::running(1));
        for s in [0, 1] {
            assert_eq!((w.0[s].now(), w.0[s].ownership().why()), (Status::waiting(0), PASSIVE));
        }
    });
}

#[test]
fn a_thread_that_has_just_become_passive_runs_elsewhere() {
    explore(3, || {
        let w = World::new();
        let v = w.clone();
        let other = thread::spawn(move || switch(&v, 1, 0));
        assert!(switch(&w, 0, 2));
        let runs_elsewhere = other.join().unwrap();
        let expected = if runs_elsewhere { (Status::running(1), NOT_BLOCKED) } else { (Status::waiting(0), PASSIVE) };
        assert_eq!((w.0[0].now(), w.0[0].ownership().why()), expected);
        assert_eq!(w.0[0].words(), 1 + runs_elsewhere as usize);
    });
}

/// A HEC that throws to thread 2, which is masked or not.
struct Killer<'a> {
    w: &'a World,
    masked: bool,
    raised: bool,
}

impl Thrower for Killer<'_> {
    type Thread = usize;
    type Message = ();
    type Exception = ();

    fn address(&self) -> usize {
        9
    }
    fn ownership(&self, t: usize) -> Ownership {
        self.w.0[t].ownership()
    }
    fn when(&self, t: usize, why: usize) -> When {
        let given = self.w.0[t].now().is_ready();
        if why == PASSIVE && !(self.masked && given) {
            When::Now
        } else {
            When::Later
        }
    }
    fn is_passive(&self, t: usize) -> bool {
        self.ownership(t).why() == PASSIVE
    }
    fn lock_status(&self, t: usize) -> usize {
        self.w.0[t].version.lock()
    }
    fn unlock_status(&mut self, t: usize, version: usize, claimed: bool) {
        let t = &self.w.0[t];
        if claimed {
            t.status.store(t.now().claimed().0, Ordering::Release);
        }
        t.version.unlock(if claimed { next(version) } else { version });
    }
    fn raise(&mut self, t: usize, claim: Option<Claim<usize>>, _: ()) {
        assert!(claim.is_some());
        self.w.0[t].push(9);
        self.raised = true;
    }
    // There are no messages.
    fn waits_for(&self, _: usize, _: usize, _: ()) -> bool {
        false
    }
    fn source(&self, _: ()) -> Option<usize> {
        None
    }
    fn target(&self, _: ()) -> usize {
        2
    }
    fn exception(&self, _: ()) {}
    fn first(&self, _: usize) -> Option<()> {
        None
    }
    fn set_first(&mut self, _: usize, _: Option<()>) {}
    fn next(&self, _: ()) -> Option<()> {
        None
    }
    fn set_next(&mut self, _: (), _: Option<()>) {}
    fn release(&mut self, _: Claim<usize>) {}
    fn interrupt_call(&mut self, _: usize) {}
    fn send(&mut self, _: usize, _: ()) {}
}

/// Throws to thread 2. Returns whether the exception was raised at once.
fn kill(w: &World, masked: bool) -> bool {
    let mut killer = Killer { w, masked, raised: false };
    let done = throw(&mut killer, 2, ());
    assert_eq!(done, killer.raised);
    done
}

/// A transaction gives thread 2 to its scheduler, if its SCont 0 is current. Returns whether it was.
fn give(w: &World) -> bool {
    loop {
        let mut log = Statuses::new(w);
        let entry = log.read(2);
        let current = entry.status.is_claimable(0);
        if current {
            entry.write(Status::ready(0));
        }
        if commit(&mut log, true) {
            return current;
        }
    }
}

#[test]
fn a_switch_or_an_exception_gets_a_passive_thread() {
    explore(3, || {
        let w = World::new();
        let v = w.clone();
        let killer = thread::spawn(move || kill(&v, false));
        let switched = switch(&w, 0, 2);
        assert!(switched != killer.join().unwrap(), "exactly one has claimed it");
        assert_eq!(w.0[2].now(), Status::running(1));
        assert_eq!(w.0[2].words(), 1);
    });
}

#[test]
fn a_masked_thread_is_given_to_its_scheduler_or_gets_an_exception() {
    explore(3, || {
        let w = World::new();
        w.0[2].status.store(Status::waiting(0).0, Ordering::Relaxed);
        let v = w.clone();
        let killer = thread::spawn(move || kill(&v, true));
        let given = give(&w);
        assert!(given != killer.join().unwrap(), "it has what it waited for, or the exception");
        assert_eq!(w.0[2].now(), if given { Status::ready(0) } else { Status::running(1) });
    });
}
