//! `forkProcess`: a child process with only the forking Haskell thread.
//!
//! *Protocol*
//!
//! 1. The forking task stops the world. It takes the locks of what foreign code may use without a HEC (callbacks,
//!    stable pointers). So the child finds all of these in a consistent state.
//! 2. In the child, locks that other OS threads may have held are replaced (`sched/handoff/after_fork.rs`). All other
//!    OS threads are gone.
//! 3. The child deletes all other Haskell threads before it restarts the world.
//! 4. The child runs the given action as its main, and exits.
//!
//! The child's main is like a program's main. `base` installs the handler for SIGINT in its thread, reports its
//! exceptions, and ends the process by them. Signals that come before that are held (`events/held_signals.rs`). The
//! child has its own statistics and event log.
use crate::abi::layout::*;
use crate::abi::rts_flags::flags;
use crate::abi::Tso;
use crate::api::spread;
use crate::eval::raise_async::raise_async;
use crate::events::{event_loop, file_ring, io_manager, selection, shared_watcher, signals, ticker};
use crate::observe::{eventlog, stats};
use crate::prims::{adjustor, stable_ptr};
use crate::sched::task::TaskRef;
use crate::sched::{
    bound_threads, event_poll, gc, handoff, hec, interrupt, lenient, safe_call, settings, spark, stop_world, task_table,
};
use crate::sync::throwto::finished;
use crate::thread::park;

/// # Safety
/// Called by a safe foreign call from the `unix` library; `entry` is a stable pointer to `IO ()`.
#[no_mangle]
pub unsafe extern "C" fn forkProcess(entry: usize) -> libc::pid_t {
    if spread::has_others() {
        // The child would be a second PE of this number. `unix` raises an exception.
        *libc::__errno_location() = libc::ENOTSUP;
        return -1;
    }
    let me = task_table::current();
    handoff::acquire(me);
    // What C has buffered must not be written by both processes.
    libc::fflush(std::ptr::null_mut());
    ticker::pause(true);
    while !stop_world::stop(me) {}
    let fork = || stable_ptr::with_locked(|| libc::fork());
    let fork = || adjustor::with_locked(fork);
    let fork = || stats::with_locked(fork);
    let fork = || signals::fork_with_signals_blocked(fork);
    let pid = eventlog::with_locked(fork);
    if pid != 0 {
        ticker::pause(false);
        stop_world::resume(me);
        handoff::release(me);
        return pid;
    }
    run_child(me, entry)
}

unsafe fn run_child(me: TaskRef, entry: usize) -> ! {
    handoff::after_fork(me);
    // First of all: what follows must not change the parent's pollers.
    event_loop::after_fork();
    shared_watcher::after_fork();
    event_poll::after_fork();
    eventlog::after_fork();
    let hec = hec();
    let all: Vec<Tso> = bound_threads::every_thread().collect();
    for t in all {
        let o = t.obj();
        o.bound = 0;
        if finished(t) {
            continue;
        }
        if matches!(o.why_blocked as usize, BlockedOnCCall | BlockedOnCCall_Interruptible) {
            park::resume_from_call(hec, t);
        }
        // No handler runs: the threads never were in this process. Their evaluations are frozen, because the child may
        // need the values.
        raise_async(hec, t, None);
    }
    for h in stop_world::hecs() {
        while h.run_queue.pop_front().is_some() {}
        h.to_enqueue.clear();
        h.idle_upcalls.clear();
        h.in_call = Tso::NULL;
        h.user_slot.leave();
        h.take_messages();
        spark::clear(h);
        lenient::clear(h);
    }
    stop_world::resume(me);
    crate::api::admission::after_fork();
    bound_threads::after_fork();
    interrupt::after_fork();
    safe_call::after_fork();
    io_manager::after_fork();
    file_ring::after_fork();
    stats::after_fork(gc::allocated());
    stats::write_command_line(&flags());
    crate::collector::policy::gc_threads::after_fork();
    crate::sync::stm::after_fork();
    crate::memory::prefault::after_fork();
    ticker::restart();
    if selection::uses_base() {
        io_manager::start(me);
    } else if settings().threaded {
        shared_watcher::make_pollers();
        io_manager::start_after_fork(me);
    }
    let mut result = 0usize;
    let mut cap: *mut crate::hec::Hec = hec;
    crate::api::rts_api::rts_evalStableIOMain(&mut cap, entry, &mut result);
    let site = c"forkProcess";
    crate::api::rts_api::rts_checkSchedStatus(site.as_ptr(), cap);
    handoff::release(me);
    crate::api::shutdown::shutdownHaskellAndExit(0, 0)
}

/// Starts an OS thread that runs the action behind a stable pointer. This is for `forkOS`, which frees the pointer as
/// soon as the action has begun.
/// # Safety
/// `entry` is a stable pointer.
#[no_mangle]
pub unsafe extern "C" fn forkOS_createThread(entry: usize) -> i32 {
    extern "C" fn body(entry: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: a new OS thread, outside Haskell.
        unsafe {
            // The runtime may have ended in the meantime; then no thread waits for this one. If it ends now, this
            // thread blocks for ever.
            if crate::api::admission::is_running() {
                let me = task_table::current();
                handoff::acquire(me);
                let mut cap: *mut crate::hec::Hec = hec();
                crate::api::rts_api::rts_evalStableIO(&mut cap, entry as usize, std::ptr::null_mut());
                handoff::release(me);
            }
        }
        std::ptr::null_mut()
    }
    let mut id = 0;
    let mut attr = std::mem::zeroed();
    libc::pthread_attr_init(&mut attr);
    libc::pthread_attr_setdetachstate(&mut attr, libc::PTHREAD_CREATE_DETACHED);
    let failed = libc::pthread_create(&mut id, &attr, body, entry as *mut libc::c_void);
    libc::pthread_attr_destroy(&mut attr);
    failed
}
