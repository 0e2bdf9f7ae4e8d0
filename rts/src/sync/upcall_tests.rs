//! Unit tests of upcalls and of the user slot.
use super::stm;
use super::stm::scont_protocol::{Status, NO_SCONT};
use super::substrate::*;
use super::substrate_tests::{
    aux, begin, choose, is_in_slot, new_scont, overtake, record, status, top, user, why, DONE,
};
use super::throwto::{finished, hec_throw_to};
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnScheduler, TSO_SLOT, TSO_UPCALL, TSO_USER};
use crate::abi::{Closure, Tso};
use crate::collector::Request;
use crate::eval::raise_async::raise_async;
use crate::hec::SLICE_ENDED;
use crate::info;
use crate::sync::fork::hec_fork;
use crate::sync::upcall::{
    begin_call, end_call, hec_enqueue_alone, is_preempted, keep, preempt, start_enqueues, take_from_call,
};
use crate::sync::{deadlock, park_thread};
use crate::testing::symbols as t;
use crate::testing::world::World;
use crate::thread::create::push;
use crate::thread::park;
use crate::thread::sched_record::Activation;

/// Another thread than the running one leaves its HEC, which has no thread then.
fn leave_hec(w: &mut World) {
    w.hec.r.current_tso = 0;
}

/// The running thread blocks on an empty MVar. Returns the MVar.
fn block_on_mvar(w: &mut World) -> Closure {
    let (t, m) = (w.hec.current(), w.mvar());
    unsafe {
        push(t.obj().stackobj, &[t::ret_p().0, m.0]);
        park::hec_about_to_wait(w.hec, BlockedOnMVar, m.0);
        leave_hec(w);
        assert!(park_thread::park(w.hec, t));
    }
    m
}

#[test]
fn the_slot_passes_from_thread_to_thread() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    assert!(w.hec.user_slot.is_used() && is_in_slot(a));
    let b = new_scont(&mut w);
    begin(&mut w);
    assert!(choose(&mut w, b, 0));
    assert_eq!((is_in_slot(a), is_in_slot(b)), (false, true));
    // The last one chooses none.
    begin(&mut w);
    choose(&mut w, b, NO_SCONT);
    assert!(!w.hec.user_slot.is_used() && !is_in_slot(b));
}

#[test]
fn a_thread_that_ends_leaves_the_slot() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    unsafe {
        leave_hec(&mut w);
        raise_async(w.hec, a, None);
        super::throwto::thread_finished(w.hec, a);
    }
    assert!(!w.hec.user_slot.is_used() && !is_in_slot(a));
}

#[test]
fn a_thread_outside_the_slot_needs_it() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let (b, other) = (new_scont(&mut w), w.thread());
    w.run(other);
    unsafe {
        hec_own_scont(w.hec, aux());
        assert_eq!((hec_set_activation(w.hec, 0, aux(), aux()), hec_set_activation(w.hec, 1, aux(), aux())), (1, 0));
        assert_eq!(hec_may_switch_to(w.hec), 0);
        // The slot is taken after the choice: the transaction runs again.
        begin(&mut w);
        assert!(choose(&mut w, b, 0));
        assert_eq!(
            (w.hec.current(), top(other), why(b)),
            (other, info!(hec_restart_switch_info).0, BlockedOnScheduler)
        );
        assert!(is_in_slot(a) && !is_in_slot(other));
        w.hec.user_slot.leave();
        assert_eq!(hec_may_switch_to(w.hec), 1);
    }
    begin(&mut w);
    assert!(choose(&mut w, b, 0));
    assert!(w.hec.user_slot.is_used() && is_in_slot(b));
}

