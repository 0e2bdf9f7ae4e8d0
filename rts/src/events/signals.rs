//! Unix signals. `base` has the table of Haskell handlers; the runtime installs the C handlers.
//!
//! *Protocol*
//!
//! 1. The C handler puts the signal into a ring, and makes the holder of the first HEC look there. If no task holds
//!    that HEC, it wakes the task that watches its events, and the ticker, which sends a worker.
//! 2. The holder of the first HEC starts a thread for each signal. If `base`'s event manager is used, the C handler
//!    sends the signal to that in the threaded way.
//! 3. If the ring is full, a signal is kept once, as the system does with blocked ones. Its Haskell handler runs after
//!    the last of them came. (The stock runtime ends the program.)
//! 4. The child of a fork holds signals until it can handle them (`held_signals.rs`).
//!
//! *Locking*: the ring has many writers, the C handlers on any OS thread, and one reader, the holder of the first HEC.
//! A writer takes a slot by a compare-and-swap on the index and publishes it by the slot's sequence number. A handler
//! that interrupts another between the two takes the next slot; the reader stops at the unpublished one. Actions have a
//! lock.
//!
//! *Checked by* `events/tests.rs`.
use crate::base::fatal;
use crate::base::os_thread::with_all_blocked;
use crate::base::poison::unpoisoned;
use crate::events::held_signals::Held;
use crate::events::io_manager;
use crate::hec::Hec;
use crate::sched::handoff::TICKER_SLEEP;
use crate::sched::{event_poll, interrupt};
use crate::thread::create::{apply, boxed, new_io_thread};
use crate::{info, static_closure};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

const STG_SIG_DFL: i32 = -1;
const STG_SIG_IGN: i32 = -2;
const STG_SIG_ERR: i32 = -3;
const STG_SIG_HAN: i32 = -4;
const STG_SIG_RST: i32 = -5;
const SIGNALS: usize = 65;
/// The system's data about a signal.
type Info = [u8; size_of::<libc::siginfo_t>()];
/// Signals that the ring can hold: more than a program gets between two threads.
pub(super) const RING_SIZE: usize = 1024;

/// The current action of each signal: one of the codes above.
static ACTIONS: Mutex<[i32; SIGNALS]> = Mutex::new([STG_SIG_DFL; SIGNALS]);
/// Installed handlers, without the runtime's own.
static USER_HANDLERS: AtomicUsize = AtomicUsize::new(0);
static THREADED: AtomicBool = AtomicBool::new(false);
/// Haskell's handlers run in `base`'s event manager.
static TO_BASE: AtomicBool = AtomicBool::new(false);
/// Initialised before any handler is installed.
static HELD: LazyLock<Held<Info>> = LazyLock::new(|| Held::new(SIGNALS, NO_INFO));
const NO_INFO: Info = [0; size_of::<Info>()];

struct Slot {
    /// The number of signals put here so far. Equal to the round of a writer: the slot is free for it. One more: it is
    /// published.
    sequence: AtomicUsize,
    signal: UnsafeCell<(i32, Info)>,
}

struct Ring {
    slots: [Slot; RING_SIZE],
    written: AtomicUsize,
    read: AtomicUsize,
    /// Signals that found the ring full, by bit `number - 1`: those that a handler has taken, and those whose info is
    /// written. The info is that of the first of each.
    taken: AtomicU64,
    overflow: AtomicU64,
    overflow_infos: UnsafeCell<[Info; SIGNALS]>,
}
// SAFETY: the index `written` and the bits of `taken` give each writer a place of its own; the sequence numbers and the
// bits of `overflow` order it with the one reader.
unsafe impl Sync for Ring {}

