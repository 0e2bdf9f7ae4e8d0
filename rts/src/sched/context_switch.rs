//! Switching a HEC from one thread to the next, without the scheduler's loop if nothing else needs attention.
//!
//! *Protocol*
//! 1. A thread blocks or yields. Usually another thread is queued, no request to the HEC is pending, its nursery has
//!    room, and no event is expected.
//! 2. Then [`hec_switch`] brings the thread to rest and prepares the next one, and compiled code continues with that.
//!    Haskell is not left and entered again.
//! 3. Otherwise nothing is done, and the thread returns to the loop ([`crate::sched::schedule`]).
//!
//! *Invariant*: the next thread runs on the same native stack. In the threaded way that is a worker's or a fiber, and
//! neither thread may be bound. Otherwise one native stack serves all threads.
//!
//! *Checked by*: the unit tests below.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnScheduler, TSO_SWITCHES, TSO_UPCALL};
use crate::abi::{Closure, Tso};
use crate::base::clock::getMonotonicNSec;
use crate::eval::atomic_modify;
use crate::eval::blackhole::owner_of;
use crate::eval::lazy_blackholing::thread_paused;
use crate::eval::raise_async::restart_transaction;
use crate::hec;
use crate::hec::priority;
use crate::hec::{Handed, Hec};
use crate::observe::eventlog::classes::{class, on};
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::{balance, event_poll, gc, handoff, lenient, settings, spark};
use crate::sync::throwto::finished;
use crate::sync::{park_thread, stm, substrate, upcall};
use crate::thread::sched_record::SchedRecord;
use crate::thread::stack_shrink::make_ready;

/// Switches from the running thread, which leaves with `ret`, to the next one on the queue. Returns 0 if the
/// scheduler's loop must act. The thread is then still current, or already at rest with no thread current.
/// # Safety
/// Called from Cmm with the thread saved. `ret` is `ThreadYielding`, or `ThreadBlocked` with `hec.wait` set to what the
/// thread waits for. The frame on top of its stack repeats the operation. If the result is not 0, another thread is
/// current and must be loaded.
#[no_mangle]
pub unsafe extern "C" fn hec_switch(hec: &mut Hec, ret: usize) -> usize {
    let first = hec.run_queue.first();
    switch(hec, ret, first)
}

/// Switches from the running thread, whose `switch` has chosen an SCont. Its thread runs next. Returns as
/// [`hec_switch`].
/// # Safety
/// As for [`hec_switch`], with the result of the transaction as what the thread waits for.
#[no_mangle]
pub unsafe extern "C" fn hec_switch_to(hec: &mut Hec) -> usize {
    let next = substrate::chosen_thread(Closure(hec.wait.on)).unwrap_or(hec.run_queue.first());
    switch(hec, ThreadBlocked, next)
}

/// Switches to the first thread of the queue. That is probably `next`, if not now, then once the running one is parked.
/// If that leaves its user slot, it is an upcall thread.
#[inline(always)]
unsafe fn switch(hec: &mut Hec, ret: usize, next: Tso) -> usize {
    let t = hec.current();
    let has_next = may_follow(next) || ret == ThreadBlocked && upcall::follows(t);
    if !has_next || !may_switch(hec, t) {
        return 0;
    }
    let stopped = on_leave(hec, t, ret);
    bring_to_rest(hec, t, ret);
    if hec::many() {
        balance::distribute(hec);
        spark::wake_idle_hecs(hec);
        lenient::wake_idle_hecs(hec);
    }
    // Another thread may have come to the front, an upcall is owed, or the slice of the slot's thread has been ended.
    if !may_follow(hec.run_queue.first()) || !hec.to_enqueue.is_empty() || hec.user_slot.is_preempted() {
        return 0;
    }
    pop_next(hec).map_or(0, |next| {
        start_at(hec, next, stopped);
        1
    })
}

