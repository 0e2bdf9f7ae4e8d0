//! `forkIO` and `forkOn`.
//!
//! A thread that a thread of a user scheduler makes belongs to that scheduler, to which an enqueue upcall gives it
//! ([`crate::sync::upcall`]). `forkOn` sends it to another HEC, which makes the upcall.
//!
//! *Checked by*: the conformance programs `schedulers_upcalls` and those about threads.
use crate::abi::layout::*;
use crate::abi::tso::TSO_USER;
use crate::abi::{Closure, Tso};
use crate::hec;
use crate::hec::priority;
use crate::hec::Hec;
use crate::observe::stats::Enqueue;
use crate::sync::thread_ops::child;
use crate::sync::{substrate, upcall};
use crate::thread::park;

/// Makes a thread of no scheduler for an IO action. Returns the bytes that it takes, too.
unsafe fn measured_child(hec: &mut Hec, action: Closure) -> (Tso, usize) {
    let before = (*hec.alloc.run).free;
    let t = child(hec, action);
    (t, (*hec.alloc.run).free - before)
}

/// The same, but it belongs to the scheduler of the running thread.
unsafe fn new_thread(hec: &mut Hec, action: Closure) -> (Tso, usize) {
    let (t, thread_bytes) = measured_child(hec, action);
    if hec.current().obj().flags & TSO_USER != 0 {
        substrate::inherit(hec, t);
        hec.upcalls.count_enqueue(Enqueue::Fork);
    }
    (t, thread_bytes)
}

unsafe fn enqueue(hec: &mut Hec, t: Tso, thread_bytes: usize) {
    if park::needs_enqueue(t) {
        upcall::owe(hec, t);
        hec.enqueue_soon();
    } else {
        queue_here(hec, t, thread_bytes);
    }
}

unsafe fn queue_here(hec: &mut Hec, t: Tso, thread_bytes: usize) {
    hec.run_queue.push_back(&mut hec.remembered, t);
    hec.yield_soon(thread_bytes);
}

/// Makes a thread for an IO action and puts it at the back of the run queue.
/// # Safety
/// Called from Cmm with Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_fork(hec: &mut Hec, action: Closure) -> Tso {
    let (t, thread_bytes) = new_thread(hec, action);
    enqueue(hec, t, thread_bytes);
    t
}

/// Makes a thread that is pinned to a HEC. The number is taken modulo the number of enabled HECs.
/// # Safety
/// As for [`hec_fork`].
#[no_mangle]
pub unsafe extern "C" fn hec_fork_on(hec: &mut Hec, number: isize, action: Closure) -> Tso {
    let (t, thread_bytes) = new_thread(hec, action);
    t.obj().flags |= TSO_LOCKED as u32;
    let no = number.rem_euclid(hec::enabled() as isize) as usize;
    if no == hec.no as usize {
        enqueue(hec, t, thread_bytes);
    } else {
        park::migrate(t, &*hec::address(no));
    }
    t
}

/// Makes a thread that belongs to a named queue, with a key, or to the built-in queue (0), and to no user scheduler.
/// # Safety
/// As for [`hec_fork`]. There is such a queue.
#[no_mangle]
pub unsafe extern "C" fn hec_fork_in_queue(hec: &mut Hec, queue: usize, key: isize, action: Closure) -> Tso {
    let (t, thread_bytes) = measured_child(hec, action);
    priority::join(t, queue, key as i32);
    queue_here(hec, t, thread_bytes);
    t
}
