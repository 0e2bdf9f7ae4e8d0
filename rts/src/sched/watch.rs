//! Which task watches the event loop of a HEC while the HEC rests.
//!
//! A task *watches* a loop if it sleeps in the loop's poller instead of on its own condition variable. So when an event
//! comes, the task that runs the woken thread is awake already.
//!
//! *Protocol*
//! ```text
//!                begin, by the holder before it releases the HEC
//!   UNWATCHED ---------------------------------------------------> WATCHED by a task
//!       ^                                                             |
//!       +-------------------------------------------------------------+
//!                end, by that task, before it takes the HEC or another wake-up
//! ```
//! 1. A task that has nothing to run begins to watch, if there are waits and no other task watches. Only then does it
//!    release the HEC.
//! 2. A task that releases a HEC for good looks, under the slot's lock, whether there are waits and no task watches. If
//!    so, a worker is given the HEC.
//! 3. A watcher that finds events ends its watch first. Then it takes the slot's lock: if no task holds the HEC, it
//!    takes it; otherwise the holder is asked to poll.
//! 4. A task that adds a wait to the loop of a HEC that it does not hold looks afterwards, as in step 2
//!    (`handoff::ensure_served`).
//! 5. With more HECs than cores, as many tasks as cores watch. The shared watcher watches for the others
//!    (`events/shared_watcher.rs`): the holder begins the watch in its name. It ends the watch when there may be
//!    events. Then it takes the slot's lock: if no task holds the HEC, a worker is given it; otherwise the holder is
//!    asked to poll.
//!
//! *Invariant*: while waits exist, the HEC is held, or its loop is watched, or a task is on its way to it. (During a
//! safe foreign call the ticker sees to it, at its next tick.) Steps 2, 3 and 5 are ordered by the slot's lock: either
//! the releasing task sees that the watch has ended, or the watcher finds the HEC free.
//!
//! *Checked by*: the loom models in `rts/tests/models/watch.rs`, which compile this file.
use crate::base::atomics::{AtomicBool, AtomicUsize, Ordering};

pub struct Watch {
    /// The number of nodes that wait in the loop.
    waits: AtomicUsize,
    /// A task watches.
    watched: AtomicBool,
    /// A task that watched has left events for the holder.
    events: AtomicBool,
}

impl Watch {
    pub fn new() -> Watch {
        Watch { waits: AtomicUsize::new(0), watched: AtomicBool::new(false), events: AtomicBool::new(false) }
    }

    /// The number of waits has changed. Called under the loop's lock.
    pub fn set_waits(&self, n: usize) {
        self.waits.store(n, Ordering::SeqCst);
    }

    /// There are events for the holder, or none. Called under the loop's lock.
    pub fn set_events(&self, any: bool) {
        self.events.store(any, Ordering::SeqCst);
    }

    pub fn has_events(&self) -> bool {
        self.events.load(Ordering::SeqCst)
    }

    #[inline]
    pub fn has_waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed) != 0
    }

    /// The caller watches from now on, unless it need not: there are no waits, or another task watches.
    pub fn begin(&self) -> bool {
        self.has_waits() && !self.watched.swap(true, Ordering::SeqCst)
    }

    /// The watching task ends its watch.
    pub fn end(&self) {
        self.watched.store(false, Ordering::SeqCst);
    }

    /// Are there waits, and does no task watch?
    pub fn needs_watcher(&self) -> bool {
        self.waits.load(Ordering::SeqCst) != 0 && !self.watched.load(Ordering::SeqCst)
    }

    /// Resets it, in the child of a fork.
    pub fn after_fork(&self) {
        self.set_events(false);
        self.end();
    }
}