impl Ring {
    /// # Safety
    /// Called by a signal handler.
    unsafe fn put(&self, signal: i32, info: &Info) {
        let mut at = self.written.load(Ordering::Relaxed);
        while at.wrapping_sub(self.read.load(Ordering::Acquire)) < RING_SIZE {
            match self.written.compare_exchange(at, at + 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    let slot = &self.slots[at % RING_SIZE];
                    *slot.signal.get() = (signal, *info);
                    return slot.sequence.store(at + 1, Ordering::Release);
                }
                Err(now) => at = now,
            }
        }
        let bit = 1 << (signal - 1);
        if self.taken.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            (*self.overflow_infos.get())[signal as usize] = *info;
            self.overflow.fetch_or(bit, Ordering::Release);
        }
    }

    /// # Safety
    /// Called by the one reader.
    unsafe fn take(&self) -> Option<(i32, Info)> {
        let at = self.read.load(Ordering::Relaxed);
        if at != self.written.load(Ordering::Acquire) {
            let slot = &self.slots[at % RING_SIZE];
            if slot.sequence.load(Ordering::Acquire) != at + 1 {
                // Its handler has not published it; it will ask for another look.
                return None;
            }
            let signal = *slot.signal.get();
            self.read.store(at + 1, Ordering::Release);
            return Some(signal);
        }
        let overflow = self.overflow.load(Ordering::Acquire);
        if overflow == 0 {
            return None;
        }
        let signal = overflow.trailing_zeros() as usize + 1;
        let info = (*self.overflow_infos.get())[signal];
        // A signal that comes just before this needs no handler of its own: this one has not started yet.
        self.overflow.fetch_and(!(1 << (signal - 1)), Ordering::AcqRel);
        self.taken.fetch_and(!(1 << (signal - 1)), Ordering::AcqRel);
        Some((signal as i32, info))
    }

    fn is_empty(&self) -> bool {
        self.read.load(Ordering::Relaxed) == self.written.load(Ordering::Acquire)
            && self.overflow.load(Ordering::Acquire) == 0
    }

    fn clear(&self) {
        self.read.store(self.written.load(Ordering::Acquire), Ordering::Release);
        self.overflow.store(0, Ordering::Release);
        self.taken.store(0, Ordering::Release);
    }
}

static PENDING: Ring = Ring {
    slots: [const { Slot { sequence: AtomicUsize::new(0), signal: UnsafeCell::new((0, NO_INFO)) } }; RING_SIZE],
    written: AtomicUsize::new(0),
    read: AtomicUsize::new(0),
    taken: AtomicU64::new(0),
    overflow: AtomicU64::new(0),
    overflow_infos: UnsafeCell::new([NO_INFO; SIGNALS]),
};

/// Set if `base` wants no `SIGCHLD` for stopped children.
#[no_mangle]
pub static mut nocldstop: i32 = 0;

extern "C" fn on_signal(signal: i32, si: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system passes a siginfo; errno is restored below.
    unsafe {
        let errno = *libc::__errno_location();
        let info = *(si as *const Info);
        if !HELD.keep(signal, info, |signal, info| deliver(signal, &info)) {
            deliver(signal, &info);
        }
        *libc::__errno_location() = errno;
    }
}

/// Starts the signal's Haskell handler. Async-signal-safe.
/// # Safety
/// In the non-threaded way all signals are blocked.
unsafe fn deliver(signal: i32, info: &Info) {
    if TO_BASE.load(Ordering::Relaxed) {
        io_manager::send_signal(signal, info);
        return;
    }
    PENDING.put(signal, info);
    event_poll::set_signals(true);
    let hec = &*crate::hec::address(0);
    hec.context_switch.store(1, Ordering::Relaxed);
    hec.interrupt();
    event_poll::wake(0);
    if THREADED.load(Ordering::Relaxed) {
        TICKER_SLEEP.wake();
    }
}

/// Installs, ignores or resets a signal's action. Returns the code of the previous one. The child of a fork can handle
/// signals when its main thread has set the action for an interrupt here.
/// # Safety
/// `mask` is null or a set of signals to block in the handler.
#[no_mangle]
pub unsafe extern "C" fn stg_sig_install(signal: i32, code: i32, mask: *const libc::sigset_t) -> i32 {
    let previous = install(signal, code, mask);
    if signal == libc::SIGINT && previous != STG_SIG_ERR {
        deliver_held();
    }
    previous
}

/// Delivers the held signals to the child of a fork, which is ready for them.
fn deliver_held() {
    with_all_blocked(|_| {
        // SAFETY: all signals are blocked; SIG_DFL is a valid action.
        HELD.end(|signal, info| unsafe {
            // A one-time handler is used up.
            if unpoisoned(ACTIONS.lock())[signal as usize] == STG_SIG_RST {
                set(signal, libc::SIG_DFL);
            }
            deliver(signal, &info);
        })
    });
}

