//! In-calls: calls from C into Haskell.
//!
//! An in-call makes a thread that is bound to the calling OS thread, and runs the scheduler until that thread has
//! finished.
use crate::abi::closure::fields::WEAK_KEY;
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::base::poison::unpoisoned;
use crate::collector::roots::Visitor;
use crate::memory::heap;
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::task::TaskRef;
use crate::sched::{hec, interrupt, schedule, stop_world, task_table};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// The result of an in-call, as C callers see it (`SchedulerStatus`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Status {
    NotFinished = 0,
    Success = 1,
    Killed = 2,
    Interrupted = 3,
    HeapExhausted = 4,
}

pub struct InCall {
    pub task: TaskRef,
    pub status: Status,
    /// The value returned, or the exception that killed the thread.
    pub result: Closure,
    /// The in-call that this OS thread was in when it called the C code that made this one.
    prev: *mut InCall,
}

/// Runs a new thread, bound to the calling OS thread, until it has finished.
/// # Safety
/// The caller is `task` and holds the HEC; `t` is new and on no queue.
pub unsafe fn run_to_end(task: TaskRef, t: Tso) -> (Status, Closure) {
    let mut ic = InCall { task, status: Status::NotFinished, result: Closure::NULL, prev: task.incall.get() };
    let me: *mut InCall = &mut ic;
    task.incall.set(me);
    unpoisoned(ACTIVE.lock()).push(me as usize);
    t.obj().bound = me as usize;
    let h = hec();
    if ic.prev.is_null() {
        eventlog::task_created(task_table::name(task), h.no);
    }
    h.run_queue.push_back(&mut h.remembered, t);
    schedule::schedule(task, Some(me));
    task.incall.set((*me).prev);
    if (*me).prev.is_null() {
        eventlog::task_deleted(task_table::name(task));
    }
    unpoisoned(ACTIVE.lock()).retain(|&a| a != me as usize);
    ((*me).status, (*me).result)
}

static MAIN: AtomicU64 = AtomicU64::new(0);

/// Records the program's main thread. `base` calls this when `main` begins.
/// # Safety
/// `weak` is a weak pointer whose key is the thread.
#[no_mangle]
pub unsafe extern "C" fn rts_setMainThread(weak: Closure) {
    let t = Tso(weak.untag().field(WEAK_KEY).untag().0);
    MAIN.store(t.obj().id, Ordering::Relaxed);
}

/// The program's main thread, while it lives.
/// # Safety
/// The world is stopped.
pub unsafe fn main_thread() -> Option<Tso> {
    let id = MAIN.load(Ordering::Relaxed);
    every_thread().find(|t| t.obj().id == id && t.obj().what_next as usize == ThreadRunGHC)
}

/// Every thread that the collector knows.
/// # Safety
/// The world is stopped while the caller iterates.
pub unsafe fn every_thread() -> impl Iterator<Item = Tso> {
    let new = stop_world::hecs().into_iter().flat_map(|h| h.new_threads.iter());
    heap().gens.iter().flat_map(|g| g.threads.iter()).chain(new).copied()
}

/// Gives the in-call of a finished bound thread its result.
/// # Safety
/// `t` has finished and is bound.
pub unsafe fn finish(t: Tso) {
    let o = t.obj();
    let ic = &mut *(o.bound as *mut InCall);
    o.bound = 0;
    // The result is above the one frame that is left.
    let sp = o.stackobj.obj().sp as *const usize;
    ic.result = Closure(*sp.add(1));
    ic.status = match o.what_next as usize {
        ThreadComplete => Status::Success,
        _ if crate::sched::gc::heap_exhausted() => Status::HeapExhausted,
        _ if interrupt::has_ended_threads() || crate::sched::handoff::stopping() => Status::Interrupted,
        _ => Status::Killed,
    };
}

/// The thread that is bound to a running in-call. It is searched, because threads move.
pub fn bound_thread_of(ic: *const InCall) -> Option<Tso> {
    // SAFETY: the caller holds the HEC.
    unsafe { every_thread().find(|t| t.obj().bound == ic as usize) }
}

static ACTIVE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Clears the list in the child of a fork. No in-call of the parent takes a result there, and new OS threads may use
/// the stacks on which they lie.
pub fn after_fork() {
    unpoisoned(ACTIVE.lock()).clear();
}

/// Visits the results that in-calls have not taken yet. An in-call may end while a later one on the same OS thread
/// continues.
pub fn roots(visit: &mut Visitor) {
    for &ic in unpoisoned(ACTIVE.lock()).iter() {
        // SAFETY: an in-call is on the list only while its C stack frame exists, and only HEC holders access its
        // result.
        let ic = unsafe { &mut *(ic as *mut InCall) };
        if !ic.result.is_null() {
            visit(&mut ic.result);
        }
    }
}
