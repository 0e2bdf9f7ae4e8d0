//! Safe foreign calls: the thread leaves the HEC to others and takes it back afterwards.
//!
//! Compiled code saves its state, calls `suspendThread`, makes the call, and calls
//! `resumeThread`, after which it loads Sp from the thread's stack and returns to whatever is
//! on top: so an exception that arrived meanwhile need only have stripped the stack. While a
//! thread is in a call its stack is complete, its black holes are marked, and it is reachable
//! from the list here.
use super::task;
use super::{hec, settings};
use crate::collector::roots::Visitor;
use crate::contract::{layout::*, RegTable, Tso};
use crate::eval::blackhole::thread_paused;
use crate::hec::Hec;
use crate::sync::throwto;
use crate::thread::door;
use crate::thread::stack::dirty_stack;
use std::sync::atomic::Ordering;

/// A thread in a foreign call.
struct Suspended {
    tso: Tso,
    /// OS thread that makes the call, for those that may be interrupted.
    os_thread: libc::pthread_t,
    interruptible: bool,
}

/// Touched by HEC holders only.
static mut SUSPENDED: Vec<Option<Box<Suspended>>> = Vec::new();
static mut FREE: Vec<usize> = Vec::new();

unsafe fn suspended() -> &'static mut Vec<Option<Box<Suspended>>> {
    &mut *std::ptr::addr_of_mut!(SUSPENDED)
}

unsafe fn free_slots() -> &'static mut Vec<usize> {
    &mut *std::ptr::addr_of_mut!(FREE)
}

/// Leaves the HEC for the duration of a foreign call.
/// # Safety
/// Called by compiled code with the thread's state saved.
#[no_mangle]
pub unsafe extern "C" fn suspendThread(reg: *mut RegTable, interruptible: bool) -> usize {
    let errno = *libc::__errno_location();
    let hec = Hec::of_reg(reg);
    let t = hec.current();
    let why = if interruptible { BlockedOnCCall_Interruptible } else { BlockedOnCCall };
    door::block(hec, t, why, 0);
    thread_paused(hec, t);
    let entry = Box::new(Suspended { tso: t, os_thread: libc::pthread_self(), interruptible });
    let slot = match free_slots().pop() {
        Some(s) => {
            suspended()[s] = Some(entry);
            s
        }
        None => {
            suspended().push(Some(entry));
            suspended().len() - 1
        }
    };
    hec.r.current_tso = 0;
    task::release();
    *libc::__errno_location() = errno;
    slot + 1
}

/// Comes back from a foreign call.
/// # Safety
/// `token` is what the matching [`suspendThread`] returned on this OS thread.
#[no_mangle]
pub unsafe extern "C" fn resumeThread(token: usize) -> *mut RegTable {
    let errno = *libc::__errno_location();
    task::acquire(task::me());
    let hec = hec();
    let slot = token - 1;
    let Some(s) = suspended()[slot].take() else {
        crate::observe::fatal::broken("a foreign call returned twice")
    };
    free_slots().push(slot);
    let t = s.tso;
    door::come_back(hec, t);
    throwto::deliver_after_call(hec, t);
    hec.r.current_tso = t.0;
    dirty_stack(hec, t.obj().stackobj);
    hec.r.hp_alloc = 0;
    // A collection may have given the nursery another place and size.
    let interrupted = hec.r.hp_lim == 0;
    hec.open_nursery();
    if settings().threaded && task::returners_wait() {
        hec.context_switch.store(1, Ordering::Relaxed);
        if interrupted {
            hec.interrupt();
        }
    }
    *libc::__errno_location() = errno;
    &mut hec.r
}

/// Interrupts the foreign call of `t`, if it is an interruptible one, by a signal that makes
/// its system call return early.
/// # Safety
/// The HEC is held.
pub unsafe fn interrupt_call(_hec: &mut Hec, t: Tso) {
    for s in suspended().iter().flatten() {
        if s.tso == t && s.interruptible {
            libc::pthread_kill(s.os_thread, libc::SIGVTALRM);
        }
    }
}

/// Threads in foreign calls are alive.
pub fn roots(visit: &mut Visitor) {
    // SAFETY: the world is stopped.
    for s in unsafe { suspended() }.iter_mut().flatten() {
        let mut c = s.tso.closure();
        visit(&mut c);
        s.tso = Tso(c.0);
    }
}

/// In the child of a fork: none of the calls comes back.
/// # Safety
/// Called in the child with the HEC held.
pub unsafe fn after_fork() {
    suspended().clear();
    free_slots().clear();
}
