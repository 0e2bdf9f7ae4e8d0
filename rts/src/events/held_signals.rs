//! Signals that reach the child of a fork before it can handle them.
//!
//! With the state that it inherits, the child would handle a signal for its parent. The table of handlers names the
//! parent's main thread for an interrupt, and the event manager that gets signals is gone. So signals are held until
//! the child's main thread has set the action for an interrupt.
//!
//! *Protocol*
//!
//! 1. The parent blocks all signals and forks. The child [begins](Held::begin) to hold signals, and unblocks them.
//! 2. The C handler [keeps](Held::keep) each signal once, as the system does with a blocked one.
//! 3. The child [ends](Held::end) the holding, and then takes the kept signals. A handler that kept a signal then
//!    checks whether signals are still held. If not, it takes the kept ones itself. A fence separates the two accesses
//!    on either side, so one side sees what the other has written. No signal is left behind.
//! 4. If two threads try to take the same signal, one gets it. If a signal finds its slot occupied, its handler is
//!    still to start: the thread that empties the slot starts it.
//!
//! *Checked by* `rts/tests/models/held_signals.rs`, which runs this file under loom.
use crate::base::atomics::{fence, AtomicBool, AtomicUsize, Ordering};
use std::cell::UnsafeCell;

const EMPTY: usize = 0;
const FULL: usize = 1;
/// Some thread writes or reads the info of the signal.
const IN_USE: usize = 2;

struct Slot<I> {
    state: AtomicUsize,
    info: UnsafeCell<I>,
}

pub struct Held<I> {
    holding: AtomicBool,
    /// A slot for each signal.
    slots: Box<[Slot<I>]>,
}

// SAFETY: only the thread that has set a slot to `IN_USE` uses its info.
unsafe impl<I: Send> Sync for Held<I> {}

impl<I: Copy> Held<I> {
    /// Slots for signals below `signals`.
    pub fn new(signals: usize, nothing: I) -> Held<I> {
        let slot = |_| Slot { state: AtomicUsize::new(EMPTY), info: UnsafeCell::new(nothing) };
        Held { holding: AtomicBool::new(false), slots: (0..signals).map(slot).collect() }
    }

    /// Starts holding signals. Drops what the child of an earlier fork may have kept.
    pub fn begin(&self) {
        self.slots.iter().for_each(|p| p.state.store(EMPTY, Ordering::Relaxed));
        self.holding.store(true, Ordering::Relaxed);
    }

    /// Keeps the signal, if signals are held. Async-signal-safe if `deliver` is.
    pub fn keep(&self, signal: i32, info: I, deliver: impl FnMut(i32, I)) -> bool {
        if !self.holding.load(Ordering::Relaxed) {
            return false;
        }
        let slot = &self.slots[signal as usize];
        if slot.state.compare_exchange(EMPTY, IN_USE, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // SAFETY: this thread has the slot.
            unsafe { *slot.info.get() = info };
            slot.state.store(FULL, Ordering::Release);
        }
        fence(Ordering::SeqCst);
        if !self.holding.load(Ordering::Relaxed) {
            self.take(deliver);
        }
        true
    }

    /// Ends the holding, and delivers the kept signals. False if signals were not held.
    pub fn end(&self, deliver: impl FnMut(i32, I)) -> bool {
        if !self.holding.load(Ordering::Relaxed) {
            return false;
        }
        self.holding.store(false, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.take(deliver);
        true
    }

    fn take(&self, mut deliver: impl FnMut(i32, I)) {
        for (signal, slot) in self.slots.iter().enumerate() {
            if slot.state.compare_exchange(FULL, IN_USE, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                // SAFETY: this thread has the slot.
                let info = unsafe { *slot.info.get() };
                slot.state.store(EMPTY, Ordering::Release);
                deliver(signal as i32, info);
            }
        }
    }
}
