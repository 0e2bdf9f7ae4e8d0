//! MVars and I/O ports: the slow paths, taken when a thread waits.
//!
//! *Protocol*: an MVar is {head, tail, value}; the value END_TSO_QUEUE means "empty".
//! 1. While the MVar is empty, takers and readers wait in its queue. While it is full, putters do.
//! 2. Queue entries {link, thread} are served first in, first out: one operation wakes one thread.
//! 3. Readers stand at the front, and the next put serves all of them. So a reader sees the value that a taker takes.
//! 4. A waiting thread has a frame on top of its stack that would repeat the operation: stg_block_takemvar {mvar},
//!    stg_block_readmvar {mvar} or stg_block_putmvar {mvar, value}. The frame runs only if an exception freezes the
//!    thread's work and another thread resumes that work later.
//! 5. The thread that completes the operation replaces the frame by the result and wakes the waiter.
//! 6. `TSO.link` of a waiting thread is its entry. A thread that stops waiting clears the entry's thread field.
//!    The entry is removed when it reaches the front. The next waiter uses it again if it is last, so a thread that
//!    times out repeatedly does not make the queue grow.
//!
//! *Convoys*: an MVar used as a lock can form a *convoy*. A release hands the MVar to a thread that does not run yet.
//! Every thread that wants the MVar meanwhile must queue. Threads that rarely met before then pay a context switch each
//! time. Two rules prevent this where there are several HECs:
//! - A taker first spins for a moment ([`crate::base::adaptive_spin`]).
//! - A thread that receives an MVar for which others still wait runs at once, and so do the threads that it hands the
//!   MVar on to. Then the lock is soon free. The thread that handed the MVar on runs second.
//!
//! *Invariants*
//! - A header MVAR_DIRTY means that the MVar is young or in the remembered set. An MVAR_CLEAN MVar becomes MVAR_DIRTY
//!   before a pointer is stored in it. Storing the empty mark needs no barrier.
//! - An I/O port is an MVar with at most one reader. The head of a port is the reader's TSO itself. Its reader is
//!   never treated as deadlocked.
//!
//! *Locking*: With several HECs, a thread that works on an MVar holds the lock in its header
//! ([`crate::sync::header_lock`]). Only the value may be read without it. Cmm also takes the lock and calls Rust with
//! the lock held: it passes the MVar's old header as an argument, and Rust unlocks. A waker claims a waiter under the
//! lock. If the claim fails, an exception is removing the waiter, and the waker skips its entry.
//!
//! *Checked by*: the unit tests in `rts/src/sync/tests.rs`.
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

/// An MVar that the caller has locked (if there are several HECs). Dropping this value unlocks it.
struct Locked {
    m: Closure,
    /// The header that unlocking stores.
    info: Info,
}

impl Locked {
    unsafe fn new(m: Closure) -> Locked {
        let info = if many() { hec_lock_header(m) } else { m.info() };
        Locked { m, info }
    }
    /// Marks the MVar dirty. Call this before storing a pointer.
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

    /// Removes the first entry from the queue; the next entry becomes the first.
    unsafe fn drop_first(&self) {
        let link = self.head().word(MVAR_QUEUE_LINK);
        self.m.set_word(MVAR_HEAD, link);
        if link == end().0 {
            self.m.set_word(MVAR_TAIL, link);
        }
    }

    /// Claims the first thread in the queue that still waits, and removes its entry.
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

    /// Puts a value in the empty MVar, or hands it to the threads that wait.
    unsafe fn put(&mut self, hec: &mut Hec, value: Closure) {
        self.dirty(hec);
        while let Some(c) = self.next_waiter(hec) {
            let reads = c.why == BlockedOnMVarRead;
            fill(hec, &c, value);
            if reads {
                c.resume(hec);
                continue;
            }
            if many() && (self.head() != end() || hec.handed == Handed::Running) {
                return c.resume_next(hec);
            }
            return c.resume(hec);
        }
        self.set_value(value);
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: the MVar is live, because no collection happens while it is locked.
        unsafe { header(self.m).unlock(self.info.0) }
    }
}

fn why_mvar(why: usize) -> bool {
    why == BlockedOnMVar || why == BlockedOnMVarRead
}

