//! Unit tests of SConts, switches and scheduling records.
use super::stm::hec_stm_write;
use super::stm::scont_protocol::{Status, NO_SCONT};
use super::stm::{self, thread_status, tvar};
use super::substrate::*;
use super::throwto::{finished, hec_throw_to};
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnScheduler, TSO_SLOT, TSO_SWITCHES, TSO_UPCALL};
use crate::abi::{Closure, Tso};
use crate::collector::Request;
use crate::eval::frames::Frame;
use crate::eval::raise_async::raise_async;
use crate::hec::{POLL_EVENTS, SLICE_ENDED};
use crate::info;
use crate::memory::age_of;
use crate::sched::context_switch::hec_switch_to;
use crate::sync::deadlock;
use crate::sync::upcall::keep;
use crate::testing::symbols as t;
use crate::testing::world::World;
use crate::thread::create::push;
use crate::thread::sched_record::{Activation, SchedRecord};
use std::sync::atomic::Ordering;

// Results of `hec_switch_end`.
pub(super) const DONE: usize = 1;
pub(super) const SWITCH: usize = 2;

pub(super) fn record(thread: Tso) -> SchedRecord {
    unsafe { SchedRecord::of(thread) }.unwrap()
}

pub(super) fn status(thread: Tso) -> Status {
    unsafe { thread_status::of(record(thread)) }
}

pub(super) fn why(thread: Tso) -> usize {
    unsafe { thread.obj().why_blocked as usize }
}

/// The info pointer on top of the thread's stack.
pub(super) fn top(thread: Tso) -> usize {
    unsafe { Frame::youngest(thread.obj().stackobj).info().0 }
}

pub(super) fn aux() -> Closure {
    t::nil().with_tag(1)
}

/// The running thread, with a record. It belongs to a user scheduler if `activations`, and then uses the HEC alone.
pub(super) fn user(w: &mut World, activations: bool) -> Tso {
    let thread = w.thread();
    w.run(thread);
    w.hec.user_slot.leave();
    assert_eq!(unsafe { hec_own_scont(w.hec, aux()) }, 0);
    if activations {
        set_activations(w, aux());
    }
    thread
}

pub(super) fn set_activations(w: &mut World, to: Closure) {
    assert!([0, 1].into_iter().all(|which| unsafe { hec_set_activation(w.hec, which, to, aux()) } == 1));
}

pub(super) fn is_in_slot(thread: Tso) -> bool {
    unsafe { thread.obj().flags & TSO_SLOT != 0 }
}

/// Another thread commits a write to the TVar.
pub(super) unsafe fn overtake(v: Closure) {
    let seen = tvar::version(v).lock();
    tvar::version(v).unlock(seen + 2);
}

/// A new SCont's thread.
pub(super) fn new_scont(w: &mut World) -> Tso {
    unsafe { hec_new_scont(w.hec, aux(), aux()) }
}

pub(super) fn scont(w: &mut World, thread: Tso, number: usize) -> Closure {
    w.object(t::scont(), &[thread.0, number]).with_tag(1)
}

/// The running thread begins a switch.
pub(super) fn begin(w: &mut World) {
    let stack = w.hec.current();
    unsafe {
        push(stack.obj().stackobj, &[info!(hec_switch_frame_info).0, aux().0]);
        hec_switch_begin(w.hec);
    }
}

/// The transaction writes a status, as `enqueueAct` does.
pub(super) fn write_status(w: &mut World, thread: Tso, status: Status) {
    unsafe {
        let value = thread_status::boxed(w.hec, status);
        hec_stm_write(w.hec, record(thread).status(), value);
    }
}

/// The transaction chooses another SCont than the thread's own, and the thread leaves. Returns whether another thread
/// follows at once. If not, the thread is at rest.
pub(super) fn choose(w: &mut World, thread: Tso, number: usize) -> bool {
    let (s, choice) = (w.hec.current(), scont(w, thread, number));
    unsafe {
        assert_eq!(hec_switch_end(w.hec, choice), SWITCH);
        push(s.obj().stackobj, &[info!(stg_ret_p_info).0, choice.0]);
        let follows = hec_switch_to(w.hec) != 0;
        if !follows && w.hec.current() == s {
            // As the scheduler's loop does it.
            w.hec.r.current_tso = 0;
            assert!(park(w.hec, s, choice));
        }
        follows
    }
}

