//! The scheduler's loop: pick a thread, run it, and handle the reason for which it returned.
//!
//! A task in an in-call runs the loop until the call's thread has finished. A worker runs it until there is nothing to
//! do. In the threaded way a bound thread runs only on its own OS thread; otherwise one OS thread runs all threads.
//!
//! *Checked by*: the unit tests in `rts/src/sched/tests.rs`.
use super::fiber::Fiber;
use super::task::{TaskRef, Wakeup};
use super::{hec, settings, spark};
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnScheduler, TSO_SLOT, TSO_UPCALL, TSO_USER};
use crate::abi::{Closure, Tso};
use crate::eval::lazy_blackholing::{has_squeezable_frames, thread_paused};
use crate::eval::raise_async::raise_async;
use crate::eval::{blackhole, wait_for_thunk};
use crate::hec::priority;
use crate::hec::run_order;
use crate::hec::{self, GcRequest, Handed, Hec, POLL_EVENTS, SLICE_ENDED};
use crate::sched::bound_threads::bound_thread_of;
use crate::sched::handoff::protocol::Task as _;
use crate::sched::task::{InCall, Status};
use crate::sched::{
    balance, context_switch, eject, event_poll, gc, handoff, interrupt, lenient, packets, safe_call, starvation,
    stg_run,
};
use crate::sync::{stm, substrate, throwto, throwto_protocol, upcall};
use crate::thread::stack::{grow, Grown};
use crate::thread::{park, stack_cache};
use crate::{info, static_closure};
use std::ptr::null_mut;

/// Runs threads until the in-call has finished, or for a worker until it should end.
/// # Safety
/// `me` is the task of the calling OS thread and holds a HEC, at entry and at exit, though not always the same. A
/// worker that was told to end holds none at exit.
pub unsafe fn schedule(me: TaskRef, ic: Option<*mut InCall>) {
    let threaded = settings().threaded;
    // A task yields once before each thread that it runs: then it may use the HEC that it has got back.
    let mut yielded = false;
    loop {
        if let Some(t) = hec().continuing.take() {
            run_thread(me, ic, hec(), t, false);
            continue;
        }
        if ic.is_some_and(|c| (*c).status != Status::NotFinished) {
            return;
        }
        if handoff::stopping() && ic.is_none() {
            return;
        }
        if interrupt::is_requested() {
            interrupt::end_threads(me);
            continue;
        }
        if let Some(fault) = hec().fault.take() {
            eject::eject(me, fault);
            continue;
        }
        let hec = hec();
        if hec::receives_messages() && handle_requests(me, hec) {
            continue;
        }
        if let Some(request) = gc::due(hec) {
            gc::collect(me, request, false);
            continue;
        }
        if threaded {
            if handoff::has_returning(hec.no as usize) && !yielded {
                yielded = true;
                if !release_until_work(me, ic) {
                    return;
                }
                continue;
            }
            yielded = false;
        }
        // A time slice begins, or continues.
        if (hec.request() == SLICE_ENDED || !hec.has_runnable()) && starvation::check(me) {
            continue;
        }
        let asked = hec.take_request();
        let had_threads = hec.has_runnable();
        let rests = threaded && !had_threads;
        let woken = (rests || asked != 0 || event_poll::is_due(hec)) && poll_events(hec, rests && !spark::any());
        let woken = woken && had_threads;
        let interrupted = std::mem::take(&mut hec.interrupted);
        // The slice was used up by threads that have blocked since.
        if asked == SLICE_ENDED && interrupted == 0 {
            hec.run_queue.end_slice(&mut hec.remembered, true);
        }
        if hec.user_slot.is_overdue() {
            upcall::take_from_call(hec);
        }
        if !hec.to_enqueue.is_empty() {
            upcall::start_enqueues(hec);
        }
        match context_switch::pop_next(hec) {
            // The thread ended while the world was stopped for a collection, or it yields to threads that have just
            // been woken.
            Some(t)
                if (asked == SLICE_ENDED || woken)
                    && t.obj().id == interrupted
                    && !throwto::finished(t)
                    && !substrate::holds_off(hec, t, asked) =>
            {
                if asked == SLICE_ENDED {
                    on_slice_end(hec, t);
                }
                context_switch::requeue(hec, t, asked == SLICE_ENDED);
            }
            Some(t) if !throwto::finished(t) && upcall::is_preempted(hec, t) => {
                context_switch::requeue(hec, t, true);
            }
            Some(t) if !threaded || handoff::may_run(me, t) && !is_for_worker(ic, t) => {
                if interrupt::has_ended_threads() && !throwto::finished(t) {
                    interrupt::end_thread(hec, t);
                }
                if throwto::finished(t) {
                    on_finished(hec, t);
                } else {
                    run_thread(me, ic, hec, t, woken);
                }
            }
            None if !threaded => wait_for_event(me, ic),
            Some(t) => {
                let in_slot = t.obj().flags & TSO_SLOT != 0;
                if let Some(there) = handoff::task_elsewhere(hec.no as usize, t).filter(|_| !in_slot) {
                    park::migrate(t, there);
                } else if in_slot || !balance::give_to_idle(hec, t) {
                    hec.run_queue.push_front(&mut hec.remembered, t);
                    if !release_until_work(me, ic) {
                        return;
                    }
                }
            }
            // No thread is runnable: run what was placed here, then sparks.
            None if hec.is_enabled() && !interrupt::has_ended_threads() && packets::begin_placed(hec) => {}
            None if hec.is_enabled() && spark::any() && !interrupt::has_ended_threads() => spark::start_thread(hec),
            None => {
                // Here, where no thread of the HEC is between two chunks of its nursery.
                if lenient::must_look_for_deadlock() {
                    if !gc::collect(me, GcRequest::Major, true) {
                        lenient::look_for_deadlock_again();
                    }
                    continue;
                }
                if let Some(t) = lenient::take(hec).filter(|_| !interrupt::has_ended_threads()) {
                    run_thread(me, ic, hec, t, false);
                    continue;
                }
                packets::nothing_to_run();
                handoff::watch_events(me, ic.is_none());
                if !release_until_work(me, ic) {
                    return;
                }
            }
        }
    }
}

