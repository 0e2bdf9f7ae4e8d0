//! The connection to `base`'s event manager (`GHC.Event`), which runs in Haskell: descriptors that it registers, and
//! reads messages from.
//!
//! *Protocol*: a message is one byte. It is a signal's number, followed by its `siginfo_t`, or a command. The values
//! are those of `GHC.Event.Control`.
//!
//! *Locking*: none. Descriptors are atomics, and writes to them are async-signal-safe.
use crate::abi::Closure;
use crate::hec::MAX_HECS;
use crate::sched::task::TaskRef;
use crate::sched::{handoff, hec, in_call, settings, task_table};
use crate::static_closure;
use crate::thread::create::new_io_thread;
use std::sync::atomic::{AtomicI32, Ordering};

const DIE: u8 = 0xfe;
const WAKEUP: u8 = 0xff;

/// The control descriptors of the manager of each HEC and of that for timers. `base` sets them, and changes those of
/// HECs when their number changes.
static CONTROL: [AtomicI32; MAX_HECS] = [const { AtomicI32::new(-1) }; MAX_HECS];
static TIMER_CONTROL: AtomicI32 = AtomicI32::new(-1);
/// An event descriptor that wakes the manager.
static WAKEUP_FD: AtomicI32 = AtomicI32::new(-1);

#[no_mangle]
pub extern "C" fn setIOManagerControlFd(hec: u32, fd: i32) {
    if let Some(control) = CONTROL.get(hec as usize) {
        control.store(fd, Ordering::Release);
    }
}

#[no_mangle]
pub extern "C" fn setTimerManagerControlFd(fd: i32) {
    TIMER_CONTROL.store(fd, Ordering::Release);
}

#[no_mangle]
pub extern "C" fn setIOManagerWakeupFd(fd: i32) {
    WAKEUP_FD.store(fd, Ordering::Release);
}

fn send(fd: i32, bytes: &[u8]) -> bool {
    // SAFETY: `write` is async-signal-safe; the buffer outlives the call.
    fd >= 0 && unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) } == bytes.len() as isize
}

/// Wakes the manager by its event descriptor.
#[no_mangle]
pub extern "C" fn ioManagerWakeup() {
    let fd = WAKEUP_FD.load(Ordering::Acquire);
    send(fd, &(WAKEUP as u64).to_ne_bytes());
}

/// Tells the managers to end.
pub fn stop_managers() {
    for fd in CONTROL.iter().chain([&TIMER_CONTROL]) {
        send(fd.swap(-1, Ordering::AcqRel), &[DIE]);
    }
    WAKEUP_FD.store(-1, Ordering::Release);
}

/// Starts the event manager of `base`, in a bound in-call.
/// # Safety
/// The caller is `me` and holds the HEC.
pub unsafe fn start(me: TaskRef) {
    run(me, static_closure!(base_GHCziConcziIO_ensureIOManagerIsRunning_closure));
}

/// Starts what programs see of `base`'s managers when the runtime's is used: a timer manager without a thread.
/// # Safety
/// As for [`start`].
pub unsafe fn start_own(me: TaskRef) {
    run(me, static_closure!(hecatonzmrts_IOManager_start_closure));
}

/// Gives the child of a fork managers of its own.
/// # Safety
/// As for [`start`]. The runtime's manager is used.
pub unsafe fn start_after_fork(me: TaskRef) {
    run(me, static_closure!(hecatonzmrts_IOManager_afterFork_closure));
}

unsafe fn run(me: TaskRef, action: Closure) {
    let t = new_io_thread(hec(), action, &settings().stack);
    in_call::run_to_end(me, t);
}

/// Starts the event manager of `base`, unless it runs. Only the threaded way has one.
/// # Safety
/// Called outside Haskell.
#[no_mangle]
pub unsafe extern "C" fn ioManagerStart() {
    let me = task_table::current();
    handoff::acquire(me);
    start(me);
    handoff::release(me);
}

/// Ends the event manager of `base`.
#[no_mangle]
pub extern "C" fn ioManagerDie() {
    stop_managers()
}

/// Sends a signal to the timer manager, which runs its handlers. Async-signal-safe. False if there is no manager.
pub fn send_signal(signal: i32, info: &[u8]) -> bool {
    let mut message = [0u8; 1 + size_of::<libc::siginfo_t>()];
    message[0] = signal as u8;
    message[1..].copy_from_slice(info);
    send(TIMER_CONTROL.load(Ordering::Acquire), &message)
}

/// In the child of a fork: the managers are gone, and `base` closes their descriptors.
pub fn after_fork() {
    for fd in CONTROL.iter().chain([&TIMER_CONTROL]) {
        fd.store(-1, Ordering::Release);
    }
    WAKEUP_FD.store(-1, Ordering::Release);
}