#[test]
fn only_passive_threads_are_given_to_their_scheduler() {
    const STALE: usize = 0;
    const GIVEN: usize = 1;
    const RUNS: usize = 2;
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let (passive, other) = (new_scont(&mut w), user(&mut w, true));
    let give = |w: &mut World, t: Tso, n: usize| unsafe {
        let runs = hec_runs_elsewhere(w.hec, t, n) != 0;
        (hec_give(w.hec, t, n), runs)
    };
    w.run(a);
    begin(&mut w);
    assert_eq!(give(&mut w, passive, 0), (GIVEN, false));
    assert_eq!(give(&mut w, passive, 0), (GIVEN, false), "again");
    assert_eq!(give(&mut w, passive, 1), (STALE, false));
    assert_eq!(give(&mut w, passive, NO_SCONT), (STALE, false));
    assert_eq!(give(&mut w, other, 0), (RUNS, true));
    assert_eq!(give(&mut w, a, 0), (GIVEN, false), "it is about to become passive");
    assert!(choose(&mut w, passive, 0));
    assert_eq!((status(a), status(passive)), (Status::ready(0), Status::running(1)));
    unsafe { stm::hec_stm_begin(w.hec) };
    assert_eq!(give(&mut w, passive, 1), (RUNS, false), "it goes on running");
    assert_eq!(unsafe { hec_scont_number(w.hec, passive) }, 1);
}

#[test]
fn a_switch_blocks_one_thread_and_runs_the_other() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let b = new_scont(&mut w);
    assert_eq!((why(b), status(b)), (BlockedOnScheduler, Status::waiting(0)));
    let sp = unsafe { a.obj().stackobj.obj().sp };
    begin(&mut w);
    assert!(choose(&mut w, b, 0));
    assert_eq!((w.hec.current(), why(b), status(b)), (b, NotBlocked, Status::running(1)));
    assert_eq!((why(a), status(a)), (BlockedOnScheduler, Status::waiting(0)));
    assert_eq!(w.hec.run_queue.len(), 0);
    unsafe {
        assert_eq!(a.obj().flags & TSO_SWITCHES, 0);
        assert!(stm::current(a).is_none());
        // It will return () behind the switch.
        assert_eq!((top(a), a.obj().stackobj.obj().sp), (info!(stg_ret_p_info).0, sp - 16));
    }
    // The other thread switches back.
    begin(&mut w);
    write_status(&mut w, b, Status::ready(1));
    assert!(choose(&mut w, a, 0));
    assert_eq!((w.hec.current(), status(a), status(b)), (a, Status::running(1), Status::ready(1)));
}

#[test]
fn an_own_scont_only_commits() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    begin(&mut w);
    write_status(&mut w, a, Status::ready(0));
    let own = scont(&mut w, a, 0);
    assert_eq!(unsafe { hec_switch_end(w.hec, own) }, DONE);
    assert_eq!((w.hec.current(), status(a), why(a)), (a, Status::running(0), NotBlocked));
    unsafe { assert!(stm::current(a).is_none() && !holds_off(w.hec, a, 0)) };
}

#[test]
fn an_upcall_thread_that_chooses_itself_goes_on() {
    let mut w = World::new(2);
    let upcall = w.thread();
    w.run(upcall);
    unsafe { upcall.obj().flags |= TSO_SLOT | TSO_UPCALL };
    begin(&mut w);
    let own = scont(&mut w, upcall, 0);
    assert_eq!(unsafe { hec_switch_end(w.hec, own) }, DONE);
    assert!(w.hec.current() == upcall && is_in_slot(upcall) && unsafe { stm::current(upcall).is_none() });
}

#[test]
fn after_a_stale_choice_an_upcall_thread_chooses() {
    for (activations, number) in [(true, 1), (false, 1), (true, NO_SCONT)] {
        let mut w = World::new(2);
        let a = user(&mut w, activations);
        let b = new_scont(&mut w);
        begin(&mut w);
        choose(&mut w, b, number);
        assert_eq!((why(a), status(a), status(b)), (BlockedOnScheduler, Status::waiting(0), Status::waiting(0)));
        // Only a thread with activations has a scheduler to ask.
        let upcall = if w.hec.current().is_null() { w.runnable().pop() } else { Some(w.hec.current()) };
        assert_eq!(upcall.is_some(), activations && number != NO_SCONT);
        assert!(upcall.is_none_or(|u| u != a && u != b && unsafe { u.obj().flags } as usize & TSO_BLOCKEX != 0));
    }
}