/// Must a worker run the thread, not this task? Under a random run order a task runs only the thread of its in-call. It
/// would run others on a fiber, and give their foreign calls away. Meanwhile it would run a third thread. With several
/// HECs this also holds if a user scheduler decides when that thread runs: it may choose it on any HEC, and the task
/// must come there.
unsafe fn is_for_worker(ic: Option<*mut InCall>, t: Tso) -> bool {
    ic.is_some_and(|ic| run_order::is_random() || (*ic).is_user && hec::many()) && t.obj().bound == 0
}

/// Handles requests of other HECs. Returns true if the loop must start again, because the caller may now hold another
/// HEC.
unsafe fn handle_requests(me: TaskRef, hec: &mut Hec) -> bool {
    if hec.take_return_request() && handoff::yield_to_stopper(me) {
        return true;
    }
    if hec.has_messages() {
        read_messages(hec);
    }
    if hec.no as usize >= hec::enabled() && !hec.run_queue.is_empty() {
        balance::move_all(hec);
    }
    balance::distribute(hec);
    spark::wake_idle_hecs(hec);
    lenient::wake_idle_hecs(hec);
    false
}

unsafe fn read_messages(hec: &mut Hec) {
    for message in hec.take_messages() {
        if message.info() == info!(stg_TSO_info) {
            let t = Tso(message.0);
            if park::needs_enqueue(t) {
                // `forkOn` has made it for this HEC.
                upcall::owe(hec, t);
            } else {
                hec.run_queue.push_back(&mut hec.remembered, t);
            }
        } else if message.0 == static_closure!(hec_PACKETS_closure).0 {
            packets::handle(hec);
        } else if message.info() == info!(stg_MSG_BLACKHOLE_info) {
            wait_for_thunk::prioritise_message(hec, message);
        } else {
            throwto_protocol::process(hec, message);
        }
    }
}

