//! Ejecting a faulty user scheduler: its threads go to the built-in one, and the program goes on.
//!
//! *Protocol*
//! 1. The holder of a HEC has noted a fault (`sync/faults.rs`). With `--scheduler-faults=fatal` the program ends with a
//!    line that says what it was. Otherwise the holder stops the world. If another task was first, and has ejected the
//!    group, nothing is left to do.
//! 2. The group is marked. All its threads belong to the built-in scheduler from now on: their activations are gone.
//!
//!    | thread | what happens |
//!    |---|---|
//!    | passive and `Ready`, perhaps in a batch | it is claimed, so its SCont is stale, and queued |
//!    | owed to the scheduler | it is queued |
//!    | passive and `Waiting` | nothing: who gives it gives it to the built-in scheduler |
//!    | in a user slot | it leaves the slot |
//!    | any other | nothing |
//! 3. A slot that one of its threads had becomes empty. If the dequeue activation belongs to a parent that is not
//!    ejected, a dequeue upcall takes the slot.
//! 4. All transactions of switches and upcalls, of any group, begin again. An upcall of the group then chooses no SCont
//!    ([`crate::sync::faults::hec_begin_dequeue`]), and one that gives threads to it finds that they are stale. A
//!    thread in the middle of a `switch` runs the built-in activations.
//!
//! *Invariant*: while the world is stopped no thread is in the middle of a commit, so each is in exactly one of those
//! states, and none is lost.
//!
//! *Locking*: none but that the world is stopped.
//!
//! *Checked by*: the unit tests below, and the conformance program `schedulers_faults`.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnScheduler, TSO_SLOT, TSO_SWITCHES, TSO_UPCALL, TSO_USER};
use crate::abi::Tso;
use crate::base::fatal;
use crate::eval::raise_async::restart_transaction;
use crate::hec::blame::Fault;
use crate::hec::sched_groups::{is_fatal, Group};
use crate::hec::Hec;
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::task::TaskRef;
use crate::sched::{bound_threads, stop_world};
use crate::sync::throwto::finished;
use crate::sync::upcall::Subject;
use crate::sync::{stm, substrate, upcall, wait_queues};
use crate::thread::park;
use crate::thread::sched_record::SchedRecord;

/// How many threads of a group were in which state when it was ejected.
#[derive(Default, Debug, PartialEq, Eq)]
struct Counts {
    ready: usize,
    waiting: usize,
    runnable: usize,
    blocked: usize,
}

/// Ejects the group of a fault.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn eject(me: TaskRef, fault: Fault) {
    let group = fault.group;
    let line = format!("faulty {}: {}", group.title(), fault.kind.text(&group.promise));
    if is_fatal() {
        fatal::exit_with(1, &line);
    }
    while !group.is_ejected() {
        if !stop_world::stop(me) {
            continue;
        }
        let counts = (!group.is_ejected()).then(|| eject_stopped(super::hec(), group));
        stop_world::resume(me);
        if let Some(Counts { ready, waiting, runnable, blocked }) = counts {
            fatal::print_message(&line);
            let threads = format!("{ready} ready, {waiting} waiting, {runnable} runnable, {blocked} blocked");
            let details = format!("{line}; its threads: {threads}");
            eventlog::scheduler_ejected(super::hec().no, details.as_bytes());
        }
    }
}

/// Steps 2 to 4.
unsafe fn eject_stopped(hec: &mut Hec, group: &'static Group) -> Counts {
    group.eject();
    let all: Vec<Tso> = bound_threads::every_thread().filter(|&t| !finished(t)).collect();
    let mut counts = Counts::default();
    for &t in &all {
        if SchedRecord::of(t).and_then(|record| record.group()).is_some_and(Group::is_ejected) {
            eject_thread(hec, t, &mut counts);
        }
    }
    for h in stop_world::hecs() {
        let (others, freed) = h.to_enqueue.iter().partition(|t| t.obj().flags & TSO_USER != 0);
        h.to_enqueue = others;
        for t in <Vec<Tso>>::into_iter(freed) {
            h.run_queue.push_back(&mut h.remembered, t);
        }
    }
    for t in all {
        restart(hec, t);
    }
    counts
}

