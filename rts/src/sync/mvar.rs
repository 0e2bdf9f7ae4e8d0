//! MVars and I/O ports: the slow paths, when somebody waits.
//!
//! An MVar {head, tail, value} holds END_TSO_QUEUE for no value. While it is empty, takers and
//! readers wait in its queue; while it is full, putters do. Entries {link, thread} are served
//! first in, first out, one wake-up for one operation, except that readers stand at the front
//! and are all served by the next put: so a reader sees the value that a taker takes.
//!
//! A waiting thread has a frame on top of its stack that would do the operation again
//! (stg_block_takemvar {mvar}, stg_block_readmvar {mvar}, stg_block_putmvar {mvar, value}):
//! that is what happens when it is frozen by an exception and its work resumed later. Whoever
//! does the operation for it replaces the frame by the result and wakes it.
//!
//! `TSO.link` of a waiting thread is its entry. A thread that stops waiting is taken out of
//! it; the entry goes when it comes to the front, or when the next thread that waits finds it
//! last, so that a waiter who times out over and over leaves no trail.
//!
//! Header MVAR_DIRTY: young, or in the remembered set. Operations that store a pointer in an
//! MVAR_CLEAN call [`hec_dirty_mvar`] first. Storing the empty mark needs no barrier.
//!
//! An I/O port is an MVar with one reader at most, whose thread is the head itself, and which is
//! not taken for deadlocked.
use crate::contract::closure::fields::*;
use crate::contract::{layout::*, Closure, Tso};
use crate::eval::frames::*;
use crate::hec::Hec;
use crate::info;
use crate::thread::door;
use crate::thread::queue::dirty_tso;
use crate::thread::stack::dirty_stack;

const ENTRY_WORDS: usize = 3;

fn end() -> Closure {
    Tso::end().closure()
}

/// Call before storing a pointer in an MVar.
/// # Safety
/// `m` is an MVar.
#[no_mangle]
pub unsafe extern "C" fn hec_dirty_mvar(hec: &mut Hec, m: Closure) {
    if m.info() == info!(stg_MVAR_CLEAN_info) {
        m.set_info(info!(stg_MVAR_DIRTY_info));
        hec.remember(m);
    }
}

/// Puts a thread in the MVar's queue; `why` is BlockedOnMVar or BlockedOnMVarRead. False if its
/// operation has become possible.
/// # Safety
/// The thread is at rest, with the frame for its operation on top.
pub(super) unsafe fn park(hec: &mut Hec, t: Tso, m: Closure, why: usize) -> bool {
    let puts = Frame::youngest(t.obj().stackobj).info() == info!(stg_block_putmvar_info);
    let full = m.field(MVAR_VALUE) != end();
    if puts != full {
        return false;
    }
    hec_dirty_mvar(hec, m);
    let tail = m.field(MVAR_TAIL);
    let reading = why == BlockedOnMVarRead;
    let entry = if !reading && tail != end() && tail.word(MVAR_QUEUE_TSO) == end().0 {
        hec.remember(tail);
        tail
    } else {
        let e = hec.allocate(ENTRY_WORDS);
        e.set_info(info!(stg_MVAR_TSO_QUEUE_info));
        let head = m.field(MVAR_HEAD);
        e.set_word(MVAR_QUEUE_LINK, if reading { head.0 } else { end().0 });
        if head == end() {
            m.set_word(MVAR_HEAD, e.0);
            m.set_word(MVAR_TAIL, e.0);
        } else if reading {
            m.set_word(MVAR_HEAD, e.0);
        } else {
            tail.set_word(MVAR_QUEUE_LINK, e.0);
            hec.remember(tail);
            m.set_word(MVAR_TAIL, e.0);
        }
        e
    };
    entry.set_word(MVAR_QUEUE_TSO, t.0);
    dirty_tso(&mut hec.remembered, t);
    t.obj().link = Tso(entry.0);
    door::block(hec, t, why, m.0);
    true
}