unsafe fn install(signal: i32, code: i32, mask: *const libc::sigset_t) -> i32 {
    if signal <= 0 || signal as usize >= SIGNALS {
        return STG_SIG_ERR;
    }
    let mut actions = unpoisoned(ACTIONS.lock());
    let previous = actions[signal as usize];
    let mut action: libc::sigaction = std::mem::zeroed();
    libc::sigfillset(&mut action.sa_mask);
    if !mask.is_null() && THREADED.load(Ordering::Relaxed) {
        action.sa_mask = *mask;
    }
    match code {
        STG_SIG_IGN => action.sa_sigaction = libc::SIG_IGN,
        STG_SIG_DFL => action.sa_sigaction = libc::SIG_DFL,
        STG_SIG_HAN | STG_SIG_RST => {
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            if code == STG_SIG_RST {
                action.sa_flags |= libc::SA_RESETHAND;
            }
        }
        _ => return STG_SIG_ERR,
    }
    if signal == libc::SIGCHLD && nocldstop != 0 {
        action.sa_flags |= libc::SA_NOCLDSTOP;
    }
    if libc::sigaction(signal, &action, std::ptr::null_mut()) != 0 {
        // `unix` takes this code for the previous handler, so nothing else tells the user.
        fatal::print_message("sigaction");
        return STG_SIG_ERR;
    }
    let is_handler = |c: i32| c == STG_SIG_HAN || c == STG_SIG_RST;
    // The handler that `main` gets for SIGINT is not a user handler.
    if is_handler(code) && !is_handler(previous) {
        USER_HANDLERS.fetch_add(1, Ordering::Relaxed);
    } else if !is_handler(code) && is_handler(previous) {
        USER_HANDLERS.fetch_sub(1, Ordering::Relaxed);
    }
    actions[signal as usize] = code;
    previous
}

/// Starts a thread for every pending signal. True if there was one.
/// # Safety
/// The HEC is held.
pub unsafe fn start_handlers(hec: &mut Hec) -> bool {
    let signals = take_pending();
    for (signal, bytes) in &signals {
        // runHandlersPtr takes ownership of the buffer, and frees it.
        let buffer = libc::malloc(bytes.len());
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer as *mut u8, bytes.len());
        let pointer = boxed(hec, info!(base_GHCziPtr_Ptr_con_info), buffer as usize);
        let number = boxed(hec, info!(base_GHCziInt_I32zh_con_info), *signal as isize as usize);
        let run = static_closure!(base_GHCziConcziSignal_runHandlersPtr_closure);
        let call = apply(hec, run, &[pointer, number]);
        let t = new_io_thread(hec, call, &crate::sched::settings().stack);
        hec.run_queue.push_back(&mut hec.remembered, t);
    }
    !signals.is_empty()
}

/// Takes all pending signals. Another HEC may do so on behalf of the first, so there is a lock for the reader.
fn take_pending() -> Vec<(i32, Info)> {
    static READER: Mutex<()> = Mutex::new(());
    let _reader = unpoisoned(READER.lock());
    // SAFETY: the lock makes this the one reader.
    std::iter::from_fn(|| unsafe { PENDING.take() }).collect()
}

/// Is there a signal whose handler has not been started?
fn has_pending() -> bool {
    !PENDING.is_empty()
}

/// Runs `fork` with signals blocked on this OS thread and with the actions locked. In the child, signals are held from
/// then on.
/// # Safety
/// The world is stopped.
pub unsafe fn fork_with_signals_blocked(fork: impl FnOnce() -> libc::pid_t) -> libc::pid_t {
    with_all_blocked(|_| {
        let with_locked = || {
            let _actions = unpoisoned(ACTIONS.lock());
            let _mask = unpoisoned(SAVED_MASK.lock());
            fork()
        };
        let pid = with_locked();
        if pid == 0 {
            // Pending signals were meant for the parent.
            PENDING.clear();
            HELD.begin();
            // Whatever the parent does on an interrupt, the child's main thread will get it.
            install(libc::SIGINT, STG_SIG_RST, std::ptr::null());
        }
        pid
    })
}