/// Locks an MVar or a port. Returns the header it had.
/// # Safety
/// `m` is an MVar or a port, and there are several HECs.
#[no_mangle]
pub unsafe extern "C" fn hec_lock_header(m: Closure) -> Info {
    Info(header(m).lock(info!(stg_WHITEHOLE_info).0))
}

/// Puts a thread in the MVar's queue; `why` is BlockedOnMVar or BlockedOnMVarRead. Returns false if the thread's
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

/// Gives a taker or reader its value, so that it can resume.
unsafe fn fill(hec: &mut Hec, c: &Claim, value: Closure) {
    let stack = c.thread.obj().stackobj;
    dirty_stack(hec, stack);
    let frame = Frame::youngest(stack);
    let done = Frame(frame.0.add(BLOCK_TAKE_WORDS));
    set_top(c.thread, done, &[info!(stg_ret_p_info).0, value.0]);
}

/// Spins until an empty MVar has a value, if one may come soon: another HEC is running, and no thread waits yet.
/// Returns 1 if the MVar has a value.
/// # Safety
/// Called from Cmm; there are several HECs.
#[no_mangle]
pub unsafe extern "C" fn hec_await_value(hec: &mut Hec, m: Closure) -> usize {
    if hec::idle_count() + 1 >= hec::enabled() || m.field(MVAR_HEAD) != end() {
        return 0;
    }
    let value = &*(m.slot(MVAR_VALUE) as *const AtomicUsize);
    hec.value_spin.spin_until(VALUE_SPINS, || value.load(Ordering::Relaxed) != end().0) as usize
}

/// The most polls of the value: well under a microsecond, which is several times as long as a lock is usually held.
const VALUE_SPINS: usize = 24;

/// The value has been taken and the queue is not empty: completes the operation of the next putter.
/// # Safety
/// Called from Cmm with the MVar locked; `info` is the header that the MVar had.
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
    c.resume(hec);
}

/// Puts a value in an empty MVar, or hands it to the threads that wait.
/// # Safety
/// As for [`hec_mvar_taken`].
#[no_mangle]
pub unsafe extern "C" fn hec_mvar_put(hec: &mut Hec, m: Closure, value: Closure, info: Info) {
    Locked { m, info }.put(hec, value);
}

/// Puts a value from outside Haskell. Returns false if the MVar is full.
/// # Safety
/// `m` is an MVar, and the caller holds the HEC.
pub unsafe fn try_put_mvar(hec: &mut Hec, m: Closure, value: Closure) -> bool {
    let mut locked = Locked::new(m);
    let empty = !locked.is_full();
    if empty {
        locked.put(hec, value);
    }
    empty
}

/// Takes the entry of a claimed thread out of the MVar's queue.
pub(super) unsafe fn leave(hec: &mut Hec, t: Tso) {
    let m = Closure(t.obj().block_info);
    let mut locked = Locked::new(m);
    locked.dirty(hec);
    Closure(t.obj().link.0).set_word(MVAR_QUEUE_TSO, end().0);
    t.obj().link = Tso::end();
    // Entries without a thread need not stay at the front.
    while locked.head() != end() && locked.head().word(MVAR_QUEUE_TSO) == end().0 {
        locked.drop_first();
    }
}

/// Makes a thread wait for an empty port. Returns false if the port is full or has another reader; the thread's
/// operation then reports this.
/// # Safety
/// As for [`park()`].
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

/// Puts a value in a port, or hands it to the thread that waits. Returns 0 if the port is full.
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
            c.resume(hec);
        }
        None => locked.set_value(value),
    }
    1
}

/// Takes the value out of a port. Returns the empty mark if there is none.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_port_take(port: Closure) -> Closure {
    let locked = Locked::new(port);
    let value = port.field(MVAR_VALUE);
    locked.set_value(end());
    value
}

/// Removes the claimed reader of a port.
pub(super) unsafe fn leave_port(t: Tso) {
    let port = Closure(t.obj().block_info);
    let locked = Locked::new(port);
    if locked.head() == t.closure() {
        port.set_word(MVAR_HEAD, end().0);
    }
}