/// Can another thread follow `t` on the same native stack, and is there nothing else to do?
unsafe fn may_switch(hec: &mut Hec, t: Tso) -> bool {
    if hec.has_request() || gc::may_be_due(hec) {
        return false;
    }
    let no = hec.no as usize;
    let same_stack = !settings().threaded || t.obj().bound == 0 && no < hec::enabled() && !handoff::has_returning(no);
    same_stack && !event_poll::is_due(hec)
}

/// Can this thread run on the native stack of another one?
#[inline]
unsafe fn may_follow(first: Tso) -> bool {
    !(first.is_null() || finished(first) || settings().threaded && first.obj().bound != 0)
}

/// Takes the thread that runs next off the queue.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
#[inline]
pub(super) unsafe fn pop_next(hec: &mut Hec) -> Option<Tso> {
    hec.handed = if hec.handed == Handed::Next { Handed::Running } else { Handed::No };
    hec.run_queue.pop_front()
}

/// Makes a thread the current one.
/// # Safety
/// The HEC owns the thread, which is on no queue, and the caller enters it.
#[inline]
pub(super) unsafe fn start(hec: &mut Hec, t: Tso) {
    start_at(hec, t, None);
}

/// As [`start`]. `now`: the time, if it has just been read.
#[inline]
unsafe fn start_at(hec: &mut Hec, t: Tso, now: Option<u64>) {
    make_ready(hec, t);
    hec.r.current_tso = t.0;
    hec.r.hp_alloc = 0;
    hec.open_nursery();
    *libc::__errno_location() = t.obj().saved_errno as i32;
    if on(class::SCHEDULER | class::RUN_TIMES) {
        on_start(hec, t, now);
    }
}

#[cold]
unsafe fn on_start(hec: &mut Hec, t: Tso, now: Option<u64>) {
    eventlog::thread_run(hec.no, t.obj().id);
    if t.obj().flags & (TSO_UPCALL | TSO_SWITCHES) != 0 {
        hec.activation_time.begin();
    } else {
        hec.activation_time.end();
    }
    if let Some(record) = SchedRecord::of(t) {
        record.start(now.unwrap_or_else(|| getMonotonicNSec()));
        if let Some(group) = record.group() {
            group.runs();
        }
    }
}

/// Returns the time, if it was needed.
#[cold]
unsafe fn on_stop(hec: &mut Hec, t: Tso, ret: usize) -> Option<u64> {
    eventlog::thread_stopped(hec.no, t.obj().id, || why_stopped(hec, ret));
    // A switch is about to commit.
    if ret != ThreadBlocked || hec.wait.why != BlockedOnScheduler {
        hec.activation_time.end();
    }
    let record = SchedRecord::of(t)?;
    let now = getMonotonicNSec();
    record.stop(now);
    Some(now)
}

/// The running thread has left Haskell, with `ret`. Returns the time, if its run time is measured.
/// # Safety
/// The thread is saved.
#[inline]
pub(super) unsafe fn on_leave(hec: &mut Hec, t: Tso, ret: usize) -> Option<u64> {
    t.obj().saved_errno = *libc::__errno_location() as u32;
    hec.r.current_tso = 0;
    hec.end_run(ret == ThreadBlocked || ret == ThreadFinished);
    if on(class::SCHEDULER | class::RUN_TIMES) {
        return on_stop(hec, t, ret);
    }
    None
}

/// Why the thread stopped, for the event log: the status, and the thread that it waits for (or 0).
unsafe fn why_stopped(hec: &Hec, ret: usize) -> (u16, u64) {
    // `wait` is valid only for a thread that has just set it; otherwise its object may have died.
    if ret != ThreadBlocked {
        return (ret as u16, 0);
    }
    let wait = hec.wait;
    let owner = match wait.why {
        BlockedOnBlackHole => owner_of(Closure(wait.on).untag()),
        _ => None,
    };
    (eventlog::status_of_block(wait.why), owner.map_or(0, |t| t.obj().id))
}

