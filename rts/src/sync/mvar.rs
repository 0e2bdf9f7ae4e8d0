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
//! With several HECs whoever works on an MVar holds the lock in its header (`header_lock.rs`). Only
//! the value may be read without. Cmm takes the lock too, and calls in with it: then the header
//! that the MVar had comes as an argument, and Rust unlocks. A waiter is claimed under the lock;
//! one that cannot be is being taken away by an exception, and its entry is passed over.
//!
//! An MVar used as a lock has a danger of its own: it is handed to a thread that does not run yet,
//! and who wants it meanwhile has to wait for that thread's turn, so that soon all wait in turn,
//! at the price of a switch each time, where they hardly met before (a *convoy*). So with several
//! HECs a taker stays awake for a moment (`base/adaptive_spin.rs`), and a thread that is handed
//! an MVar for which yet others wait runs at once, and so do those that it hands it on to: then the
//! lock is soon free. Who has handed it on comes second.
//!
//! Header MVAR_DIRTY: young, or in the remembered set. An MVar that was MVAR_CLEAN becomes so
//! before a pointer is stored in it. Storing the empty mark needs no barrier.
//!
//! An I/O port is an MVar with one reader at most, whose thread is the head itself, and which is
//! not taken for deadlocked.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Tso};
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::eval::frames::*;
use crate::hec::run_queue::dirty_tso;
use crate::hec::{self, many, Handed, Hec};
use crate::info;
use crate::sync::header_lock::Header;
use crate::thread::park;
use crate::thread::park::Claim;
use crate::thread::stack::dirty_stack;

const ENTRY_WORDS: usize = 3;

fn end() -> Closure {
    Tso::end().closure()
}

unsafe fn header<'a>(m: Closure) -> &'a Header {
    &*(m.slot(0) as *const Header)
}

/// An MVar that the caller has locked (if there are several HECs). Dropping this unlocks it.
struct Locked {
    m: Closure,
    /// Its header, as it will be.
    info: Info,
}

impl Locked {
    unsafe fn new(m: Closure) -> Locked {
        let info = if many() { hec_lock_header(m) } else { m.info() };
        Locked { m, info }
    }
    /// Call before storing a pointer.
    unsafe fn dirty(&mut self, hec: &mut Hec) {
        if self.info == info!(stg_MVAR_CLEAN_info) {
            self.info = info!(stg_MVAR_DIRTY_info);
            hec.remember(self.m);
        }
    }
    unsafe fn head(&self) -> Closure {
        self.m.field(MVAR_HEAD)
    }
    unsafe fn is_full(&self) -> bool {
        self.m.field(MVAR_VALUE) != end()
    }
    unsafe fn set_value(&self, value: Closure) {
        self.m.set_word(MVAR_VALUE, value.0)
    }

    /// Takes the first entry out of the queue, and the next in its place.
    unsafe fn drop_first(&self) {
        let link = self.head().word(MVAR_QUEUE_LINK);
        self.m.set_word(MVAR_HEAD, link);
        if link == end().0 {
            self.m.set_word(MVAR_TAIL, link);
        }
    }

    /// Takes the first thread out of the queue.
    unsafe fn next_waiter(&self, hec: &Hec) -> Option<Claim> {
        while self.head() != end() {
            let t = Tso(self.head().word(MVAR_QUEUE_TSO));
            self.drop_first();
            if !t.is_end() {
                let waits = |why, on| why_mvar(why) && on == self.m.0;
                if let Some(c) = park::claim(hec, t, waits) {
                    return Some(c);
                }
            }
        }
        None
    }

    /// Puts a value in the empty MVar, or hands it to those who wait.
    unsafe fn put(&mut self, hec: &mut Hec, value: Closure) {
        self.dirty(hec);
        while let Some(c) = self.next_waiter(hec) {
            let reads = c.why == BlockedOnMVarRead;
            fill(hec, &c, value);
            if reads {
                c.go_on(hec);
                continue;
            }
            if many() && (self.head() != end() || hec.handed == Handed::Running) {
                return c.resume_next(hec);
            }
            return c.go_on(hec);
        }
        self.set_value(value);
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: the MVar is live: nothing is collected while it is locked.
        unsafe { header(self.m).unlock(self.info.0) }
    }
}

fn why_mvar(why: usize) -> bool {
    why == BlockedOnMVar || why == BlockedOnMVarRead
}

/// Locks an MVar or a port. Returns the header it had.
/// # Safety
/// `m` is one; there are several HECs.
#[no_mangle]
pub unsafe extern "C" fn hec_lock_header(m: Closure) -> Info {
    Info(header(m).lock(info!(stg_WHITEHOLE_info).0))
}

/// Puts a thread in the MVar's queue; `why` is BlockedOnMVar or BlockedOnMVarRead. False if its
/// operation has become possible.
/// # Safety
/// The thread is at rest, with the frame for its operation on top.
#[inline]
pub(super) unsafe fn park(hec: &mut Hec, t: Tso, m: Closure, why: usize) -> bool {
    let puts = Frame::youngest(t.obj().stackobj).info() == info!(stg_block_putmvar_info);
    let mut locked = Locked::new(m);
    if puts != locked.is_full() {
        return false;
    }
    locked.dirty(hec);
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
    park::block(hec, t, why, m.0);
    true
}

