//! Calls from C into Haskell: each makes a thread bound to the calling OS thread and
//! schedules until that thread is done.
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

/// How an in-call ended, as C callers see it (`SchedulerStatus`).
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
    /// The in-call that this OS thread was in when it called C that called us.
    prev: *mut InCall,
}

/// Runs a fresh thread to its end on behalf of the calling OS thread, bound to it.
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

/// Names the program's main thread: `base` says which it is when `main` begins.
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

/// Tells the in-call of a finished bound thread how it ended.
/// # Safety
/// `t` has finished and is bound.
pub unsafe fn finish(t: Tso) {
    let o = t.obj();
    let ic = &mut *(o.bound as *mut InCall);
    o.bound = 0;
    // The result lies above the one frame that is left.
    let sp = o.stackobj.obj().sp as *const usize;
    ic.result = Closure(*sp.add(1));
    ic.status = match o.what_next as usize {
        ThreadComplete => Status::Success,
        _ if crate::sched::gc::heap_exhausted() => Status::HeapExhausted,
        _ if interrupt::has_ended_threads() || crate::sched::handoff::stopping() => Status::Interrupted,
        _ => Status::Killed,
    };
}

/// The thread that a running in-call is bound to. Threads move, so none is remembered.
pub fn bound_thread_of(ic: *const InCall) -> Option<Tso> {
    // SAFETY: the caller holds the HEC.
    unsafe { every_thread().find(|t| t.obj().bound == ic as usize) }
}

static ACTIVE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// In the child of a fork: nobody takes a result any more, and the stacks that in-calls lie on
/// may be used for new OS threads.
pub fn after_fork() {
    unpoisoned(ACTIVE.lock()).clear();
}

/// Shows the collector the results that in-calls have not taken yet: an in-call may end while
/// another, begun later on the same OS thread, goes on.
pub fn roots(visit: &mut Visitor) {
    for &ic in unpoisoned(ACTIVE.lock()).iter() {
        // SAFETY: in-calls stay on the list only while they are on their C stacks, and only
        // HEC holders touch results.
        let ic = unsafe { &mut *(ic as *mut InCall) };
        if !ic.result.is_null() {
            visit(&mut ic.result);
        }
    }
}
