//! Primitive operations on threads: asking for their state. Also how they are made.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, BlockedOnScheduler};
use crate::abi::{Closure, Tso};
use crate::hec::named_queues;
use crate::hec::priority;
use crate::hec::run_order::RunOrder;
use crate::hec::Hec;
use crate::sync::stm::thread_status;
use crate::thread::create::new_io_thread;
use crate::thread::park;
use crate::thread::stack::StackSizes;
use std::sync::atomic::Ordering;

/// How threads are made, from the flags and the way the program is linked.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub stacks: StackSizes,
    /// The program is linked with `-threaded`, so some threads are bound and others are not.
    pub threaded: bool,
}

/// Written once, before the first thread exists.
static mut SETTINGS: Option<Settings> = None;

/// # Safety
/// Called once, before any Haskell runs.
pub unsafe fn init(s: Settings) {
    SETTINGS = Some(s);
}

pub(super) unsafe fn settings() -> Settings {
    match SETTINGS {
        Some(s) => s,
        None => crate::base::fatal::broken("a thread is made before sync::fork::init"),
    }
}

/// Makes a thread for an IO action. It inherits masking state, priority and named queue from the running thread.
pub(super) unsafe fn child(hec: &mut Hec, action: Closure) -> Tso {
    let t = new_io_thread(hec, action, &settings().stacks);
    let parent = hec.current();
    let inherited = parent.obj().flags as usize & (TSO_BLOCKEX | TSO_INTERRUPTIBLE);
    t.obj().flags = inherited as u32;
    priority::inherit(t, parent);
    t
}

/// The result of `threadStatus#`: 16 if finished, 17 if killed, otherwise why it is blocked (0 if it is not).
/// # Safety
/// `t` is a thread.
#[no_mangle]
pub unsafe extern "C" fn hec_thread_status(t: Tso) -> usize {
    match t.obj().what_next as usize {
        ThreadComplete => 16,
        ThreadKilled => 17,
        // As on the stock runtime, where these waits are for an MVar.
        _ => match t.obj().why_blocked as usize {
            BlockedOnRead | BlockedOnWrite | BlockedOnDelay if settings().threaded => BlockedOnMVar,
            // If it has been given to its scheduler, that only does not run it yet.
            BlockedOnScheduler if !thread_status::is_waiting(t) => NotBlocked,
            BlockedOnAbsent => BlockedOnBlackHole,
            why => why,
        },
    }
}

/// The number of the HEC that a thread runs on or last ran on.
/// # Safety
/// `t` is a thread.
#[no_mangle]
pub unsafe extern "C" fn hec_thread_hec(t: Tso) -> usize {
    let owner = park::ownership(t).owner.load(Ordering::Relaxed);
    (*(owner as *const Hec)).no as usize
}

/// Is the running thread bound to an OS thread? Without `-threaded` none is.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_is_bound(hec: &mut Hec) -> usize {
    let t = hec.current();
    (t.obj().bound != 0 && settings().threaded) as usize
}

// ---- Named queues
// -----------------------------------------------------------------------------------------------------

/// The running thread belongs to this named queue from now on, or to the built-in queue if that is 0. If its key
/// becomes lower, it yields soon.
/// # Safety
/// Called from Cmm. There is such a queue.
#[no_mangle]
pub unsafe extern "C" fn hec_join_queue(hec: &mut Hec, queue: usize, key: isize) {
    let t = hec.current();
    let lowers = priority::named_queue(t) == Some(queue) && (key as i32) < priority::key(t);
    priority::join(t, queue, key as i32);
    if lowers {
        hec.request_yield();
    }
}

/// The named queue of the running thread, or 0.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_own_queue(hec: &mut Hec) -> usize {
    priority::named_queue(hec.current()).unwrap_or(0)
}

/// The key of the running thread in its named queue, or 0.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_own_key(hec: &mut Hec) -> isize {
    priority::named_queue(hec.current()).map_or(0, |_| priority::key(hec.current()) as isize)
}

/// Makes a named queue. `order` is the number of a constructor of `Hecaton.RunQueue.Order`. Returns 0 if there are too
/// many queues.
#[no_mangle]
pub extern "C" fn hec_new_queue(order: usize, seed: u64) -> usize {
    let order = match order {
        0 => RunOrder::Fifo,
        1 => RunOrder::Lifo,
        2 => RunOrder::Priority,
        _ => RunOrder::Random { seed },
    };
    named_queues::new(order).unwrap_or(0)
}