/// Hands a taker or reader its value, with which it may go on.
unsafe fn fill(hec: &mut Hec, c: &Claim, value: Closure) {
    let stack = c.thread.obj().stackobj;
    dirty_stack(hec, stack);
    let frame = Frame::youngest(stack);
    let done = Frame(frame.0.add(BLOCK_TAKE_WORDS));
    set_top(c.thread, done, &[info!(stg_ret_p_info).0, value.0]);
}

/// Stays awake for the value of an empty MVar, if it may come soon: another thread runs, and nobody
/// has waited before. True (1) if there is one.
/// # Safety
/// Called from Cmm; there are several HECs.
#[no_mangle]
pub unsafe extern "C" fn hec_await_value(hec: &mut Hec, m: Closure) -> usize {
    if hec::resting() + 1 >= hec::enabled() || m.field(MVAR_HEAD) != end() {
        return 0;
    }
    let value = &*(m.slot(MVAR_VALUE) as *const AtomicUsize);
    hec.patience.spin_until(LOOKS, || value.load(Ordering::Relaxed) != end().0) as usize
}

/// How often it is looked: well under a microsecond, some times what a lock is held.
const LOOKS: usize = 24;

/// The value has been taken and the queue is not empty: lets the next putter put.
/// # Safety
/// Called from Cmm, with the MVar locked; `info` is the header it had.
#[no_mangle]
pub unsafe extern "C" fn hec_mvar_taken(hec: &mut Hec, m: Closure, info: Info) {
    let mut locked = Locked { m, info };
    let Some(c) = locked.next_waiter(hec) else { return locked.set_value(end()) };
    locked.dirty(hec);
    let stack = c.thread.obj().stackobj;
    let frame = Frame::youngest(stack);
    locked.set_value(frame.closure(BLOCK_PUT_VALUE));
    dirty_stack(hec, stack);
    set_top(c.thread, Frame(frame.0.add(BLOCK_PUT_WORDS)), &[]);
    c.go_on(hec);
}

/// Puts a value in an empty MVar, or hands it to those who wait.
/// # Safety
/// As for [`hec_mvar_taken`].
#[no_mangle]
pub unsafe extern "C" fn hec_mvar_put(hec: &mut Hec, m: Closure, value: Closure, info: Info) {
    Locked { m, info }.put(hec, value);
}

/// Puts a value from outside Haskell. False if the MVar is full.
/// # Safety
/// `m` is an MVar; the HEC is held.
pub unsafe fn try_put_mvar(hec: &mut Hec, m: Closure, value: Closure) -> bool {
    let mut locked = Locked::new(m);
    let empty = !locked.is_full();
    if empty {
        locked.put(hec, value);
    }
    empty
}

/// Takes the entry of a thread that waited, and has been claimed, out of the MVar's queue.
pub(super) unsafe fn leave(hec: &mut Hec, t: Tso) {
    let m = Closure(t.obj().block_info);
    let mut locked = Locked::new(m);
    locked.dirty(hec);
    Closure(t.obj().link.0).set_word(MVAR_QUEUE_TSO, end().0);
    t.obj().link = Tso::end();
    // What no thread waits with any more need not be kept at the front.
    while locked.head() != end() && locked.head().word(MVAR_QUEUE_TSO) == end().0 {
        locked.drop_first();
    }
}

/// Makes a thread wait for an empty port. False if it need not, or must not because another
/// does already: its operation then says so.
/// # Safety
/// As for [`park`].
pub(super) unsafe fn park_at_port(hec: &mut Hec, t: Tso, port: Closure) -> bool {
    let mut locked = Locked::new(port);
    if locked.is_full() || locked.head() != end() {
        return false;
    }
    locked.dirty(hec);
    port.set_word(MVAR_HEAD, t.0);
    park::block(hec, t, BlockedOnIOCompletion, port.0);
    true
}

/// Puts a value in a port, or hands it to the thread that waits. False (0) if it is full.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_port_write(hec: &mut Hec, port: Closure, value: Closure) -> usize {
    let mut locked = Locked::new(port);
    if locked.is_full() {
        return 0;
    }
    locked.dirty(hec);
    let reader = Tso(locked.head().0);
    port.set_word(MVAR_HEAD, end().0);
    let waits = |why, on| why == BlockedOnIOCompletion && on == port.0;
    let claim = if reader.is_end() { None } else { park::claim(hec, reader, waits) };
    match claim {
        Some(c) => {
            fill(hec, &c, value);
            c.go_on(hec);
        }
        None => locked.set_value(value),
    }
    1
}

/// Takes the value out of a port. The empty mark if there is none.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_port_take(port: Closure) -> Closure {
    let locked = Locked::new(port);
    let value = port.field(MVAR_VALUE);
    locked.set_value(end());
    value
}

/// Takes the reader of a port, which has been claimed, away.
pub(super) unsafe fn leave_port(t: Tso) {
    let port = Closure(t.obj().block_info);
    let locked = Locked::new(port);
    if locked.head() == t.closure() {
        port.set_word(MVAR_HEAD, end().0);
    }
}
