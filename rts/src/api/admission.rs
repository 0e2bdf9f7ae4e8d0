//! Admission to the runtime: counts its users, and ends a program that calls Haskell without one.
//!
//! *Protocol*: that of `lifetime.rs`.
use crate::api::exit_code::EXIT_FAILURE;
use crate::api::lifetime::{Leave, Lifetime};
use crate::base::fatal;
use crate::sched::task_table;
use std::sync::LazyLock;

pub(super) static LIFETIME: LazyLock<Lifetime> = LazyLock::new(Lifetime::new);

fn os_thread() -> libc::pid_t {
    // SAFETY: a query.
    unsafe { libc::gettid() }
}

/// Removes one user. True if it was the last; then the caller shuts down, and calls [`mark_ended`].
pub fn leave() -> bool {
    let result = LIFETIME.leave(os_thread());
    if result == Leave::TooMany {
        fatal::print_message("warning: too many hs_exit()s");
    }
    result == Leave::Last
}

/// Refuses calls into Haskell from now on.
pub fn close() {
    LIFETIME.close();
}

/// The runtime has been shut down, and the process continues.
pub fn mark_ended() {
    LIFETIME.mark_ended();
}

/// Ends the program, whether or not the runtime has other users. True if the caller must shut down. Waits for another
/// OS thread that does.
pub fn leave_all() -> bool {
    LIFETIME.leave_all(os_thread())
}

/// In the child of a fork. It continues even if its parent was about to end.
/// # Safety
/// Called in the child, before any other OS thread is started.
pub unsafe fn after_fork() {
    LIFETIME.renew();
}

pub fn is_running() -> bool {
    LIFETIME.in_use()
}

/// Ends a program that calls Haskell without a runtime.
pub fn require_running() {
    // SAFETY: no other thread uses the calls of a task that is not idle.
    if !LIFETIME.can_enter(os_thread, || unsafe { task_table::current().calls.with(|calls| !calls.is_empty()) }) {
        fatal::exit_with(
            EXIT_FAILURE,
            "error: a Haskell function was called while the runtime was not running: \
             call hs_init() first, and do not call Haskell after hs_exit()",
        );
    }
}
