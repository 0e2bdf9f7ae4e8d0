//! How a program ends: in order, in haste, or by its heap limit.
//!
//! In order: the program's exit hook runs; Haskell's standard handles are flushed, and from then on nobody may call Haskell; the
//! event manager is told to end; no more work is passed to workers; C finalizers of whatever is still alive run; statistics are
//! printed; the process exits. `hs_exit` from a C main does all but the last.
use crate::api::flags::setup;
use crate::api::startup;
use crate::base::fatal;
use crate::observe::stats;
use crate::sched::{handoff, hec, in_call, stop_world, task_table};
use crate::static_closure;
use crate::thread::create::new_io_thread;
use std::sync::atomic::{AtomicUsize, Ordering};

pub const EXIT_FAILURE: i32 = 1;
pub const EXIT_KILLED: i32 = 250;
pub const EXIT_HEAP_OVERFLOW: i32 = 251;
pub const EXIT_INTERRUPTED: i32 = 252;
pub const EXIT_INTERNAL_ERROR: i32 = 254;

/// Replaceable by embedders (`exitFn` in `RtsAPI.h`); null means `exit`.
#[no_mangle]
pub static exitFn: AtomicUsize = AtomicUsize::new(0);

/// Leaves the process through C's `exit`, without touching Haskell again.
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

/// The steps before leaving. With `fast`, only those that are seen from outside.
/// # Safety
/// The caller does not hold the HEC.
unsafe fn wind_down(fast: bool) {
    stats::start_exit();
    setup::on_exit();
    if !fast {
        flush_standard_handles();
    }
    startup::close();
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
    // The world stays stopped: whoever comes back from a foreign call now waits for good (`lifetime.rs`).
}

unsafe fn flush_standard_handles() {
    let me = task_table::current();
    handoff::acquire(me);
    let action = static_closure!(base_GHCziTopHandler_flushStdHandles_closure);
    let t = new_io_thread(hec(), action, &crate::sched::settings().stack);
    in_call::run_to_end(me, t);
    handoff::release(me);
}

/// Ends the runtime that `hs_init` started; the last of several calls does it.
/// # Safety
/// Called from C, outside Haskell.
#[no_mangle]
pub unsafe extern "C" fn hs_exit() {
    if startup::leave() {
        wind_down(false);
        crate::events::signals::reset();
        startup::mark_ended();
    }
}

/// As [`hs_exit`]; foreign calls that are still running are not waited for, here either.
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
    if startup::leave_all() {
        wind_down(fast != 0);
    }
    exit_process(code)
}

/// Ends the process with `code`, and leaves the runtime as it is.
#[no_mangle]
pub extern "C" fn stg_exit(code: i32) -> ! {
    exit_process(code)
}

/// Ends the program by a signal, so that the parent sees it.
/// # Safety
/// As for [`shutdownHaskellAndExit`].
#[no_mangle]
pub unsafe extern "C" fn shutdownHaskellAndSignal(signal: i32, fast: i32) -> ! {
    if startup::leave_all() {
        wind_down(fast != 0);
    }
    libc::signal(signal, libc::SIG_DFL);
    let mut only = std::mem::zeroed();
    libc::sigemptyset(&mut only);
    libc::sigaddset(&mut only, signal);
    libc::pthread_sigmask(libc::SIG_UNBLOCK, &only, std::ptr::null_mut());
    libc::kill(libc::getpid(), signal);
    // A signal that does not end the process (or is ignored) leaves this way out.
    exit_process(signal)
}

/// The heap limit was exceeded and the program did not recover.
pub fn heap_overflow_exit() -> ! {
    if let Some(hook) = setup::config().outOfHeapHook {
        let limit = crate::collector::policy::heap_limits::settings().max_heap_bytes.unwrap_or(0);
        // SAFETY: the embedder's own function, on its own terms.
        unsafe { hook(0, limit) };
    }
    fatal::exit_now(EXIT_HEAP_OVERFLOW)
}