/// Can a signal start a handler?
pub fn has_user_handlers() -> bool {
    USER_HANDLERS.load(Ordering::Relaxed) > 0
}

/// Sleeps until a signal comes, or a request to end all threads.
pub fn wait() {
    with_all_blocked(|old| {
        while !has_pending() && !interrupt::is_requested() {
            // SAFETY: sigsuspend atomically sets the mask of this thread.
            interrupt::sleep_unless_requested(|requested| requested || unsafe { libc::sigsuspend(old) } == 0);
        }
    })
}

/// Sleeps for this time, or for ever, but only until a signal comes.
pub fn sleep(time: Option<Duration>) {
    with_all_blocked(|old| {
        interrupt::sleep_unless_requested(|requested| {
            let time = if requested || has_pending() { Some(Duration::ZERO) } else { time };
            let time = time.map(|t| libc::timespec {
                tv_sec: t.as_secs() as libc::time_t,
                tv_nsec: t.subsec_nanos() as libc::c_long,
            });
            let time = time.as_ref().map_or(std::ptr::null(), |t| t as *const libc::timespec);
            // SAFETY: no descriptors are passed.
            unsafe { libc::ppoll(std::ptr::null_mut(), 0, time, old) }
        })
    });
}

/// Installs the handlers of the runtime's own signals. `to_base`: the signals go to `base`'s event manager.
/// # Safety
/// Called once at start.
pub unsafe fn init(threaded: bool, to_base: bool, install: bool) {
    THREADED.store(threaded, Ordering::Relaxed);
    TO_BASE.store(to_base, Ordering::Relaxed);
    // A signal handler must not be the first to use it.
    LazyLock::force(&TICKER_SLEEP);
    LazyLock::force(&HELD);
    if install {
        set(libc::SIGPIPE, nothing as *const () as usize);
    }
    // Interrupts the system call of an interruptible foreign call. Has no other effect.
    set(libc::SIGVTALRM, nothing as *const () as usize);
}

extern "C" fn nothing(_signal: i32) {}

unsafe fn set(signal: i32, handler: usize) {
    let mut action: libc::sigaction = std::mem::zeroed();
    libc::sigemptyset(&mut action.sa_mask);
    action.sa_sigaction = handler;
    libc::sigaction(signal, &action, std::ptr::null_mut());
}

/// Resets all handled signals to the system's default, in a child or at the end.
pub fn reset() {
    let mut actions = unpoisoned(ACTIONS.lock());
    for signal in 1..SIGNALS {
        if actions[signal] == STG_SIG_HAN || actions[signal] == STG_SIG_RST {
            // SAFETY: SIG_DFL is a valid action.
            unsafe { set(signal as i32, libc::SIG_DFL) };
            actions[signal] = STG_SIG_DFL;
        }
    }
    USER_HANDLERS.store(0, Ordering::Relaxed);
}

/// The mask before [`blockUserSignals`]. It is kept afterwards: a child made by vfork shares this memory, and restores
/// the mask before its parent does.
static SAVED_MASK: Mutex<Option<libc::sigset_t>> = Mutex::new(None);

/// Blocks all signals of this thread, around the fork of a child process in `process`.
#[no_mangle]
pub extern "C" fn blockUserSignals() {
    // SAFETY: changes only the mask of the calling thread.
    unsafe {
        let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        *unpoisoned(SAVED_MASK.lock()) = Some(old);
    }
}

#[no_mangle]
pub extern "C" fn unblockUserSignals() {
    if let Some(old) = *unpoisoned(SAVED_MASK.lock()) {
        // SAFETY: as above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut()) };
    }
}

/// The signal of the ticker. `process` resets it in children.
#[no_mangle]
pub extern "C" fn rtsTimerSignal() -> i32 {
    if THREADED.load(Ordering::Relaxed) {
        libc::SIGALRM
    } else {
        libc::SIGVTALRM
    }
}

#[no_mangle]
pub extern "C" fn startTimer() {
    super::ticker::pause(false);
}

#[no_mangle]
pub extern "C" fn stopTimer() {
    super::ticker::pause(true);
}

/// Raises a signal in the calling thread.
#[no_mangle]
pub extern "C" fn genericRaise(signal: i32) -> i32 {
    // SAFETY: any number may be passed.
    unsafe { libc::raise(signal) }
}
