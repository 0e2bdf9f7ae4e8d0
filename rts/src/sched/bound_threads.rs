//! In-calls in progress, the threads bound to them, and the program's main thread.
//!
//! *Locking*: one lock protects the list of in-calls and their results (row 9 of section 11 of ARCHITECTURE.md).
use crate::abi::closure::fields::WEAK_KEY;
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::base::poison::unpoisoned;
use crate::collector::roots::Visitor;
use crate::memory::heap;
use crate::sched::stop_world;
use crate::sched::task::InCall;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

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

/// The thread that is bound to a running in-call. It is searched, because threads move.
pub fn bound_thread_of(ic: *const InCall) -> Option<Tso> {
    // SAFETY: the caller holds the HEC.
    unsafe { every_thread().find(|t| t.obj().bound == ic as usize) }
}

pub(super) static ACTIVE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

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