/// This task has nothing to do: releases the HEC until it has. Returns false if a worker should end.
unsafe fn release_until_work(me: TaskRef, ic: Option<*mut InCall>) -> bool {
    if ic.is_some() {
        handoff::release_and_wait(me);
        return true;
    }
    if !handoff::join_idle(me) {
        me.end_watch(None);
        return false;
    }
    let continues = wait_for_work(me);
    handoff::leave_idle();
    continues
}

/// Waits, as a worker, until it holds a HEC. If it is given a foreign call, it makes the call first and continues the
/// thread. Returns true when it holds a HEC.
unsafe fn wait_for_work(me: TaskRef) -> bool {
    loop {
        match me.wait() {
            Wakeup::Hec(no) => me.on_acquire(no),
            Wakeup::Check(no) if handoff::check(me, no) => {}
            Wakeup::Check(_) => continue,
            Wakeup::Call(mut fiber) => {
                let reg = fiber.take_up();
                fiber.free();
                on_return(Hec::of_reg(reg));
            }
        }
        return true;
    }
}

/// The life of a worker: it waits for a HEC or a call, and then runs threads.
/// # Safety
/// The calling OS thread is that of `me`, and holds no HEC.
pub unsafe fn worker_loop(me: TaskRef) {
    wait_for_work(me);
    schedule(me, None);
    if handoff::holds_hec() {
        handoff::release(me);
    }
}

/// A thread has finished.
unsafe fn on_finished(hec: &mut Hec, t: Tso) {
    lenient::note_blocking(hec, t);
    throwto::thread_finished(hec, t);
    if t.obj().bound != 0 {
        finish(t);
    } else if t.obj().flags & TSO_UPCALL == 0 || !upcall::keep(hec, t) {
        stack_cache::add(hec, t, settings().stack.first_chunk());
    }
}

/// Gives the in-call of a finished bound thread its result.
/// # Safety
/// `t` has finished and is bound.
unsafe fn finish(t: Tso) {
    let o = t.obj();
    let ic = &mut *(o.bound as *mut InCall);
    o.bound = 0;
    // The result is above the one frame that is left.
    let sp = o.stackobj.obj().sp as *const usize;
    ic.result = Closure(*sp.add(1));
    ic.status = match o.what_next as usize {
        ThreadComplete => Status::Success,
        _ if gc::heap_exhausted() => Status::HeapExhausted,
        _ if interrupt::has_ended_threads() || handoff::stopping() => Status::Interrupted,
        _ => Status::Killed,
    };
}

/// Runs a thread until it stops. If the task is in an in-call and this is not its bound thread, it runs on a fiber,
/// otherwise on the task's own native stack. `briefly`: events have just woken other threads, which should not wait for
/// a time slice.
unsafe fn run_thread(me: TaskRef, ic: Option<*mut InCall>, hec: &mut Hec, t: Tso, briefly: bool) {
    context_switch::start(hec, t);
    if briefly {
        hec.yield_soon(0);
    }
    if !settings().threaded || ic.is_none() || t.obj().bound != 0 {
        // A safe foreign call may have released the HEC in between, and acquired another one.
        let reg = stg_run::run_current(&mut hec.r);
        let hec = Hec::of_reg(reg);
        if let Some(ic) = ic.filter(|_| settings().threaded && !hec.current().is_null()) {
            (*ic).is_user = hec.current().obj().flags & TSO_USER != 0;
        }
        return on_return(hec);
    }
    let mut fiber = me.spare.take().unwrap_or_else(Fiber::new);
    me.fiber.set(&mut fiber);
    let reg = fiber.run(&mut hec.r);
    me.fiber.set(null_mut());
    if reg.is_null() {
        return safe_call::give_to_worker(hec, fiber);
    }
    me.spare.set(Some(fiber));
    on_return(Hec::of_reg(reg))
}