#[test]
fn an_overtaken_switch_gives_the_slot_back() {
    let mut w = World::new(2);
    user(&mut w, true);
    let (b, other, v) = (new_scont(&mut w), user(&mut w, false), w.tvar(aux()));
    begin(&mut w);
    unsafe {
        stm::hec_stm_read(w.hec, v);
        overtake(v);
    }
    assert!(choose(&mut w, b, 0));
    assert_eq!(top(other), info!(hec_restart_switch_info).0);
    assert!(!w.hec.user_slot.is_used() && !is_in_slot(b));
}

#[test]
fn a_thread_that_blocks_on_an_mvar_leaves_the_slot_to_an_upcall() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let m = block_on_mvar(&mut w);
    let upcall = w.runnable();
    assert!(upcall.len() == 1 && is_in_slot(upcall[0]) && !is_in_slot(a) && w.hec.user_slot.is_used());
    // It is woken: its scheduler is owed an upcall.
    unsafe {
        assert!(park::wake(w.hec, a, BlockedOnMVar, m.0));
        assert!(w.hec.to_enqueue == [a] && w.hec.has_runnable());
        start_enqueues(w.hec);
    }
    assert_eq!((why(a), status(a)), (BlockedOnScheduler, Status::ready(0)));
    let upcall = w.runnable();
    assert!(upcall.len() == 1 && upcall[0] != a && w.hec.to_enqueue.is_empty() && !is_in_slot(upcall[0]));
    // It may be chosen now.
    let b = user(&mut w, true);
    begin(&mut w);
    assert!(choose(&mut w, a, 0));
    assert_eq!((w.hec.current(), status(a), why(b)), (a, Status::running(1), BlockedOnScheduler));
}

/// A thread of a scheduler that is blocked on an MVar, and the MVar. No thread runs.
fn blocked_user(w: &mut World) -> (Tso, Closure) {
    let t = user(w, true);
    let m = block_on_mvar(w);
    w.runnable();
    (t, m)
}

fn wake(w: &mut World, (t, m): (Tso, Closure)) {
    assert!(unsafe { park::wake(w.hec, t, BlockedOnMVar, m.0) });
}

