//! Packets from other processing elements (PEs): how a HEC comes to handle them, and how an idle one asks for work.
//!
//! The layer above receives packets, and keeps them in a queue of its own. It has no HEC, and handling most packets
//! needs one.
//!
//! *Protocol*
//! 1. [`request_handling`] chooses a HEC and sends it a static closure as a message. It takes an idle HEC, which then
//!    gets a worker like for any message; or else the one that was chosen longest ago, whose running thread is asked to
//!    return to the scheduler.
//! 2. The holder reads its messages between two threads, and [`handle`]s packets: all threads of that HEC are at rest.
//! 3. If the HEC does not come, because its thread is in an unsafe call, the layer above asks again, and another one is
//!    chosen. The packets are bound to no HEC.
//! 4. A holder without runnable threads begins work that was placed here ([`begin_placed`]), before any spark. If it
//!    finds nothing to run it says so ([`nothing_to_run`]) before it releases its HEC.
//!
//! In a program that runs by itself nobody sets [`Callbacks`], and nothing happens.
use crate::abi::Tso;
use crate::hec::{self, Hec};
use crate::static_closure;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// What the layer above does.
pub struct Callbacks {
    /// A full collection has left this number of bytes in generations.
    pub after_full_collection: fn(usize),
    /// Handles packets. It neither blocks nor evaluates; it may make threads, and put them on the HEC's queue.
    pub handle: unsafe fn(&mut Hec),
    /// Makes a thread for work that was placed on this process. False if there is none.
    pub begin_placed: unsafe fn(&mut Hec) -> bool,
    pub nothing_to_run: fn(),
    /// The thread's lenient evaluation has been frozen, which may have been for another process.
    pub frozen: unsafe fn(Tso),
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();
/// 1 if other processes are served. Cmm reads it.
#[no_mangle]
static hec_has_processes: AtomicUsize = AtomicUsize::new(0);
/// The HEC to be chosen next, if none is idle.
static NEXT: AtomicUsize = AtomicUsize::new(0);

pub fn init(callbacks: Callbacks) {
    let _ = CALLBACKS.set(callbacks);
    hec_has_processes.store(1, Ordering::Relaxed);
}

/// Are there other processes?
pub fn are_served() -> bool {
    hec_has_processes.load(Ordering::Relaxed) != 0
}

/// Has a HEC handle packets. `again`: an earlier request may not have been answered, so a HEC that has messages to read
/// is not asked.
pub fn request_handling(again: bool) {
    let enabled = hec::enabled();
    let next = NEXT.fetch_add(1, Ordering::Relaxed) % enabled;
    let no = (0..enabled).find(|&no| hec::is_idle(no)).unwrap_or(next);
    // SAFETY: HECs are never freed, and any OS thread may use the mailbox.
    let hec = unsafe { &*hec::address(no) };
    if !(again && hec.has_messages()) {
        hec.post_message(static_closure!(hec_PACKETS_closure));
    }
}

/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub(super) unsafe fn handle(hec: &mut Hec) {
    if let Some(callbacks) = CALLBACKS.get() {
        (callbacks.handle)(hec);
    }
}

/// Has an idle HEC look for work, if there is one.
pub fn wake_idle() {
    if let Some(no) = (0..hec::enabled()).find(|&no| hec::is_idle(no)) {
        // SAFETY: HECs are never freed, and any OS thread may use the mailbox.
        unsafe { &*hec::address(no) }.post_message(static_closure!(hec_PACKETS_closure));
    }
}

/// Puts a thread for placed work on the queue. False if there is none.
/// # Safety
/// The caller holds the HEC, which has no runnable threads.
pub(super) unsafe fn begin_placed(hec: &mut Hec) -> bool {
    CALLBACKS.get().is_some_and(|callbacks| (callbacks.begin_placed)(hec))
}

/// A full collection has left `live` bytes in generations. The world is stopped.
pub(super) fn after_full_collection(live: usize) {
    if let Some(callbacks) = CALLBACKS.get() {
        (callbacks.after_full_collection)(live);
    }
}

/// The calling task holds a HEC without anything to run.
pub(super) fn nothing_to_run() {
    if let Some(callbacks) = CALLBACKS.get() {
        (callbacks.nothing_to_run)();
    }
}

/// A lenient thread's work has been frozen.
pub(super) unsafe fn on_frozen(t: Tso) {
    if let Some(callbacks) = CALLBACKS.get() {
        (callbacks.frozen)(t);
    }
}
