//! The promise of a user scheduler that one of its threads runs now and then, if one can.
//!
//! *Protocol*
//! 1. Each HEC notes in a group the second in which it starts a thread of it, if that is not noted already. So a switch
//!    writes nothing shared, but once in a second.
//! 2. At the end of a time slice, or when no thread can run, but at most once in a second, the holder of a HEC looks
//!    for groups of which none has run for as long as they have promised ([`check`]). It stops the world and looks
//!    whether a thread of them is `Ready`.
//! 3. If one is `Ready` at two such moments, and none has run in between, that is a fault.
//!
//! A program that is stopped for a while, and goes on, so finds no group at fault. Nor does one in which nothing at all
//! runs, not even a thread that waits for time now and then.
//!
//! *Checked by*: the unit tests of `hec/sched_groups.rs`, and the conformance program `schedulers_faults`.
use crate::abi::tso::BlockedOnScheduler;
use crate::abi::Tso;
use crate::base::clock::getMonotonicNSec;
use crate::hec::blame::{Fault, Kind};
use crate::hec::sched_groups::{self, Group, SECOND};
use crate::sched::task::TaskRef;
use crate::sched::{bound_threads, eject, stop_world};
use crate::sync::substrate;
use crate::sync::throwto::finished;
use crate::thread::park;
use crate::thread::sched_record::SchedRecord;
use std::sync::atomic::{AtomicU64, Ordering};

const NANOS: u64 = 1_000_000_000;

/// When the next second begins.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Ejects groups that rest for too long. Returns whether a group had to be looked at.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn check(me: TaskRef) -> bool {
    if sched_groups::all().next().is_none() {
        return false;
    }
    let (now, next) = (getMonotonicNSec(), NEXT.load(Ordering::Relaxed));
    let is_due = now >= next && NEXT.compare_exchange(next, now + NANOS, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if !is_due {
        return false;
    }
    SECOND.fetch_add(1, Ordering::Relaxed);
    if !sched_groups::all().any(Group::rests) {
        return false;
    }
    // If another task was first, this is for the next second.
    if stop_world::stop(me) {
        let starved = starved();
        stop_world::resume(me);
        for group in starved {
            eject::eject(me, Fault { group, kind: Kind::Rest });
        }
    }
    true
}

/// The groups that are at fault.
unsafe fn starved() -> Vec<&'static Group> {
    let ready: Vec<&Group> =
        bound_threads::every_thread().filter(|&t| is_ready(t)).filter_map(|t| group_of(t)).collect();
    let rest = sched_groups::all().filter(|group| group.rests());
    rest.filter(|&group| group.look(ready.contains(&group))).collect()
}

unsafe fn group_of(t: Tso) -> Option<&'static Group> {
    SchedRecord::of(t).and_then(|record| record.group())
}

/// Has the thread been given to its scheduler?
unsafe fn is_ready(t: Tso) -> bool {
    !finished(t) && park::why(t) == BlockedOnScheduler && substrate::is_given(t)
}