/// Brings a thread that has left with `ThreadBlocked` or `ThreadYielding` to rest: parks it or queues it.
/// # Safety
/// The thread is no longer current, and is on no queue.
#[inline]
pub(super) unsafe fn bring_to_rest(hec: &mut Hec, t: Tso, ret: usize) {
    let deferred = defer_modifications(hec, t);
    if ret == ThreadYielding {
        thread_paused(hec, t);
        if lenient::stop_before_effects(hec, t) {
            return;
        }
        if !priority::is_cpu_bound(t) {
            hec.run_queue.on_yield(&mut hec.remembered);
        }
        priority::end_burst(t);
        return requeue(hec, t, true);
    }
    // A thread that waits for a thunk counts as computing.
    if hec.wait.why != BlockedOnBlackHole {
        priority::on_block(t);
    }
    // If work was cut off or deferred, the thread repeats the operation when it runs again.
    lenient::note_blocking(hec, t);
    let continues = thread_paused(hec, t) || deferred || !park_thread::park(hec, t);
    if continues && !lenient::withdraw(hec, t, false) {
        hec.run_queue.push_front(&mut hec.remembered, t);
    }
}

/// Completes the eager modifications of a thread that has stopped ([`atomic_modify`]). Returns true if there are any.
/// # Safety
/// As for [`bring_to_rest`].
pub(super) unsafe fn defer_modifications(hec: &mut Hec, t: Tso) -> bool {
    // With one HEC no modification is evaluated before it is published.
    hec::many() && atomic_modify::defer_all(hec, t)
}