/// The threads of the batch that an upcall thread gives to their schedulers. The batch is the last word of its call.
fn batch(upcall: Tso) -> Vec<Tso> {
    let stack = unsafe { upcall.obj().stackobj };
    let mut batch = unsafe { Closure(*((stack.top() as *const usize).sub(2))) };
    let next = || unsafe {
        let is_one = batch.untag().info() == info!(hecatonzmrts_Substrate_Batch_con_info);
        is_one.then(|| {
            let t = Tso(batch.untag().word(1));
            batch = batch.untag().field(2);
            t
        })
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn the_upcall_after_a_block_gives_the_owed_threads_to_their_schedulers() {
    let mut w = World::new(2);
    let blocked = [blocked_user(&mut w), blocked_user(&mut w)];
    let waker = user(&mut w, true);
    blocked.iter().for_each(|&b| wake(&mut w, b));
    // It may run on for a little.
    assert!(!w.hec.has_request());
    let threads = blocked.map(|(t, _)| t);
    assert_eq!(w.hec.to_enqueue, threads);
    block_on_mvar(&mut w);
    let upcall = w.runnable();
    assert!(upcall.len() == 1 && is_in_slot(upcall[0]) && !is_in_slot(waker) && w.hec.to_enqueue.is_empty());
    assert_eq!(batch(upcall[0]), threads);
    // One whose activation has failed is given alone.
    unsafe { hec_enqueue_alone(w.hec, threads[1], 0) };
    let upcall = w.runnable();
    assert!(upcall.len() == 1 && !is_in_slot(upcall[0]) && batch(upcall[0]) == threads[1..]);
    assert!(threads.iter().all(|&t| status(t) == Status::ready(0) && why(t) == BlockedOnScheduler));
}

#[test]
fn a_thread_outside_the_slot_stops_at_once_after_it_has_woken_one() {
    let mut w = World::new(2);
    let blocked = blocked_user(&mut w);
    let other = w.thread();
    w.run(other);
    wake(&mut w, blocked);
    assert!(w.hec.has_request());
}

#[test]
fn a_few_upcall_threads_are_kept_and_used_again() {
    let mut w = World::new(2);
    let idle: Vec<Tso> = (0..5).map(|_| w.thread()).collect();
    let kept: Vec<bool> = idle.iter().map(|&t| unsafe { keep(w.hec, t) }).collect();
    assert_eq!(kept, [true, true, true, true, false]);
    w.collect(Request::MAJOR);
    let mut kept = w.hec.idle_upcalls.clone();
    let last = kept.pop().unwrap();
    let (_, m) = blocked_user(&mut w);
    assert!(m != Closure::NULL && w.hec.idle_upcalls == kept);
    // One that has been ended is not used again, and one that waits for a thrower is not kept.
    unsafe {
        raise_async(w.hec, kept[2], None);
        assert!(!keep(w.hec, kept[2]));
        let blocked = blocked_user(&mut w);
        assert!(w.hec.idle_upcalls == kept[..1] && blocked.0 != last);
        last.obj().blocked_exceptions = aux();
        assert!(!keep(w.hec, last));
    }
}

#[test]
fn a_built_in_thread_that_blocks_leaves_the_slot_empty() {
    let mut w = World::new(2);
    let a = user(&mut w, false);
    let b = new_scont(&mut w);
    begin(&mut w);
    assert!(choose(&mut w, b, 0));
    assert!(is_in_slot(b) && !is_in_slot(a));
    let m = block_on_mvar(&mut w);
    assert!(!w.hec.user_slot.is_used() && w.runnable().is_empty());
    unsafe { assert!(park::wake(w.hec, b, BlockedOnMVar, m.0)) };
    assert_eq!(w.runnable(), [b]);
}

#[test]
fn an_upcall_thread_stays_in_the_slot_and_gets_no_deadlock_exception() {
    let mut w = World::new(2);
    user(&mut w, true);
    block_on_mvar(&mut w);
    let upcall = w.runnable()[0];
    w.run(upcall);
    let m = block_on_mvar(&mut w);
    assert!(is_in_slot(upcall) && w.runnable().is_empty());
    let lost = w.collect(Request::MAJOR).resurrected;
    assert_eq!(lost.len(), 2);
    unsafe { deadlock::resurrect(w.hec, &lost) };
    // The other one had no handler.
    let ended = w.runnable();
    assert!(ended.len() == 1 && unsafe { finished(ended[0]) });
    let upcall = lost.into_iter().find(|&t| t != ended[0]).unwrap();
    assert!(is_in_slot(upcall) && why(upcall) == BlockedOnMVar && m != Closure::NULL);
}

#[test]
fn a_thread_that_is_killed_while_it_is_owed_ends() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let m = block_on_mvar(&mut w);
    w.runnable();
    unsafe {
        assert!(park::wake(w.hec, a, BlockedOnMVar, m.0));
        raise_async(w.hec, a, None);
        start_enqueues(w.hec);
    }
    assert_eq!((w.runnable(), why(a)), (vec![a], NotBlocked));
}

/// Another thread is queued, and the slice of the running one ends.
fn end_slice(w: &mut World) -> Tso {
    let (t, other) = (w.hec.current(), w.thread());
    unsafe {
        w.hec.run_queue.push_back(&mut w.hec.remembered, other);
        leave_hec(w);
        assert!(preempt(w.hec, t));
    }
    other
}

#[test]
fn a_tick_gives_a_thread_to_its_scheduler_and_others_a_turn() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let other = end_slice(&mut w);
    assert_eq!(w.hec.to_enqueue, [a]);
    let queued = w.runnable();
    assert!(queued.len() == 2 && queued[0] == other && is_in_slot(queued[1]) && !is_in_slot(a));
    // One that runs beside the slot leaves that alone.
    let b = user(&mut w, true);
    unsafe { b.obj().flags &= !TSO_SLOT };
    let other = end_slice(&mut w);
    assert_eq!((w.hec.to_enqueue.clone(), w.runnable()), (vec![a, b], vec![other]));
}