/// A thread of an ejected group goes to the built-in scheduler.
unsafe fn eject_thread(hec: &mut Hec, t: Tso, counts: &mut Counts) {
    let in_slot = t.obj().flags & TSO_SLOT != 0;
    let subject = Subject::of(t).filter(|subject| !subject.is_ejected());
    substrate::leave_group(hec, t);
    if in_slot {
        leave_slot(hec, t, subject);
    }
    match park::why(t) {
        BlockedOnScheduler if substrate::is_given(t) => {
            counts.ready += 1;
            substrate::claimed(hec, t);
            park::unblock(hec, t);
        }
        BlockedOnScheduler => counts.waiting += 1,
        NotBlocked => counts.runnable += 1,
        _ => counts.blocked += 1,
    }
}

/// The thread has left the user slot of its HEC. If there is a `subject`, others that share its dequeue activation go
/// on in the slot.
unsafe fn leave_slot(hec: &mut Hec, t: Tso, subject: Option<Subject>) {
    let there = t.obj().cap as *mut Hec;
    if (*there).in_call == t {
        (*there).in_call = Tso::NULL;
        (*there).user_slot.end_call();
    }
    match subject {
        Some(subject) if std::ptr::eq(there, hec) => upcall::start_dequeue_here(hec, subject),
        Some(subject) => upcall::start_dequeue_on(hec, &mut *there, subject),
        None => (*there).user_slot.leave(),
    }
}

/// If the thread is in the transaction of a `switch` or of an upcall, that begins again.
unsafe fn restart(hec: &mut Hec, t: Tso) {
    let runs = t.obj().flags & (TSO_SWITCHES | TSO_UPCALL) != 0;
    let Some(log) = stm::current(t).filter(|_| runs) else { return };
    match park::why(t) {
        NotBlocked if !log.is_waiting() => restart_transaction(hec, t),
        BlockedOnSTM => park::unblock(hec, t),
        BlockedOnBlackHole => {
            wait_queues::leave_queues(hec, t);
            restart_transaction(hec, t);
            park::unblock(hec, t);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::fork::hec_fork;
    use crate::sync::substrate::{hec_new_scont, hec_own_scont, hec_set_activation};
    use crate::testing::symbols as t;
    use crate::testing::world::World;

    fn group(t: Tso) -> Option<&'static Group> {
        unsafe { SchedRecord::of(t).and_then(|record| record.group()) }
    }

    #[test]
    fn no_thread_of_an_ejected_scheduler_is_lost() {
        let mut w = World::new(2);
        let (a, x) = (w.thread(), t::nil().with_tag(1));
        w.run(a);
        w.hec.user_slot.leave();
        unsafe {
            hec_own_scont(w.hec, x);
            assert!([0, 1].into_iter().all(|which| hec_set_activation(w.hec, which, x, x) == 1));
            let ready = hec_fork(w.hec, x);
            upcall::start_enqueues(w.hec);
            let upcall = w.hec.run_queue.first();
            let (second, waiting) = (hec_fork(w.hec, x), hec_new_scont(w.hec, x, x));
            w.hec.r.current_tso = 0;
            w.hec.run_queue.push_back(&mut w.hec.remembered, a);
            let its = group(a).unwrap();
            let all = [a, ready, second, waiting];
            assert!(all.iter().all(|&t| group(t) == Some(its)) && w.hec.user_slot.is_used());

            let counts = eject_stopped(w.hec, its);
            assert_eq!(counts, Counts { ready: 1, waiting: 1, runnable: 2, blocked: 0 });
            assert!(its.is_ejected() && !w.hec.user_slot.is_used() && w.hec.to_enqueue.is_empty());
            assert!(all.iter().all(|&t| group(t).is_none() && t.obj().flags & (TSO_USER | TSO_SLOT) == 0));
            assert_eq!(w.runnable(), [upcall, a, ready, second]);
            assert_eq!(park::why(waiting), BlockedOnScheduler);
        }
    }

    #[test]
    fn threads_of_other_schedulers_stay_there() {
        let mut w = World::new(2);
        let (a, b, x) = (w.thread(), w.thread(), t::nil().with_tag(1));
        for thread in [a, b] {
            w.run(thread);
            w.hec.user_slot.leave();
            unsafe {
                hec_own_scont(w.hec, x);
                assert!([0, 1].into_iter().all(|which| hec_set_activation(w.hec, which, x, x) == 1));
            }
        }
        unsafe {
            let second = hec_fork(w.hec, x);
            eject_stopped(w.hec, group(a).unwrap());
            assert!(group(b).is_some() && group(second) == group(b) && w.hec.to_enqueue == [second]);
            assert!(b.obj().flags & TSO_USER != 0 && a.obj().flags & TSO_USER == 0);
        }
    }
}
