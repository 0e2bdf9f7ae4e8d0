//! Threads that wait for time or descriptors, callbacks for descriptors, and closing descriptors.
//!
//! *Protocol* of a close: a number is *closing* from [`hec_begin_close`] to [`hec_end_close`], while the close action
//! runs.
//! 1. At the beginning the number is taken from the poller, and the nodes that wait for it from the number.
//! 2. Threads that want to wait meanwhile are parked, and the number is not registered.
//! 3. At the end the nodes of step 1 fire with the status *closed*, so their threads do not use the number again. Those
//!    of step 2 are registered: they wait for what the number now means.
//!
//! *Locking*: the lock of the loop that is the descriptor's home (`home.rs`).
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::events::descriptors;
use crate::events::descriptors::Descriptor;
use crate::events::event_loop::{event_loop, EventLoop};
use crate::events::loop_state::{microseconds_of_wait, set_status, waiter, State, CLOSED, READY};
use crate::events::poller::Interest;
use crate::events::timer_wheel::NONE;
use crate::events::wait_nodes::{Handle, Kind};
use crate::hec::wait::Wait;
use crate::hec::Hec;
use crate::observe::eventlog::waits::{wait_began, Awaited};
use crate::sched::{handoff, settings};
use crate::thread::park::block;

/// Runs `f` with the lock of the descriptor's home, which is loop `no` if it had none. `None` if there cannot be such a
/// descriptor.
unsafe fn with_home<R>(
    no: usize,
    fd: i32,
    f: impl FnOnce(&'static EventLoop, &mut State, &'static Descriptor) -> R,
) -> Option<R> {
    let d = descriptors::of(fd)?;
    let (home, mut st) = d.home.locked(no, |home| event_loop(home).lock());
    let l = event_loop(home);
    let result = f(l, &mut st, d);
    if !d.registered.get() && d.closing.get() == 0 && d.first.get() == NONE {
        d.home.leave();
    }
    l.publish(&st);
    drop(st);
    if home != no {
        l.flush();
        handoff::ensure_served(home);
    }
    Some(result)
}

/// Moves the registration of a descriptor to the HEC that now waits for it, loop `no`: its thread has moved there, and
/// the loop that wakes a thread also decides where it runs. Does nothing while other threads wait for it elsewhere.
unsafe fn bring_home(no: usize, fd: i32) {
    let Some((d, home)) = descriptors::of(fd).and_then(|d| Some((d, d.home.get()?))) else { return };
    if home == no {
        return;
    }
    let l = event_loop(home);
    let st = l.lock();
    if d.home.get() == Some(home) && d.first.get() == NONE && d.closing.get() == 0 {
        l.deregister(fd, d);
        d.home.leave();
    }
    drop(st);
}

