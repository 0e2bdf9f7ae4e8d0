//! The scheduler's loop: pick a thread, run it, look why it came back.
//!
//! A task in an in-call runs this until the call's thread is done; a worker, until there is
//! nothing to do. In the threaded way a bound thread runs on its own OS thread only; otherwise one
//! OS thread runs everything.
use super::fiber::Fiber;
use super::task::{TaskRef, Wakeup};
use super::{hec, settings, spark};
use crate::abi::layout::*;
use crate::abi::Tso;
use crate::eval::blackhole;
use crate::eval::lazy_blackholing::{has_squeezable_frames, thread_paused};
use crate::eval::raise_async::raise_async;
use crate::hec::priority;
use crate::hec::{self, GcRequest, Handed, Hec, POLL_EVENTS, SLICE_ENDED};
use crate::sched::handoff::protocol::Task as _;
use crate::sched::in_call;
use crate::sched::in_call::{InCall, Status};
use crate::sched::{balance, context_switch, event_poll, gc, handoff, interrupt, safe_call, stg_run};
use crate::sync::{stm, throwto, throwto_protocol};
use crate::thread::stack::{grow, Grown};
use crate::thread::{park, stack_cache};
use crate::{info, static_closure};
use std::ptr::null_mut;

/// Runs threads until the in-call is done (or for ever, for a worker).
/// # Safety
/// `me` is the calling OS thread and holds a HEC, at entry and, unless it is a worker that has been
/// told to end, at exit; not always the same one.
pub unsafe fn schedule(me: TaskRef, ic: Option<*mut InCall>) {
    let threaded = settings().threaded;
    // Once for each thread run: whoever has the HEC back may use it.
    let mut made_way = false;
    loop {
        if hec::many() {
            if let Some(t) = hec().continuing.take() {
                run_thread(me, ic, hec(), t, false);
                continue;
            }
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
        let hec = hec();
        if hec::many() && attend(me, hec) {
            continue;
        }
        if let Some(request) = gc::due(hec) {
            gc::collect(me, request, false);
            continue;
        }
        if threaded {
            if handoff::has_returning(hec.no as usize) && !made_way {
                made_way = true;
                if !step_aside(me, ic) {
                    return;
                }
                continue;
            }
            made_way = false;
        }
        // A time slice begins, or goes on.
        let asked = hec.take_request();
        let somebody_waits = !hec.run_queue.is_empty();
        let others_too = look_for_events(hec) && somebody_waits;
        let interrupted = std::mem::take(&mut hec.interrupted);
        // So it is for those that ran and blocked.
        if asked == SLICE_ENDED && interrupted == 0 {
            hec.run_queue.promote_batch(&mut hec.remembered);
        }
        match context_switch::choose(hec) {
            // It came to its end while the world was stopped for a collection, or the thread gives way to those just
            // woken.
            Some(t) if (asked == SLICE_ENDED || others_too) && t.obj().id == interrupted && !throwto::finished(t) => {
                if asked == SLICE_ENDED {
                    on_slice_end(hec, t);
                }
                context_switch::requeue(hec, t);
            }
            Some(t) if !threaded || handoff::runs_here(me, t) => {
                if interrupt::has_ended_threads() && !throwto::finished(t) {
                    interrupt::end_thread(hec, t);
                }
                if throwto::finished(t) {
                    retire(hec, t);
                } else {
                    run_thread(me, ic, hec, t, others_too);
                }
            }
            None if !threaded => wait_for_event(me, ic),
            Some(t) => {
                if let Some(there) = handoff::task_elsewhere(hec.no as usize, t) {
                    park::migrate(t, there);
                } else if !balance::give_away(hec, t) {
                    hec.run_queue.push_front(&mut hec.remembered, t);
                    if !step_aside(me, ic) {
                        return;
                    }
                }
            }
            // Nothing better to do: the sparks.
            None if spark::may_run(hec) && spark::any() && !interrupt::has_ended_threads() => spark::start_thread(hec),
            None => {
                if !step_aside(me, ic) {
                    return;
                }
            }
        }
    }
}

/// What other HECs want of this one. True if the caller may be on another HEC now, or has come to
/// new threads or requests.
unsafe fn attend(me: TaskRef, hec: &mut Hec) -> bool {
    if hec.take_return_request() && handoff::yield_to_stopper(me) {
        return true;
    }
    if hec.has_messages() {
        read_mail(hec);
    }
    if hec.no as usize >= hec::enabled() && !hec.run_queue.is_empty() {
        balance::leave(hec);
    }
    balance::share(hec);
    spark::share(hec);
    false
}

unsafe fn read_mail(hec: &mut Hec) {
    for message in hec.take_messages() {
        if message.info() == info!(stg_TSO_info) {
            hec.run_queue.push_back(&mut hec.remembered, Tso(message.0));
        } else if message.info() == info!(stg_MSG_BLACKHOLE_info) {
            blackhole::prioritise_message(hec, message);
        } else {
            throwto_protocol::process(hec, message);
        }
    }
}

/// There is nothing to do for this task: others may use the HEC until there is. False if a
/// worker should end.
unsafe fn step_aside(me: TaskRef, ic: Option<*mut InCall>) -> bool {
    if ic.is_some() {
        handoff::release_and_wait(me);
        return true;
    }
    handoff::join_idle(me) && wait_for_work(me)
}

/// A worker's wait: until it has a HEC. A foreign call that it is given is made first, and its
/// thread run on. False if it has no HEC and should end.
unsafe fn wait_for_work(me: TaskRef) -> bool {
    loop {
        match me.wait() {
            Wakeup::Hec(no) => me.on_acquire(no),
            Wakeup::Look(no) if handoff::look(me, no) => {}
            Wakeup::Look(_) => continue,
            Wakeup::Call(mut fiber) => {
                let reg = fiber.take_up();
                fiber.free();
                came_back(Hec::of_reg(reg));
            }
        }
        return true;
    }
}

/// A worker's life: it waits to be given something, and then runs threads.
/// # Safety
/// The calling OS thread is `me`, and holds no HEC.
pub unsafe fn worker_loop(me: TaskRef) {
    wait_for_work(me);
    schedule(me, None);
    if handoff::i_hold() {
        handoff::release(me);
    }
}

/// A thread has come to its end.
unsafe fn retire(hec: &mut Hec, t: Tso) {
    throwto::thread_finished(hec, t);
    if t.obj().bound != 0 {
        in_call::finish(t);
    } else {
        stack_cache::add(hec, t, settings().stack.first_chunk());
    }
}

/// Runs a thread until it stops: on the task's own native stack, or, if the task has come for another thread (is in an
/// in-call), on a fiber. `briefly`: others have just been woken by events, and need not wait for a time slice.
unsafe fn run_thread(me: TaskRef, ic: Option<*mut InCall>, hec: &mut Hec, t: Tso, briefly: bool) {
    context_switch::starts(hec, t);
    if briefly {
        hec.yield_soon(0);
    }
    if !settings().threaded || ic.is_none() || t.obj().bound != 0 {
        // A safe foreign call may have let others run in between, and come back to another HEC.
        let reg = stg_run::run_current(&mut hec.r);
        return came_back(Hec::of_reg(reg));
    }
    let mut fiber = me.spare.take().unwrap_or_else(Fiber::new);
    me.fiber.set(&mut fiber);
    let reg = fiber.run(&mut hec.r);
    me.fiber.set(null_mut());
    if reg.is_null() {
        return safe_call::hand_over(hec, fiber);
    }
    me.spare.set(Some(fiber));
    came_back(Hec::of_reg(reg))
}

/// A thread has returned to the scheduler: why?
unsafe fn came_back(hec: &mut Hec) {
    let (ret, t) = (hec.r.ret, hec.current());
    if t.is_null() {
        // It has been brought to rest already (`context_switch.rs`).
        return;
    }
    context_switch::leaves(hec, t, ret);
    match ret {
        HeapOverflow => heap_overflow(hec, t),
        StackOverflow => stack_overflow(hec, t),
        ThreadYielding | ThreadBlocked => context_switch::comes_to_rest(hec, t, ret),
        ThreadFinished => retire(hec, t),
        other => crate::base::fatal::broken(&format!("a thread returned with code {other}")),
    }
}

/// A heap check failed, and all that is wanted is another piece of the nursery: then the thread has not stopped, and
/// nobody else needs what it evaluates. (To claim that would mean a walk along its stack for each piece.) Whoever wants
/// something of the HEC after this look stops the thread at its next heap check.
unsafe fn goes_straight_on(hec: &mut Hec, t: Tso) -> bool {
    let nothing_else = hec::many()
        && settings().threaded
        && hec.alloc.spent
        && !hec.alloc.full
        && hec.gc_requested.is_none()
        && !hec.has_request()
        && !hec.balance_later
        && hec.handed != Handed::Next
        && !has_exceeded_limit(t)
        && !handoff::has_returning(hec.no as usize);
    nothing_else && gc::next_piece(hec)
}

unsafe fn has_exceeded_limit(t: Tso) -> bool {
    t.obj().flags as usize & TSO_ALLOC_LIMIT != 0 && t.obj().alloc_limit < 0
}

/// A heap check failed: the nursery is full, a collection is wanted, or it is others' turn.
unsafe fn heap_overflow(hec: &mut Hec, t: Tso) {
    let o = t.obj();
    hec.alloc.refuse(std::mem::take(&mut hec.r.hp_alloc));
    o.chunks_used = o.chunks_used.saturating_add(hec.alloc.spent as u16);
    if goes_straight_on(hec, t) {
        hec.continuing = Some(t);
        return;
    }
    context_switch::defer_modifications(hec, t);
    thread_paused(hec, t);
    if has_exceeded_limit(t) {
        allocation_limit(hec, t);
    }
    let asked = hec.take_request();
    if gives_way(hec, t, asked) {
        return context_switch::requeue(hec, t);
    }
    hec.interrupted = o.id;
    put_back(hec, t);
}

unsafe fn on_slice_end(hec: &mut Hec, t: Tso) {
    if !priority::is_cpu_bound(t) {
        hec.run_queue.promote_batch(&mut hec.remembered);
    }
    priority::on_slice_end(t, hec.run_queue.len(), blackhole::is_awaited(t) || stm::has_commit_priority(t));
}

/// A thread that has stopped has been `asked` something: does it give way to others? Those whose events have come go on
/// the queue before it.
/// # Safety
/// It is at rest ([`thread_paused`]).
unsafe fn gives_way(hec: &mut Hec, t: Tso, asked: u32) -> bool {
    if asked == SLICE_ENDED {
        on_slice_end(hec, t);
    }
    let woken = asked != 0 && look_for_events(hec);
    asked != 0 && (woken || asked != POLL_EVENTS)
}

/// In the non-threaded way: wakes threads whose events have come, and starts handlers of signals. True if there are
/// any.
unsafe fn look_for_events(hec: &mut Hec) -> bool {
    let waiting = hec.run_queue.len();
    !settings().threaded && event_poll::expected() && event_poll::see_to(hec, false) && hec.run_queue.len() > waiting
}

/// To the front of the queue, but behind a thread that has been handed an MVar.
unsafe fn put_back(hec: &mut Hec, t: Tso) {
    let first = if hec.handed == Handed::Next { hec.run_queue.pop_front() } else { None };
    hec.run_queue.push_front(&mut hec.remembered, t);
    if let Some(first) = first {
        hec.run_queue.push_front(&mut hec.remembered, first);
    }
}

/// The thread has used up what it may allocate: it gets the exception, and some more to
/// handle it.
unsafe fn allocation_limit(hec: &mut Hec, t: Tso) {
    let o = t.obj();
    o.alloc_limit = crate::sched::gc::alloc_limit_grace() as i64;
    let e = static_closure!(base_GHCziIOziException_allocationLimitExceeded_closure);
    throwto::throw_from_outside(hec, t, e);
}

/// A stack check failed. (Code compiled to yield in loops that do not allocate comes the same
/// way when HpLim is zero; a real overflow comes again.)
unsafe fn stack_overflow(hec: &mut Hec, t: Tso) {
    context_switch::defer_modifications(hec, t);
    let asked = hec.take_request();
    if asked != 0 || has_squeezable_frames(t) {
        thread_paused(hec, t);
    }
    if gives_way(hec, t, asked) {
        return context_switch::requeue(hec, t);
    }
    let masked = t.obj().flags as usize & TSO_BLOCKEX != 0;
    let sizes = settings().stack;
    if grow(hec, t, &sizes, masked) == Grown::Limit {
        if t.obj().bound != 0 {
            gc::note_stack_overflow(t);
        }
        let e = static_closure!(base_GHCziIOziException_stackOverflow_closure);
        raise_async(hec, t, Some(e));
    }
    put_back(hec, t);
}

/// Nothing is runnable and there is one OS thread: wait for a signal, a delay or a
/// descriptor, and if none can come, look for deadlock.
unsafe fn wait_for_event(me: TaskRef, ic: Option<*mut InCall>) {
    if event_poll::see_to(hec(), true) {
        // What a tick asked meanwhile was meant for nobody.
        hec().take_request();
        return;
    }
    gc::collect(me, GcRequest::Major, true);
    let hec = hec();
    if !hec.run_queue.is_empty() {
        return;
    }
    if let Some(t) = ic.and_then(|c| in_call::bound_thread_of(c)) {
        // Blocked on something that is still reachable: nobody will ever wake it.
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
        BlockedOnMVar | BlockedOnMVarRead => {
            static_closure!(base_GHCziIOziException_blockedIndefinitelyOnMVar_closure)
        }
        BlockedOnSTM => static_closure!(base_GHCziIOziException_blockedIndefinitelyOnSTM_closure),
        _ => return false,
    };
    raise_async(hec, t, Some(e));
    true
}
