//! In-calls: calls from C into Haskell.
//!
//! An in-call makes a thread that is bound to the calling OS thread, and runs the scheduler until that thread has
//! finished.
use crate::abi::{Closure, Tso};
use crate::base::poison::unpoisoned;
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::bound_threads::ACTIVE;
pub use crate::sched::task::Status;
use crate::sched::task::{InCall, TaskRef};
use crate::sched::{hec, schedule};

/// Runs a new thread, bound to the calling OS thread, until it has finished.
/// # Safety
/// The caller is `task` and holds the HEC; `t` is new and on no queue.
pub unsafe fn run_to_end(task: TaskRef, t: Tso) -> (Status, Closure) {
    let mut ic =
        InCall { task, status: Status::NotFinished, result: Closure::NULL, is_user: false, prev: task.incall.get() };
    let me: *mut InCall = &mut ic;
    task.incall.set(me);
    unpoisoned(ACTIVE.lock()).push(me as usize);
    t.obj().bound = me as usize;
    let h = hec();
    if ic.prev.is_null() {
        eventlog::task_created(task.name(), h.no);
    }
    h.run_queue.push_back(&mut h.remembered, t);
    schedule::schedule(task, Some(me));
    task.incall.set((*me).prev);
    if (*me).prev.is_null() {
        eventlog::task_deleted(task.name());
    }
    unpoisoned(ACTIVE.lock()).retain(|&a| a != me as usize);
    ((*me).status, (*me).result)
}