#[test]
fn an_upcall_thread_ends_with_its_switch_or_chooses_again() {
    for number in [0, 1] {
        let mut w = World::new(2);
        user(&mut w, true);
        let b = new_scont(&mut w);
        // It takes the slot after the thread that has left it.
        let upcall = w.thread();
        w.run(upcall);
        unsafe { upcall.obj().flags |= TSO_SLOT | TSO_UPCALL };
        begin(&mut w);
        assert!(choose(&mut w, b, number));
        assert_eq!(w.hec.current(), if number == 0 { b } else { upcall });
        // It is kept for another upcall, with an empty stack.
        let expected = if number == 0 { info!(stg_stop_thread_info) } else { info!(hec_restart_switch_info) };
        assert_eq!((top(upcall), unsafe { stm::current(upcall) }.is_none()), (expected.0, true));
        assert_eq!(w.hec.idle_upcalls.contains(&upcall), number == 0);
        assert_eq!((is_in_slot(upcall), is_in_slot(b)), (number != 0, number == 0));
    }
}

#[test]
fn an_upcall_thread_that_is_not_kept_ends_with_its_switch() {
    let mut w = World::new(2);
    user(&mut w, true);
    let b = new_scont(&mut w);
    while {
        let t = w.thread();
        unsafe { keep(w.hec, t) }
    } {}
    let upcall = w.thread();
    w.run(upcall);
    unsafe { upcall.obj().flags |= TSO_SLOT | TSO_UPCALL };
    begin(&mut w);
    assert!(!choose(&mut w, b, 0), "it ends in the loop");
    assert_eq!(unsafe { upcall.obj().what_next } as usize, ThreadKilled);
    assert_eq!((is_in_slot(upcall), is_in_slot(b)), (false, true));
    assert_eq!(w.runnable(), [upcall, b]);
}

#[test]
fn an_overtaken_switch_begins_again() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let b = new_scont(&mut w);
    let v = w.tvar(aux());
    begin(&mut w);
    unsafe {
        stm::hec_stm_read(w.hec, v);
        overtake(v);
    }
    assert!(choose(&mut w, b, 0));
    assert_eq!((w.hec.current(), top(a)), (a, info!(hec_restart_switch_info).0));
    assert_eq!((status(a), status(b), why(b)), (Status::running(0), Status::waiting(0), BlockedOnScheduler));
}

#[test]
fn ticks_are_held_off_and_validate() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let v = w.tvar(aux());
    begin(&mut w);
    unsafe {
        stm::hec_stm_read(w.hec, v);
        push(a.obj().stackobj, &[info!(stg_ret_p_info).0, aux().0]);
        assert!(holds_off(w.hec, a, 0) && top(a) == info!(stg_ret_p_info).0);
        overtake(v);
        assert!(holds_off(w.hec, a, 0) && top(a) == info!(hec_restart_switch_info).0);
        assert!(!holds_off(w.hec, a, 0), "it is in no transaction");
    }
}

#[test]
fn a_tick_that_is_held_off_ends_the_slice_after_the_switch() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    begin(&mut w);
    let own = scont(&mut w, a, 0);
    unsafe {
        assert!(holds_off(w.hec, a, SLICE_ENDED) && holds_off(w.hec, a, POLL_EVENTS));
        w.hec.r.hp_lim = 1;
        assert_eq!(hec_switch_end(w.hec, own), DONE);
        assert_eq!((w.hec.r.hp_lim, w.hec.has_request()), (0, true));
        assert_eq!((w.hec.take_request(), w.hec.take_request()), (SLICE_ENDED, 0));
    }
}

#[test]
fn at_the_end_of_a_slice_other_threads_come_first() {
    let mut w = World::new(2);
    user(&mut w, true);
    let (b, other) = (new_scont(&mut w), w.thread());
    unsafe { w.hec.run_queue.push_back(&mut w.hec.remembered, other) };
    begin(&mut w);
    let choice = scont(&mut w, b, 0);
    unsafe {
        assert_eq!(hec_switch_end(w.hec, choice), SWITCH);
        let a = w.hec.current();
        push(a.obj().stackobj, &[info!(stg_ret_p_info).0, choice.0]);
        w.hec.context_switch.store(SLICE_ENDED, Ordering::Relaxed);
        assert_eq!(hec_switch_to(w.hec), 0, "the loop must act");
        assert!(park(w.hec, a, choice));
    }
    assert_eq!(w.runnable(), [other, b]);
}

#[test]
fn a_passive_thread_of_the_built_in_scheduler_runs_when_it_is_given() {
    let mut w = World::new(2);
    let a = user(&mut w, false);
    let other = w.thread();
    for n in 0..3 {
        w.run(a);
        begin(&mut w);
        choose(&mut w, a, NO_SCONT);
        assert_eq!((why(a), status(a)), (BlockedOnScheduler, Status::waiting(n)));
        w.run(other);
        unsafe { stm::hec_stm_begin(w.hec) };
        write_status(&mut w, a, Status::ready(n));
        assert_eq!(unsafe { stm::hec_stm_commit(w.hec) }, 1);
        assert_eq!((w.runnable(), status(a)), (vec![a], Status::running(n + 1)));
    }
}