/// A thread has returned to the scheduler: acts on the reason.
unsafe fn on_return(hec: &mut Hec) {
    let (ret, t) = (hec.r.ret, hec.current());
    if t.is_null() {
        // It has been brought to rest already ([`context_switch`]).
        return;
    }
    context_switch::on_leave(hec, t, ret);
    match ret {
        HeapOverflow => on_heap_overflow(hec, t),
        StackOverflow => on_stack_overflow(hec, t),
        ThreadYielding | ThreadBlocked => context_switch::bring_to_rest(hec, t, ret),
        ThreadFinished => on_finished(hec, t),
        other => crate::base::fatal::broken(&format!("a thread returned with code {other}")),
    }
}

/// A heap check failed. If the thread only needs the next nursery chunk, it has not stopped, and no other thread needs
/// the thunks that it evaluates. (Claiming those would mean a walk along its stack for each chunk.) A request to the
/// HEC that comes after this check stops the thread at its next heap check.
unsafe fn can_continue(hec: &mut Hec, t: Tso) -> bool {
    hec::many() && hec.alloc.run_full && is_for_itself(hec, t) && gc::next_chunk(hec)
}

/// Is there no other reason for the thread to stop than its own need of memory?
unsafe fn is_for_itself(hec: &Hec, t: Tso) -> bool {
    settings().threaded
        && !hec.alloc.wants_gc
        && hec.gc_requested.is_none()
        && !hec.has_request()
        && !hec.balance_later
        && hec.to_enqueue.is_empty()
        && hec.handed != Handed::Next
        && !hec.byte_budget.is_limited()
        && !has_exceeded_limit(t)
        && !handoff::has_returning(hec.no as usize)
}

unsafe fn has_exceeded_limit(t: Tso) -> bool {
    t.obj().flags as usize & TSO_ALLOC_LIMIT != 0 && t.obj().alloc_limit < 0
}

/// A heap check failed: the nursery is full, a collection is requested, or the thread must yield.
unsafe fn on_heap_overflow(hec: &mut Hec, t: Tso) {
    let o = t.obj();
    let wanted = std::mem::take(&mut hec.r.hp_alloc);
    hec.alloc.note_refusal(wanted);
    o.chunks_used = o.chunks_used.saturating_add(hec.alloc.run_full as u16);
    if can_continue(hec, t) {
        hec.continuing = Some(t);
        return;
    }
    context_switch::defer_modifications(hec, t);
    thread_paused(hec, t);
    if has_exceeded_limit(t) {
        on_allocation_limit(hec, t);
    }
    let asked = hec.take_request();
    if must_yield(hec, t, asked) {
        return context_switch::requeue(hec, t, asked == SLICE_ENDED);
    }
    if hec.ends_budget(wanted) && !substrate::holds_off(hec, t, SLICE_ENDED) {
        hec.run_queue.end_slice(&mut hec.remembered, false);
        return context_switch::requeue(hec, t, true);
    }
    hec.interrupted = o.id;
    put_back(hec, t);
}

unsafe fn on_slice_end(hec: &mut Hec, t: Tso) {
    let is_user = t.obj().flags & TSO_USER != 0;
    hec.run_queue.end_slice(&mut hec.remembered, is_user || !priority::is_cpu_bound(t));
    if is_user {
        // Its scheduler knows its priority.
        return;
    }
    priority::on_slice_end(t, hec.run_queue.len(), blackhole::is_awaited(t) || stm::has_commit_priority(t));
}

/// Handles the request `asked` to a thread that has stopped. Returns true if the thread yields to others. Threads whose
/// events have come are queued before it. A thread in the transaction of a `switch` does not yield.
/// # Safety
/// The thread is at rest ([`thread_paused`]).
unsafe fn must_yield(hec: &mut Hec, t: Tso, asked: u32) -> bool {
    if asked != 0 && substrate::holds_off(hec, t, asked) {
        return false;
    }
    if asked == SLICE_ENDED {
        on_slice_end(hec, t);
    }
    let woken = asked != 0 && poll_events(hec, false);
    asked != 0 && (woken || asked != POLL_EVENTS)
}

