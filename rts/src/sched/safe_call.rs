//! Safe foreign calls: a thread releases its HEC during the call and acquires one afterwards.
//!
//! *Protocol*
//! 1. Compiled code saves its state and calls `suspendThread`.
//! 2. It makes the call.
//! 3. It calls `resumeThread`, loads Sp from the thread's stack, and returns to the frame on top. So an exception that
//!    arrived during the call only needs to have unwound the stack.
//!
//! *Invariants*
//! - While a thread is in a call, its stack is complete, its black holes are claimed, and it is reachable from its
//!   task.
//! - The call may begin on one HEC and end on another, unless the thread stays on its HEC (`forkOn`, user slots).
//! - The call of a thread that runs on a fiber ends on the OS thread of a worker, to which the task gives the fiber.
use crate::abi::layout::*;
use crate::abi::tso::TSO_STAYS;
use crate::abi::{RegTable, Tso};
use crate::base::fatal::broken;
use crate::collector::roots::Visitor;
use crate::eval::lazy_blackholing::thread_paused;
use crate::hec::{run_order, Hec};
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::call_predictor::Call;
use crate::sched::fiber::Fiber;
use crate::sched::handoff::protocol::HandoffSlot as _;
use crate::sched::task::{ForeignCall, TaskRef, Wakeup};
use crate::sched::{handoff, hec, settings, task_table, time_slices};
use crate::sync::{throwto, upcall};
use crate::thread::park;
use crate::thread::stack::dirty_stack;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Releases the HEC for the duration of a foreign call.
/// # Safety
/// Called by compiled code with the thread's state saved.
#[no_mangle]
pub unsafe extern "C" fn suspendThread(reg: *mut RegTable, interruptible: bool) -> usize {
    let errno = *libc::__errno_location();
    let hec = Hec::of_reg(reg);
    let t = hec.current();
    let why = if interruptible { BlockedOnCCall_Interruptible } else { BlockedOnCCall };
    let me = task_table::current();
    park::block(hec, t, why, 0);
    thread_paused(hec, t);
    upcall::begin_call(hec, t);
    eventlog::thread_called_out(hec.no, t.obj().id);
    let fiber = me.fiber.get();
    let token = if fiber.is_null() {
        hec.r.current_tso = 0;
        me.call.set(Call::from(return_address(t)));
        let token = begin(me, hec, t, libc::pthread_self());
        handoff::leave(me);
        token
    } else {
        Fiber::leave(fiber);
        FIRST_TOKEN
    };
    restore_errno(errno);
    token
}

/// The address to which the code of `t`, which has just left Haskell, returns: its frame on top.
unsafe fn return_address(t: Tso) -> usize {
    *(t.obj().stackobj.obj().sp as *const usize)
}

/// The token of a call that is the only one of its OS thread.
const FIRST_TOKEN: usize = 1;

/// Records that the task, which is the caller or idle, begins a foreign call of `t`, which ran on `hec`.
unsafe fn begin(me: TaskRef, hec: &Hec, t: Tso, os_thread: libc::pthread_t) -> usize {
    let interruptible = t.obj().why_blocked as usize == BlockedOnCCall_Interruptible;
    let stays = t.obj().flags & TSO_STAYS != 0;
    let home = stays.then_some(hec.no as usize);
    me.home.set(home);
    if run_order::is_random() {
        IN_PROGRESS.fetch_add(1, Ordering::Relaxed);
    }
    me.calls.with(|calls| {
        calls.push(ForeignCall { tso: t, os_thread, interruptible, home });
        calls.len()
    })
}

/// Not inlined, because the OS thread may differ from the one at the beginning of the caller.
#[inline(never)]
unsafe fn restore_errno(errno: i32) {
    *libc::__errno_location() = errno;
}

/// Gives the foreign call for which the current thread has left the fiber to a worker.
/// # Safety
/// The caller holds the HEC, and has just run the thread on the fiber.
pub(super) unsafe fn give_to_worker(hec: &mut Hec, fiber: Fiber) {
    let t = hec.current();
    hec.r.current_tso = 0;
    let worker = handoff::slot(hec.no as usize).spare_worker();
    begin(worker, hec, t, worker.os_thread());
    worker.unpark(Wakeup::Call(fiber));
}

/// Returns from a foreign call.
/// # Safety
/// `token` is what the matching [`suspendThread`] returned on this OS thread.
#[no_mangle]
pub unsafe extern "C" fn resumeThread(token: usize) -> *mut RegTable {
    let errno = *libc::__errno_location();
    let me = task_table::current();
    me.call.replace(Call::NONE).finish();
    // The thread must not be accessed yet, because a collection may be moving it.
    match me.home.get() {
        Some(no) => handoff::acquire_home(me, no),
        None => handoff::acquire(me),
    }
    let hec = hec();
    if !settings().threaded {
        time_slices::on_call_return();
    }
    let t = pop_call(me, token);
    park::resume_from_call(hec, t);
    upcall::end_call(hec, t);
    throwto::deliver_after_call(hec, t);
    hec.r.current_tso = t.0;
    eventlog::thread_run(hec.no, t.obj().id);
    dirty_stack(hec, t.obj().stackobj);
    hec.r.hp_alloc = 0;
    // A collection may have replaced the nursery.
    let interrupted = hec.r.hp_lim == 0;
    hec.open_nursery();
    if settings().threaded && handoff::has_returning(hec.no as usize) {
        hec.context_switch.store(1, Ordering::Relaxed);
        if interrupted {
            hec.interrupt();
        }
    }
    hec.alloc.publish_limit(hec.r.hp_lim == 0);
    *libc::__errno_location() = errno;
    &mut hec.r
}

/// The thread of the task's innermost call, which has ended. The task holds a HEC.
unsafe fn pop_call(me: TaskRef, token: usize) -> Tso {
    let (over, left) = me.calls.with(|calls| {
        let over = calls.pop();
        me.home.set(calls.last().and_then(|call| call.home));
        (over, calls.len())
    });
    if run_order::is_random() {
        IN_PROGRESS.fetch_sub(1, Ordering::Relaxed);
    }
    match over {
        Some(call) if left + 1 == token => call.tso,
        _ => broken("foreign calls return in another order than they were made"),
    }
}

/// Interrupts the foreign call of `t`, if it is interruptible, by a signal that makes its system call return early.
/// # Safety
/// The caller holds a HEC.
pub unsafe fn interrupt_call(_hec: &mut Hec, t: Tso) {
    task_table::for_each(|task| {
        task.calls.with(|calls| {
            for call in calls.iter().filter(|call| call.tso == t && call.interruptible) {
                libc::pthread_kill(call.os_thread, libc::SIGVTALRM);
            }
        });
    });
}

/// The number of foreign calls in progress, which is counted under a random run order only.
static IN_PROGRESS: AtomicUsize = AtomicUsize::new(0);

/// Is any thread in a foreign call? Under a random run order.
pub fn any_in_progress() -> bool {
    IN_PROGRESS.load(Ordering::Relaxed) != 0
}

/// In the child of a fork: the calls of the parent's threads do not exist there.
pub fn after_fork() {
    IN_PROGRESS.store(0, Ordering::Relaxed);
}

/// Visits the threads in foreign calls, which are alive.
pub fn roots(visit: &mut Visitor) {
    let mut visit_calls = |calls: &mut Vec<ForeignCall>| {
        for call in calls {
            let mut c = call.tso.closure();
            visit(&mut c);
            call.tso = Tso(c.0);
        }
    };
    // SAFETY: the world is stopped.
    task_table::for_each(|task| unsafe { task.calls.with(&mut visit_calls) });
}
