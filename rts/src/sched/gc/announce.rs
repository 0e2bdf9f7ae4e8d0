//! A collection is announced before the world is stopped for it, and the last HEC to hear of it collects.
//!
//! Who has filled its nursery cannot tell whether the others will stop soon, or whether the kernel has given their cores to another
//! process for some milliseconds. So it does not wait for them: it calls them back, and goes on in what is kept for that
//! (`memory/nursery_chunks.rs`). Each HEC hears of it as it comes to its scheduler, and the one that finds that all others have heard, or run nothing,
//! stops the world: they all run just now. Who has no room left stops it in any case.
//!
//! Nothing depends on that but when it is collected (`sched/stop_world.rs` has the protocol), so the flags are plain ones. Two that hear at the same time
//! may miss each other; then each has called the other back, and both look again. `rts/tests/models/gc_announce.rs` runs this under loom.
use crate::base::atomics::{AtomicBool, Ordering};

/// A HEC that is told.
pub trait Hears: Copy {
    /// It knows of the collection.
    fn heard(self) -> &'static AtomicBool;
    /// Somebody holds it.
    fn is_held(self) -> bool;
    /// Has the holder come back to the scheduler.
    fn request_return(self);
}

/// There is a collection that all are to hear of.
pub struct Announcement(pub AtomicBool);

impl Announcement {
    pub fn is_made(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// `me` hears of a collection, or announces one. True if it is the last of those that are held: then it is to collect. If not, those have
    /// been called back that have not heard.
    pub fn is_last<H: Hears>(&self, me: H, others: impl Iterator<Item = H>) -> bool {
        me.heard().store(true, Ordering::Relaxed);
        self.0.store(true, Ordering::Relaxed);
        let unheard = others.filter(|h| !h.heard().load(Ordering::Relaxed) && h.is_held());
        unheard.inspect(|h| h.request_return()).count() == 0
    }

    /// The collection has begun. The world is stopped.
    pub fn is_over<H: Hears>(&self, all: impl Iterator<Item = H>) {
        self.0.store(false, Ordering::Relaxed);
        all.for_each(|h| h.heard().store(false, Ordering::Relaxed));
    }
}