#[test]
fn ticks_are_held_off_in_switches_and_upcalls() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    unsafe { assert!(!holds_off(w.hec, a, 0)) };
    begin(&mut w);
    unsafe { assert!(holds_off(w.hec, a, 0) && !preempt(w.hec, a) && w.hec.to_enqueue.is_empty()) };
    let upcall = w.thread();
    unsafe {
        upcall.obj().flags |= TSO_UPCALL;
        assert!(holds_off(w.hec, upcall, 0) && !preempt(w.hec, upcall));
    }
}

#[test]
fn a_switch_beside_the_slot_waits_for_it() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let b = new_scont(&mut w);
    unsafe { a.obj().flags &= !TSO_SLOT };
    assert_eq!(unsafe { hec_may_switch_to(w.hec) }, 1);
    begin(&mut w);
    assert!(!choose(&mut w, b, 0));
    assert_eq!(
        (w.hec.to_enqueue.clone(), top(a), why(b)),
        (vec![a], info!(hec_restart_switch_info).0, BlockedOnScheduler)
    );
}

#[test]
fn a_forked_thread_belongs_to_the_scheduler() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    unsafe {
        let t = hec_fork(w.hec, aux());
        assert!(w.hec.to_enqueue == [t] && w.runnable().is_empty() && t.obj().flags & TSO_USER != 0);
        assert_eq!((status(t), record(t).activation(Activation::Enqueue)), (Status::running(0), Some(aux())));
        w.hec.to_enqueue.clear();
        // At its end in the slot another one follows, as at the end of no other thread.
        for (thread, follows) in [(t, true), (a, false)] {
            assert!(w.hec.user_slot.is_used());
            thread.obj().flags |= TSO_SLOT;
            w.hec.r.current_tso = 0;
            raise_async(w.hec, thread, None);
            super::throwto::thread_finished(w.hec, thread);
            let next = w.runnable();
            assert_eq!((next.len() == 1, w.hec.user_slot.is_used()), (follows, follows));
            assert!(next.iter().all(|&upcall| is_in_slot(upcall)));
        }
        let built_in = user(&mut w, false);
        let child = hec_fork(w.hec, aux());
        assert_eq!((w.runnable(), built_in.obj().flags & TSO_USER), (vec![child], 0));
    }
}

#[test]
fn a_passive_thread_loses_its_work_or_runs() {
    for taken in [true, false] {
        let mut w = World::new(2);
        user(&mut w, true);
        let b = new_scont(&mut w);
        unsafe {
            let runs = w.hec.current();
            assert_eq!(take_from_passive(w.hec, runs, &mut |_| unreachable!()), None);
            assert_eq!(take_from_passive(w.hec, b, &mut |_| taken), Some(taken));
        }
        assert_eq!((status(b) == Status::waiting(0), w.runnable() == [b]), (taken, !taken));
        assert!(!is_in_slot(b));
    }
}

#[test]
fn a_slot_waits_for_a_short_call_and_not_for_a_long_one() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    unsafe {
        begin_call(w.hec, a);
        assert!(w.hec.user_slot.is_used() && w.hec.user_slot.is_in_call());
        end_call(w.hec, a);
        assert!(is_in_slot(a) && !w.hec.user_slot.is_in_call() && !w.hec.user_slot.note_long_call());
        assert!(w.runnable().is_empty() && !w.hec.has_request());
        begin_call(w.hec, a);
        assert!(w.hec.user_slot.note_long_call() && w.hec.user_slot.is_overdue());
        leave_hec(&mut w);
        take_from_call(w.hec);
        let upcall = w.runnable();
        assert!(upcall.len() == 1 && is_in_slot(upcall[0]) && !is_in_slot(a) && !w.hec.user_slot.is_overdue());
        end_call(w.hec, a);
        assert_eq!(w.hec.take_request(), SLICE_ENDED);
        assert!(preempt(w.hec, a) && w.hec.to_enqueue == [a] && w.runnable().is_empty());
    }
}