/// Wakes threads whose events have come, and starts handlers of signals. Returns true if there are any. If `idle`,
/// nothing else can run.
unsafe fn poll_events(hec: &mut Hec, idle: bool) -> bool {
    let waiting = hec.runnable();
    event_poll::is_expected(hec.no as usize) && event_poll::poll(hec, idle) && hec.runnable() > waiting
}

/// Puts a thread at the front of the queue, but behind a thread that has received an MVar.
unsafe fn put_back(hec: &mut Hec, t: Tso) {
    if lenient::withdraw(hec, t, false) {
        return;
    }
    let first = if hec.handed == Handed::Next { hec.run_queue.pop_front() } else { None };
    hec.run_queue.push_front(&mut hec.remembered, t);
    if let Some(first) = first {
        hec.run_queue.push_front(&mut hec.remembered, first);
    }
}

/// The thread has exceeded its allocation limit: it gets an exception, and an allowance to handle it.
unsafe fn on_allocation_limit(hec: &mut Hec, t: Tso) {
    let o = t.obj();
    o.alloc_limit = crate::sched::gc::alloc_limit_grace() as i64;
    let e = static_closure!(base_GHCziIOziException_allocationLimitExceeded_closure);
    throwto::throw_from_outside(hec, t, e);
}

/// A stack check failed. Code compiled to yield in loops that do not allocate also comes here when HpLim is zero; a
/// real overflow then fails again.
///
/// If the stack only grows, the thread goes on at once, and claims nothing: most frames of a deep recursion are gone
/// before it stops. Otherwise it claims. A collection in between would not know the thunks that compiled code has
/// claimed with `-feager-blackholing`: they are remembered when the thread stops.
unsafe fn on_stack_overflow(hec: &mut Hec, t: Tso) {
    context_switch::defer_modifications(hec, t);
    let asked = hec.take_request();
    if asked != 0 || has_squeezable_frames(t) {
        thread_paused(hec, t);
    }
    if must_yield(hec, t, asked) {
        return context_switch::requeue(hec, t, asked == SLICE_ENDED);
    }
    let masked = t.obj().flags as usize & TSO_BLOCKEX != 0;
    let sizes = settings().stack;
    if grow(hec, t, &sizes, masked) == Grown::Limit {
        if t.obj().bound != 0 {
            gc::note_stack_overflow(t);
        }
        let e = static_closure!(base_GHCziIOziException_stackOverflow_closure);
        raise_async(hec, t, Some(e));
        return put_back(hec, t);
    }
    if is_for_itself(hec, t) {
        hec.continuing = Some(t);
        return;
    }
    thread_paused(hec, t);
    put_back(hec, t);
}

/// No thread is runnable, and there is one OS thread: waits for a signal, a delay or a descriptor. If none can come, a
/// collection looks for deadlock.
unsafe fn wait_for_event(me: TaskRef, ic: Option<*mut InCall>) {
    if event_poll::poll(hec(), true) {
        // A request that a tick made meanwhile was for no thread.
        hec().take_request();
        return;
    }
    gc::collect(me, GcRequest::Major, true);
    let hec = hec();
    if hec.has_runnable() {
        return;
    }
    if let Some(t) = ic.and_then(|c| bound_thread_of(c)) {
        // Blocked on something that is still reachable, but no thread can wake it.
        if !raise_deadlock(hec, t) {
            crate::base::fatal::exit_with(1, "every thread is blocked, and nothing can wake one");
        }
    }
}

unsafe fn raise_deadlock(hec: &mut Hec, t: Tso) -> bool {
    let e = match t.obj().why_blocked as usize {
        BlockedOnBlackHole | BlockedOnMsgThrowTo => {
            static_closure!(base_ControlziExceptionziBase_nonTermination_closure)
        }
        BlockedOnMVar | BlockedOnMVarRead | BlockedOnScheduler => {
            static_closure!(base_GHCziIOziException_blockedIndefinitelyOnMVar_closure)
        }
        BlockedOnSTM => static_closure!(base_GHCziIOziException_blockedIndefinitelyOnSTM_closure),
        _ => return false,
    };
    raise_async(hec, t, Some(e));
    true
}
