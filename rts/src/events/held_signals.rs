//! Signals that come to the child of a fork before it can handle them.
//!
//! What the child inherits would handle a signal in its parent's name: the table of handlers names its parent's main thread for an
//! interrupt, and the event manager that signals are sent to is gone. So they are held until the child's own main thread has said what an
//! interrupt does.
//!
//! Protocol.
//!
//! 1. The parent blocks all signals and forks. The child [begins](Held::begin) to hold and unblocks them.
//! 2. The C handler [keeps](Held::keep) each signal once, as the system does with one that is blocked.
//! 3. The child [ends](Held::end) this, and then takes what is kept. A handler that kept a signal looks afterwards whether it is
//!    still wanted, and if not takes what is kept itself. A fence lies between the two accesses of either side, so that one of them sees what the
//!    other has written: no signal stays behind.
//! 4. Of two that would take the same signal one gets it. A signal that finds its place occupied has its handler
//!    still to come, by whoever empties the place.
//!
//! `rts/tests/models/held_signals.rs` runs this file under loom.
use crate::base::atomics::{fence, AtomicBool, AtomicUsize, Ordering};
use std::cell::UnsafeCell;

const EMPTY: usize = 0;
const FULL: usize = 1;
/// Somebody writes or reads what came with the signal.
const IN_USE: usize = 2;

struct Priority<I> {
    state: AtomicUsize,
    info: UnsafeCell<I>,
}

pub struct Held<I> {
    holding: AtomicBool,
    /// One for each signal.
    places: Box<[Priority<I>]>,
}

// SAFETY: an info is touched by who has made its place `IN_USE`.
unsafe impl<I: Send> Sync for Held<I> {}

impl<I: Copy> Held<I> {
    /// For signals below `signals`.
    pub fn new(signals: usize, nothing: I) -> Held<I> {
        let place = |_| Priority { state: AtomicUsize::new(EMPTY), info: UnsafeCell::new(nothing) };
        Held { holding: AtomicBool::new(false), places: (0..signals).map(place).collect() }
    }

    /// From now on signals are held; what an earlier fork's child may have kept is dropped.
    pub fn begin(&self) {
        self.places.iter().for_each(|p| p.state.store(EMPTY, Ordering::Relaxed));
        self.holding.store(true, Ordering::Relaxed);
    }

    /// Keeps the signal, if signals are held. Async-signal-safe if `deliver` is.
    pub fn keep(&self, signal: i32, info: I, deliver: impl FnMut(i32, I)) -> bool {
        if !self.holding.load(Ordering::Relaxed) {
            return false;
        }
        let place = &self.places[signal as usize];
        if place.state.compare_exchange(EMPTY, IN_USE, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // SAFETY: the place is ours.
            unsafe { *place.info.get() = info };
            place.state.store(FULL, Ordering::Release);
        }
        fence(Ordering::SeqCst);
        if !self.holding.load(Ordering::Relaxed) {
            self.take(deliver);
        }
        true
    }

    /// Signals are no longer held: delivers what is kept. False if they were not.
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
        for (signal, place) in self.places.iter().enumerate() {
            if place.state.compare_exchange(FULL, IN_USE, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                // SAFETY: the place is ours.
                let info = unsafe { *place.info.get() };
                place.state.store(EMPTY, Ordering::Release);
                deliver(signal as i32, info);
            }
        }
    }
}