/// Takes the first thread out of the queue.
unsafe fn next_waiter(m: Closure) -> Option<Tso> {
    loop {
        let entry = m.field(MVAR_HEAD);
        if entry == end() {
            return None;
        }
        let link = entry.field(MVAR_QUEUE_LINK);
        m.set_word(MVAR_HEAD, link.0);
        if link == end() {
            m.set_word(MVAR_TAIL, end().0);
        }
        let t = Tso(entry.word(MVAR_QUEUE_TSO));
        if !t.is_end() {
            return Some(t);
        }
    }
}

/// Hands a taker or reader its value.
unsafe fn serve(hec: &mut Hec, t: Tso, value: Closure) {
    let stack = t.obj().stackobj;
    dirty_stack(hec, stack);
    let frame = Frame::youngest(stack);
    set_top(t, Frame(frame.0.add(BLOCK_TAKE_WORDS)), &[info!(stg_ret_p_info).0, value.0]);
    door::unblock(hec, t);
}

/// The value has been taken and the queue is not empty: lets the next putter put.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_mvar_taken(hec: &mut Hec, m: Closure) {
    hec_dirty_mvar(hec, m);
    let Some(t) = next_waiter(m) else {
        m.set_word(MVAR_VALUE, end().0);
        return;
    };
    let stack = t.obj().stackobj;
    let frame = Frame::youngest(stack);
    m.set_word(MVAR_VALUE, frame.word(BLOCK_PUT_VALUE));
    dirty_stack(hec, stack);
    set_top(t, Frame(frame.0.add(BLOCK_PUT_WORDS)), &[]);
    door::unblock(hec, t);
}

/// Puts a value in an empty MVar, or hands it to those who wait.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_mvar_put(hec: &mut Hec, m: Closure, value: Closure) {
    hec_dirty_mvar(hec, m);
    while let Some(t) = next_waiter(m) {
        let reads = t.obj().why_blocked as usize == BlockedOnMVarRead;
        serve(hec, t, value);
        if !reads {
            return;
        }
    }
    m.set_word(MVAR_VALUE, value.0);
}

/// Puts a value from outside Haskell. False if the MVar is full.
/// # Safety
/// `m` is an MVar; the HEC is held.
pub unsafe fn try_put_mvar(hec: &mut Hec, m: Closure, value: Closure) -> bool {
    let empty = m.field(MVAR_VALUE) == end();
    if empty {
        hec_mvar_put(hec, m, value);
    }
    empty
}

/// Takes a thread that waits out of the MVar's queue.
pub(super) unsafe fn leave(hec: &mut Hec, t: Tso) {
    let m = Closure(t.obj().block_info);
    hec_dirty_mvar(hec, m);
    Closure(t.obj().link.0).set_word(MVAR_QUEUE_TSO, end().0);
    t.obj().link = Tso::end();
    // What no thread waits with any more need not be kept at the front.
    while m.field(MVAR_HEAD) != end() {
        let first = m.field(MVAR_HEAD);
        if first.word(MVAR_QUEUE_TSO) != end().0 {
            break;
        }
        let link = first.word(MVAR_QUEUE_LINK);
        m.set_word(MVAR_HEAD, link);
        if link == end().0 {
            m.set_word(MVAR_TAIL, link);
        }
    }
}

/// Makes a thread wait for an empty port. False if it need not, or must not because another
/// does already: its operation then says so.
/// # Safety
/// As for [`park`].
pub(super) unsafe fn park_at_port(hec: &mut Hec, t: Tso, port: Closure) -> bool {
    if port.field(MVAR_VALUE) != end() || port.field(MVAR_HEAD) != end() {
        return false;
    }
    hec_dirty_mvar(hec, port);
    port.set_word(MVAR_HEAD, t.0);
    door::block(hec, t, BlockedOnIOCompletion, port.0);
    true
}

/// Puts a value in an empty port, or hands it to the thread that waits.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_port_write(hec: &mut Hec, port: Closure, value: Closure) {
    hec_dirty_mvar(hec, port);
    let reader = Tso(port.word(MVAR_HEAD));
    if reader.is_end() {
        port.set_word(MVAR_VALUE, value.0);
    } else {
        port.set_word(MVAR_HEAD, end().0);
        serve(hec, reader, value);
    }
}

/// Takes the reader of a port away.
pub(super) unsafe fn leave_port(t: Tso) {
    Closure(t.obj().block_info).set_word(MVAR_HEAD, end().0);
}