/// Queues a thread so that others run. An invalid transaction starts again. At the end of its time slice, a thread of a
/// user scheduler goes back to that.
/// # Safety
/// As for [`bring_to_rest`].
pub(super) unsafe fn requeue(hec: &mut Hec, t: Tso, at_slice_end: bool) {
    if !stm::validate(t) {
        let tvars = stm::touched_tvars(t);
        restart_transaction(hec, t);
        stm::record_loss(t, tvars);
    }
    if !(lenient::withdraw(hec, t, at_slice_end) || at_slice_end && upcall::preempt(hec, t)) {
        hec.run_queue.push_again(&mut hec.remembered, t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hec::GcRequest;
    use crate::sched::{init, Settings};
    use crate::sync::throwto::hec_throw_to;
    use crate::testing::symbols as t;
    use crate::testing::world::{World, STACKS};
    use crate::thread::park::hec_about_to_wait;
    use std::sync::atomic::Ordering;

    /// Makes a world in which the first of two threads runs and the other is queued.
    fn two() -> (World, Tso, Tso) {
        let mut w = World::new(2);
        let (a, b) = (w.thread(), w.thread());
        unsafe { w.hec.run_queue.push_back(&mut w.hec.remembered, b) };
        w.run(a);
        (w, a, b)
    }

    fn switches(w: &mut World, ret: usize) -> bool {
        unsafe { hec_switch(w.hec, ret) != 0 }
    }

    fn errno() -> &'static mut i32 {
        unsafe { &mut *libc::__errno_location() }
    }

    #[test]
    fn a_yield_switches_to_the_next_thread_and_its_errno() {
        let (mut w, a, b) = two();
        unsafe { b.obj().saved_errno = 2 };
        *errno() = 1;
        assert!(switches(&mut w, ThreadYielding));
        assert_eq!((w.hec.current(), *errno()), (b, 2));
        assert!(switches(&mut w, ThreadYielding));
        assert_eq!((w.hec.current(), *errno()), (a, 1));
        assert_eq!(w.runnable(), [b]);
    }

    #[test]
    fn a_blocked_thread_is_parked_and_the_next_runs() {
        let (mut w, a, b) = two();
        let m = w.mvar();
        unsafe {
            crate::thread::create::push(a.obj().stackobj, &[t::ret_p().0, m.0]);
            hec_about_to_wait(w.hec, BlockedOnMVar, m.0);
        }
        assert!(switches(&mut w, ThreadBlocked));
        assert_eq!(w.hec.current(), b);
        assert_eq!((w.hec.run_queue.len(), unsafe { a.obj().why_blocked } as usize), (0, BlockedOnMVar));
    }

    /// Checks that nothing happens to the thread: the scheduler's loop must act.
    fn refuses(prepare: impl FnOnce(&mut World, Tso, Tso)) {
        let (mut w, a, b) = two();
        prepare(&mut w, a, b);
        let waiting = w.hec.run_queue.len();
        assert!(!switches(&mut w, ThreadYielding));
        assert_eq!((w.hec.current(), w.hec.run_queue.len()), (a, waiting));
    }

    fn follows(prepare: impl FnOnce(&mut World, Tso, Tso)) {
        let (mut w, a, b) = two();
        prepare(&mut w, a, b);
        assert!(switches(&mut w, ThreadYielding));
        assert_eq!(w.hec.current(), b);
    }

    #[test]
    fn the_loop_runs_whenever_it_has_something_to_do() {
        refuses(|w, _, _| assert_eq!(w.runnable().len(), 1));
        refuses(|w, _, _| w.hec.context_switch.store(1, Ordering::Relaxed));
        refuses(|w, _, _| w.hec.request_gc(GcRequest::Minor));
        refuses(|w, _, _| w.hec.alloc.run_full = true);
        refuses(|w, _, _| w.hec.request_return());
        refuses(|w, a, _| w.hec.post_message(a.closure()));
        refuses(|_, _, b| unsafe { b.obj().what_next = ThreadComplete as u16 });
        refuses(|_, _, _| event_poll::set_signals(true));
    }

    #[test]
    fn a_bound_thread_keeps_its_native_stack_to_itself() {
        let threaded = || unsafe { init(Settings { stack: STACKS, threaded: true, ticks: true }) };
        refuses(|_, a, _| unsafe {
            threaded();
            a.obj().bound = 1;
        });
        refuses(|_, _, b| unsafe {
            threaded();
            b.obj().bound = 1;
        });
        follows(|_, _, _| threaded());
        // Where one OS thread runs all threads, bound ones may follow.
        follows(|_, a, b| unsafe { (a.obj().bound, b.obj().bound) = (1, 1) });
    }

    #[test]
    fn a_user_thread_whose_slice_has_been_ended_is_left_to_the_loop() {
        let (mut w, a, b) = two();
        w.hec.user_slot.preempt();
        assert!(!switches(&mut w, ThreadYielding));
        assert!(w.hec.current().is_null());
        assert_eq!(w.runnable(), [b, a]);
    }

    #[test]
    fn a_thread_that_an_exception_ends_as_it_blocks_is_left_to_the_loop() {
        let (mut w, thrower, target) = two();
        let (e, m, third) = (w.int(1000), w.mvar(), w.thread());
        unsafe {
            target.obj().flags = (TSO_BLOCKEX | TSO_INTERRUPTIBLE) as u32;
            crate::thread::create::push(target.obj().stackobj, &[t::ret_p().0, m.0]);
            crate::thread::create::push(thrower.obj().stackobj, &[t::ret_pp().0, target.0, e.0]);
            assert_eq!(hec_throw_to(w.hec, target, e), 1);
            assert!(switches(&mut w, ThreadBlocked));
            assert_eq!(w.hec.current(), target);
            w.hec.run_queue.push_back(&mut w.hec.remembered, third);
            hec_about_to_wait(w.hec, BlockedOnMVar, m.0);
            assert!(!switches(&mut w, ThreadBlocked));
            assert!(w.hec.current().is_null() && finished(target));
            assert_eq!(w.runnable(), [target, third, thrower]);
        }
    }
}