#[test]
fn a_thread_that_is_given_in_its_own_switch_yields() {
    let mut w = World::new(2);
    let a = user(&mut w, false);
    begin(&mut w);
    write_status(&mut w, a, Status::ready(0));
    choose(&mut w, a, NO_SCONT);
    let next = if w.hec.current().is_null() { w.runnable() } else { vec![w.hec.current()] };
    assert_eq!((next, status(a)), (vec![a], Status::running(1)));
}

/// Throws to a thread that has left its switch with this status. Returns whether the thread gets the exception at once.
fn gets_exception(flags: usize, given: bool) -> bool {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let thrower = w.thread();
    unsafe { a.obj().flags |= flags as u32 };
    begin(&mut w);
    write_status(&mut w, a, if given { Status::ready(0) } else { Status::running(0) });
    choose(&mut w, a, NO_SCONT);
    w.run(thrower);
    unsafe {
        push(thrower.obj().stackobj, &[t::ret_pp().0, a.0, aux().0]);
        let done = hec_throw_to(w.hec, a, aux()) == 0;
        assert_eq!((finished(a), w.runnable().contains(&a)), (done, done));
        assert_eq!(status(a).is_claimable(0), !done, "its SCont is stale if it was resumed");
        done
    }
}

#[test]
fn a_passive_thread_gets_exceptions_as_its_mask_says() {
    let interruptible = TSO_BLOCKEX | TSO_INTERRUPTIBLE;
    for given in [false, true] {
        assert!(gets_exception(0, given));
        assert!(!gets_exception(TSO_BLOCKEX, given));
        assert_eq!(gets_exception(interruptible, given), !given);
    }
}

#[test]
fn the_sconts_of_a_finished_thread_are_stale() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    unsafe {
        w.hec.r.current_tso = 0;
        raise_async(w.hec, a, None);
        super::throwto::thread_finished(w.hec, a);
    }
    assert_eq!(status(a), Status::running(1));
}

#[test]
fn records_survive_collections() {
    let mut w = World::new(2);
    let a = user(&mut w, false);
    w.hec.r.current_tso = 0;
    let a = Tso(w.old(a.closure()).0);
    assert!(age_of(a.0).is_old());
    // A record of an old thread, and a new activation in an old record, are remembered.
    let b = w.thread();
    let b = Tso(w.old(b.closure()).0);
    let list = w.list(1000, 1003);
    w.roots.extend([a.closure(), b.closure()]);
    for thread in [a, b] {
        w.run(thread);
        unsafe { hec_own_scont(w.hec, list) };
        w.hec.user_slot.leave();
        set_activations(&mut w, list);
    }
    w.hec.r.current_tso = 0;
    for _ in 0..3 {
        w.collect(Request::MINOR);
        for i in [0, 1] {
            let record = record(Tso(w.roots[i].0));
            let act = unsafe { record.activation(Activation::Enqueue) }.unwrap();
            assert_eq!(unsafe { act.untag().field(1).untag().word(1) }, 1000);
        }
    }
}

#[test]
fn a_new_thread_inherits_activations() {
    let mut w = World::new(2);
    for activations in [true, false] {
        user(&mut w, activations);
        let b = new_scont(&mut w);
        assert_eq!(unsafe { hec_activation(b, 0) != Closure::NULL }, activations);
    }
}

#[test]
fn unreachable_threads_are_dropped_before_they_run_and_resumed_after() {
    for given in [None, Some(false), Some(true)] {
        let mut w = World::new(2);
        let a = user(&mut w, true);
        if let Some(given) = given {
            begin(&mut w);
            write_status(&mut w, a, if given { Status::ready(0) } else { Status::running(0) });
            choose(&mut w, a, NO_SCONT);
        } else {
            new_scont(&mut w);
            w.roots.push(a.closure());
        }
        w.hec.r.current_tso = 0;
        let lost = w.collect(Request::MAJOR).resurrected;
        assert_eq!(lost.len(), given.is_some() as usize);
        unsafe { deadlock::resurrect(w.hec, &lost) };
        let runnable = w.runnable();
        assert_eq!(runnable.len(), given.is_some() as usize);
        // One that was given to its scheduler goes on; another gets an exception.
        assert!(runnable.iter().all(|&a| unsafe { finished(a) } != given.unwrap() && status(a) == Status::running(1)));
    }
}