#[test]
fn owed_threads_are_roots() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let m = block_on_mvar(&mut w);
    unsafe { assert!(park::wake(w.hec, a, BlockedOnMVar, m.0)) };
    assert!(w.collect(Request::MAJOR).resurrected.is_empty());
    unsafe { assert!(w.hec.to_enqueue[0].obj().flags & TSO_USER != 0 && w.hec.to_enqueue[0] != a) };
}

#[test]
fn an_scont_runs_on_an_idle_hec() {
    const STARTED: usize = 1;
    const RUNS: usize = 2;
    const ALL_USED: usize = 3;
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let (b, c) = (new_scont(&mut w), new_scont(&mut w));
    unsafe {
        assert_eq!(hec_run_on_idle_hec(w.hec, b, 0), ALL_USED);
        w.hec.user_slot.leave();
        assert_eq!(hec_run_on_idle_hec(w.hec, b, 1), RUNS, "stale");
        assert_eq!(hec_run_on_idle_hec(w.hec, a, 0), RUNS);
        assert!(!w.hec.user_slot.is_used());
        assert_eq!(hec_run_on_idle_hec(w.hec, b, 0), STARTED);
        assert_eq!(hec_run_on_idle_hec(w.hec, c, 0), ALL_USED);
    }
    assert!(w.hec.user_slot.is_used() && is_in_slot(b) && !is_in_slot(c));
    assert_eq!((w.runnable(), status(b), status(c)), (vec![b], Status::running(1), Status::waiting(0)));
}

#[test]
fn a_preemption_takes_effect_with_its_commit() {
    let mut w = World::new(2);
    user(&mut w, true);
    let preempt = |w: &mut World| unsafe {
        stm::hec_stm_begin(w.hec);
        hec_preempt(w.hec, 0);
        hec_preempt(w.hec, 1000);
        assert_eq!(w.hec.take_request(), 0);
    };
    preempt(&mut w);
    unsafe { stm::abort(w.hec, w.hec.current()) };
    assert!(!w.hec.has_request());
    preempt(&mut w);
    w.collect(Request::MINOR);
    unsafe { assert_eq!(stm::hec_stm_commit(w.hec), DONE) };
    assert_eq!((w.hec.take_request(), w.hec.take_return_request()), (SLICE_ENDED, true));
}

#[test]
fn a_preemption_reaches_the_thread_of_the_slot_behind_another_one() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let other = w.thread();
    w.run(other);
    unsafe {
        stm::hec_stm_begin(w.hec);
        hec_preempt(w.hec, 0);
        assert!(!is_preempted(w.hec, a));
        assert_eq!(stm::hec_stm_commit(w.hec), DONE);
        assert!(!is_preempted(w.hec, other) && is_preempted(w.hec, a) && !is_preempted(w.hec, a));
    }
}

#[test]
fn an_exception_overtakes_a_transaction_that_gives_its_thread() {
    let mut w = World::new(2);
    let a = user(&mut w, true);
    let other = w.thread();
    begin(&mut w);
    choose(&mut w, a, NO_SCONT);
    w.run(other);
    unsafe {
        stm::hec_stm_begin(w.hec);
        assert_eq!(hec_give(w.hec, a, 0), 1);
        push(other.obj().stackobj, &[t::ret_pp().0, a.0, aux().0]);
        assert_eq!(hec_throw_to(w.hec, a, aux()), 0);
        assert_ne!(stm::hec_stm_commit(w.hec), DONE, "it has read another status");
        assert_eq!(hec_give(w.hec, a, 0), 0, "the SCont is stale");
    }
}
