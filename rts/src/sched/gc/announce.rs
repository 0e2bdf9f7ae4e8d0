//! Announcing a collection before the world is stopped for it. The last HEC to see the announcement collects.
//!
//! A HEC that has filled its nursery cannot tell whether the others will stop soon. The kernel may have given their
//! cores to another process for some milliseconds. So the HEC does not wait for them.
//!
//! *Protocol*
//! 1. The HEC announces the collection, requests the return of the others to their schedulers, and continues in its
//!    overflow area ([`crate::memory::nursery_chunks`]).
//! 2. Each HEC sees the announcement when it returns to its scheduler.
//! 3. A HEC that finds that all others have seen it, or are not held, stops the world: the others are running just now.
//! 4. A HEC whose overflow area is full stops the world in any case.
//!
//! *Invariant*: the flags decide only when a collection happens ([`crate::sched::stop_world`] has the protocol for
//! stopping). So they are relaxed. Two HECs that see the announcement at the same time may miss each other. Then each
//! has requested the return of the other, and both check again.
//!
//! *Checked by*: the loom models in `rts/tests/models/gc_announce.rs`, which compile this file.
use crate::base::atomics::{AtomicBool, Ordering};

/// A HEC to which a collection is announced.
pub trait AnnounceTarget: Copy {
    /// Has this HEC seen the announcement?
    fn has_seen_gc(self) -> &'static AtomicBool;
    /// Does a task hold the HEC?
    fn is_held(self) -> bool;
    /// Requests that the holder return to the scheduler.
    fn request_return(self);
}

/// The flag that a collection has been announced to all HECs.
pub struct Announcement(pub AtomicBool);

impl Announcement {
    pub fn is_active(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// `me` sees an announcement, or makes one. Returns true if it is the last of the HECs that are held: then it
    /// collects. If not, the return of those that have not seen it has been requested.
    pub fn is_last<H: AnnounceTarget>(&self, me: H, others: impl Iterator<Item = H>) -> bool {
        me.has_seen_gc().store(true, Ordering::Relaxed);
        self.0.store(true, Ordering::Relaxed);
        let unseen = others.filter(|h| !h.has_seen_gc().load(Ordering::Relaxed) && h.is_held());
        unseen.inspect(|h| h.request_return()).count() == 0
    }

    /// Clears the flags when the collection has begun. The world is stopped.
    pub fn clear<H: AnnounceTarget>(&self, all: impl Iterator<Item = H>) {
        self.0.store(false, Ordering::Relaxed);
        all.for_each(|h| h.has_seen_gc().store(false, Ordering::Relaxed));
    }
}
