//! The user slot of a HEC: is the HEC used by a thread of a user scheduler?
//!
//! *Protocol*
//! ```text
//!          take: by the holder, or by a HEC that sends an SCont here
//!   EMPTY ───────────────────────────────────────────────────────────► USED ──┐ a switch or an upcall: another
//!     ▲                                                                  │ ▲   │ thread is in the slot now
//!     └──────────────────────────────────────────────────────────────────┘ └───┘
//!          leave: by the holder, when the slot has no next thread
//!
//!          begin_call: its thread makes a foreign call      note_long_call: by the ticker
//!    USED ────────────────────────────────────────► IN CALL ─────────────────────────► OVERDUE
//!     ▲                                                │                                  │
//!     └────────────────────────────────────────────────┴──────────────────────────────────┘
//!          end_call: by the holder, when the call has ended, or to give an overdue slot to another thread
//! ```
//! What comes first, the end of the call or that the holder finds the slot overdue, decides whether the thread has kept
//! the slot.
//!
//! A user scheduler may end the time slice of the slot's thread while that is queued, because another thread runs. It
//! leaves a note for the holder ([`UserSlot::preempt`]), which is dropped when another thread comes into the slot.
//!
//! *Invariants*
//! - A slot that is used has one thread, which has the flag `TSO_SLOT`. It runs, is on the run queue of this HEC or in
//!   its mailbox, is in a foreign call, or is asleep: it waits in the runtime, and is woken on this HEC.
//! - A thread of a user scheduler runs in a slot only.
//!
//! *Checked by*: the loom models in `rts/tests/models/slots.rs`, which compile this file.
use crate::base::atomics::{AtomicBool, AtomicUsize, Ordering};

const EMPTY: usize = 0;
const USED: usize = 1;
const IN_CALL: usize = 2;
const OVERDUE: usize = 3;

pub struct UserSlot {
    state: AtomicUsize,
    is_preempted: AtomicBool,
}

impl UserSlot {
    pub fn new() -> UserSlot {
        UserSlot { state: AtomicUsize::new(EMPTY), is_preempted: AtomicBool::new(false) }
    }

    /// Is it used? Exact for the holder of the HEC only if the answer is yes.
    pub fn is_used(&self) -> bool {
        self.state.load(Ordering::Relaxed) != EMPTY
    }

    /// Takes the slot if it is empty. Any task that holds a HEC may call this.
    pub fn take(&self) -> bool {
        // Acquire: what the last thread in the slot did here comes before.
        self.state.compare_exchange(EMPTY, USED, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The slot becomes empty. The caller holds the HEC, or has taken the slot for a thread that will not come.
    pub fn leave(&self) {
        self.state.store(EMPTY, Ordering::Release);
    }

    /// Ends the time slice of the slot's thread, if that does not run now. Any task that holds a HEC may call this.
    pub fn preempt(&self) {
        self.is_preempted.store(true, Ordering::Relaxed);
    }

    /// Has the slice of the slot's thread been ended?
    #[inline]
    pub fn is_preempted(&self) -> bool {
        self.is_preempted.load(Ordering::Relaxed)
    }

    /// The same. If so, the next slice begins. The caller holds the HEC.
    pub fn take_preemption(&self) -> bool {
        self.is_preempted() && self.is_preempted.swap(false, Ordering::Relaxed)
    }

    /// The thread in the slot begins a foreign call. The caller holds the HEC.
    pub fn begin_call(&self) {
        self.state.store(IN_CALL, Ordering::Relaxed);
    }

    /// Is its thread in a call that is not overdue?
    pub fn is_in_call(&self) -> bool {
        self.state.load(Ordering::Relaxed) == IN_CALL
    }

    /// If its thread is in a call, that takes long. Returns true if so. Any OS thread may call this.
    pub fn note_long_call(&self) -> bool {
        self.state.compare_exchange(IN_CALL, OVERDUE, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Is its thread in a call that takes long?
    pub fn is_overdue(&self) -> bool {
        self.state.load(Ordering::Relaxed) == OVERDUE
    }

    /// The call has ended, or another thread takes the slot. The caller holds the HEC.
    pub fn end_call(&self) {
        // An exchange: it comes before or after that of `note_long_call`, which then fails or is undone.
        self.state.swap(USED, Ordering::Relaxed);
    }
}

impl Default for UserSlot {
    fn default() -> UserSlot {
        UserSlot::new()
    }
}