/// Adds a node that waits for a descriptor to the loop that is its home. `drained`: an operation on the descriptor has
/// just failed because it would block. The error is the status of a wait that is over.
///
/// # Safety
/// The target fits the kind.
unsafe fn add(
    hec: &Hec,
    (l, st, d): (&EventLoop, &mut State, &'static Descriptor),
    (fd, want): (i32, Interest),
    node: (Kind, Closure),
    drained: bool,
) -> Result<u32, isize> {
    let unverified = d.registered.get();
    if d.closing.get() == 0 && !unverified {
        l.register(fd, d, want)?;
    } else if unverified && (!d.interest.get().contains(want) || l.no() != hec.no as usize) {
        // The holder of another HEC might not look for long.
        st.counts.verified += 1;
        l.verify(fd, d, want)?;
    }
    st.counts.waits += 1;
    wait_began(hec.no, || {
        let (read, write) = (want.contains(Interest::READ), want.contains(Interest::WRITE));
        (waiter(node.0, node.1), Awaited::Descriptor { fd, read, write })
    });
    let index = st.new_node(node.0, node.1, fd, want.0);
    st.link(index, d);
    if unverified {
        let missed = d.missed.replace(d.missed.get().without(want)).intersects(want);
        let deadline = st.unverified.add(st.nodes.handle(index), drained && !missed && l.has_edges());
        l.on_deadline(st, deadline);
    }
    Ok(index)
}

/// Parks a thread that waits for time or a descriptor. Returns false if it need not wait: its status says why.
/// # Safety
/// `t` is at rest, with a frame for the status on top, and `hec` owns it.
pub unsafe fn park(hec: &mut Hec, t: Tso, wait: Wait) -> bool {
    if wait.why == BlockedOnDelay {
        return park_until(hec, t, wait.on as isize);
    }
    let (fd, want) = (wait.on as u32 as i32, Interest((wait.on >> 32) as u8));
    let limit = microseconds_of_wait(t);
    // `errno` is the thread's own. Its next wait must not see it again.
    let drained = std::mem::take(&mut t.obj().saved_errno) == libc::EAGAIN as u32;
    bring_home(hec.no as usize, fd);
    let parked = with_home(hec.no as usize, fd, |l, st, d| {
        let index = add(hec, (l, st, d), (fd, want), (Kind::Thread, t.closure()), drained)?;
        if limit >= 0 {
            l.set_timer(st, index, limit);
        }
        block(hec, t, wait.why, st.nodes.handle(index).0);
        Ok(())
    });
    let status = match parked.unwrap_or(Err(libc::EBADF as isize)) {
        Ok(()) => return true,
        // As poll(2) says of a file, and the stock runtime where it uses that.
        Err(status) if status == libc::EPERM as isize && !settings().threaded => READY,
        Err(status) => status,
    };
    set_status(t, status);
    false
}

unsafe fn park_until(hec: &mut Hec, t: Tso, micros: isize) -> bool {
    if micros <= 0 {
        set_status(t, READY);
        return false;
    }
    let l = event_loop(hec.no as usize);
    let mut st = l.lock();
    let handle = l.add_timer(&mut st, Kind::Thread, t.closure(), micros);
    block(hec, t, BlockedOnDelay, handle.0);
    true
}

/// Withdraws a thread that waits here. One operation, whatever it waits for.
/// # Safety
/// The caller has claimed the thread, or no other HEC can.
pub unsafe fn withdraw(t: Tso, wait: Wait) {
    let handle = Handle(wait.on);
    let l = event_loop(handle.loop_no());
    let mut st = l.lock();
    if let Some(index) = st.nodes.find(handle) {
        debug_assert_eq!(st.nodes.node(index).target, t.closure());
        st.remove(index);
        l.publish(&st);
    }
}

/// Registers a callback for the next event of a descriptor. Returns the key, or minus an error number.
/// # Safety
/// Called from Cmm with Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_register_fd(hec: &mut Hec, events: usize, fd: usize, callback: Closure) -> isize {
    let (fd, want) = (fd as i32, Interest(events as u8));
    bring_home(hec.no as usize, fd);
    let added = with_home(hec.no as usize, fd, |l, st, d| {
        let index = add(hec, (l, st, d), (fd, want), (Kind::Callback, callback), false)?;
        Ok(st.nodes.handle(index))
    });
    match added.unwrap_or(Err(libc::EBADF as isize)) {
        Ok(handle) => handle.0 as isize,
        Err(status) => -status,
    }
}

/// A close of the descriptor begins.
/// # Safety
/// The caller holds `hec`.
#[no_mangle]
pub unsafe extern "C" fn hec_begin_close(hec: &mut Hec, fd: usize) {
    let fd = fd as i32;
    with_home(hec.no as usize, fd, |l, st, d| {
        d.closing.set(d.closing.get() + 1);
        l.deregister(fd, d);
        let mut closed = d.closed.take();
        while d.first.get() != NONE {
            let index = d.first.get();
            closed.push(st.nodes.handle(index));
            st.unlink(index);
        }
        d.closed.set(closed);
    });
}

/// The close of the descriptor is over.
/// # Safety
/// Called from Cmm with Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_end_close(hec: &mut Hec, fd: usize) {
    let fd = fd as i32;
    with_home(hec.no as usize, fd, |l, st, d| {
        for handle in d.closed.take() {
            if let Some(index) = st.nodes.find(handle) {
                st.fire(hec, index, CLOSED);
            }
        }
        d.closing.set(d.closing.get() - 1);
        if d.closing.get() == 0 && d.first.get() != NONE {
            l.register_again(hec, st, fd, d);
        }
    });
}
