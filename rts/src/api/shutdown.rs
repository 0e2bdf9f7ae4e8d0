//! The end of a program: with or without an orderly shutdown, or at its heap limit.
//!
//! *Protocol* of an orderly shutdown
//!
//! 1. The program's exit hook runs.
//! 2. Haskell's standard handles are flushed. After that, no call into Haskell is accepted.
//! 3. The event manager is told to end.
//! 4. The world is stopped, and HECs are no longer passed on.
//! 5. C finalizers of live weak pointers run.
//! 6. Statistics are printed.
//! 7. The process exits. `hs_exit` from a C main omits this step.
//!
//! *Checked by* `rts/tests/models/shutdown.rs`, for the phases of `lifetime.rs`.
use crate::abi::Closure;
use crate::api::admission;
use crate::api::exit_code::EXIT_HEAP_OVERFLOW;
use crate::api::flags::setup;
use crate::api::spread;
use crate::base::fatal;
use crate::observe::stats;
use crate::sched::{handoff, hec, in_call, stop_world, task_table};
use crate::static_closure;
use crate::thread::create::new_io_thread;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Embedders may replace it (`exitFn` in `RtsAPI.h`); null means `exit`.
#[no_mangle]
pub static exitFn: AtomicUsize = AtomicUsize::new(0);

/// Exits the process through C's `exit`, without using Haskell again.
pub fn exit_process(code: i32) -> ! {
    let f = exitFn.load(Ordering::Relaxed);
    // SAFETY: an embedder that sets `exitFn` sets it to a function that takes an int.
    unsafe {
        if f != 0 {
            std::mem::transmute::<usize, extern "C" fn(i32)>(f)(code);
        }
        libc::exit(code)
    }
}

/// The steps before the exit. With `fast`, the handles are not flushed.
/// # Safety
/// The caller does not hold the HEC.
unsafe fn shut_down(fast: bool) {
    stats::start_exit();
    setup::on_exit();
    if !fast {
        flush_standard_handles();
    }
    admission::close();
    crate::events::io_manager::stop_managers();
    let me = task_table::current();
    handoff::acquire(me);
    while !stop_world::stop(me) {}
    handoff::end_handoff();
    crate::events::ticker::stop();
    crate::prims::weak::finalize_all();
    crate::api::exit_report::ensure_live_size_is_known();
    crate::collector::policy::gc_threads::stop_helpers();
    crate::memory::prefault::stop_helper();
    crate::prims::hpc::exitHpc();
    crate::prims::terminal::restore();
    crate::api::exit_report::report();
    // The world stays stopped: a thread that returns from a foreign call now blocks for ever (`lifetime.rs`).
}

/// Has Haskell write what its standard handles hold.
/// # Safety
/// The caller does not hold the HEC.
pub(super) unsafe fn flush_standard_handles() {
    perform(static_closure!(base_GHCziTopHandler_flushStdHandles_closure));
}

/// Performs an action of Haskell.
/// # Safety
/// The caller does not hold the HEC.
pub(super) unsafe fn perform(action: Closure) {
    let me = task_table::current();
    handoff::acquire(me);
    let t = new_io_thread(hec(), action, &crate::sched::settings().stack);
    in_call::run_to_end(me, t);
    handoff::release(me);
}

/// Ends the runtime that `hs_init` started. Only the last of several calls does.
/// # Safety
/// Called from C, outside Haskell.
#[no_mangle]
pub unsafe extern "C" fn hs_exit() {
    if admission::leave() {
        shut_down(false);
        crate::events::signals::reset();
        admission::mark_ended();
    }
}

/// The same as [`hs_exit`], which does not wait for running foreign calls either.
/// # Safety
/// As for [`hs_exit`].
#[no_mangle]
pub unsafe extern "C" fn hs_exit_nowait() {
    hs_exit()
}

/// # Safety
/// As for [`hs_exit`].
#[no_mangle]
pub unsafe extern "C" fn shutdownHaskell() {
    hs_exit()
}

/// Ends the program with `code`. Called by `base` when `main` is done.
/// # Safety
/// The caller does not hold the HEC.
#[no_mangle]
pub unsafe extern "C" fn shutdownHaskellAndExit(code: i32, fast: i32) -> ! {
    if admission::leave_all() {
        shut_down(fast != 0);
    }
    exit_process(code)
}

/// Ends the process with `code`, without an orderly shutdown.
#[no_mangle]
pub extern "C" fn stg_exit(code: i32) -> ! {
    exit_process(code)
}

/// Ends the program by a signal, so that the parent process sees it.
/// # Safety
/// As for [`shutdownHaskellAndExit`].
#[no_mangle]
pub unsafe extern "C" fn shutdownHaskellAndSignal(signal: i32, fast: i32) -> ! {
    if admission::leave_all() {
        shut_down(fast != 0);
    }
    libc::signal(signal, libc::SIG_DFL);
    let mut only = std::mem::zeroed();
    libc::sigemptyset(&mut only);
    libc::sigaddset(&mut only, signal);
    libc::pthread_sigmask(libc::SIG_UNBLOCK, &only, std::ptr::null_mut());
    libc::kill(libc::getpid(), signal);
    // The signal was ignored or does not end the process.
    exit_process(signal)
}

/// The heap limit was exceeded and the program did not recover.
pub fn heap_overflow_exit() -> ! {
    if !spread::runs_main() {
        fatal::exit_with(EXIT_HEAP_OVERFLOW, &format!("PE {}: heap exhausted", spread::hec_own_pe()));
    }
    if let Some(hook) = setup::config().outOfHeapHook {
        let limit = crate::collector::policy::heap_limits::settings().max_heap_bytes.unwrap_or(0);
        // SAFETY: the embedder's function, under the embedder's conditions.
        unsafe { hook(0, limit) };
    }
    fatal::exit_now(EXIT_HEAP_OVERFLOW)
}
