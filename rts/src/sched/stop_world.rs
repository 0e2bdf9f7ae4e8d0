//! Stopping the world: one task gets hold of every HEC.
//!
//! Protocol. One task at a time may stop the world; `STOPPED` says that one does. It takes the HECs
//! that rest and asks for the others: their holders pass them on at the next safe point (between
//! threads, or when a thread leaves for a foreign call), line up in front to have them back, and
//! wait. A task that would stop the world while another does gives way first, and then finds out
//! whether there is still a reason to. (The steps are in `stop_world_protocol.rs` and `handoff/protocol.rs`.)
//!
//! No thread runs and no task is inside a primitive operation while the world is stopped, so what is
//! changed then (the number of HECs, for instance) never changes under anybody's hands.
use crate::base::active_limit::ACTIVE_HECS;
use crate::hec;
use crate::hec::Hec;
use crate::sched::gc::sync_time;
use crate::sched::handoff;
use crate::sched::handoff::HecSlot;
use crate::sched::stop_world_protocol;
use crate::sched::task::TaskRef;
use std::sync::atomic::{AtomicBool, Ordering};

static WORLD: stop_world_protocol::World = stop_world_protocol::World(AtomicBool::new(false));
/// Were more HECs busy than there are cores, when the world was stopped?
static OVERSUBSCRIBED: AtomicBool = AtomicBool::new(false);

fn others(me: TaskRef) -> impl Iterator<Item = &'static HecSlot> + Clone {
    let mine = me.last();
    (0..hec::count()).filter(move |&no| no != mine).map(handoff::slot)
}

/// Stops the world. False if another task has done so meanwhile: the caller looks again whether it
/// needs to.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn stop(me: TaskRef) -> bool {
    if !hec::many() {
        return true;
    }
    let begun = || {
        OVERSUBSCRIBED.store(ACTIVE_HECS.oversubscribed(), Ordering::Relaxed);
        sync_time::begin();
    };
    let stopped = WORLD.stop(me, handoff::slot(me.last()), others(me), begun);
    if stopped {
        sync_time::end();
    }
    stopped
}

/// Stops the world if all other HECs rest.
/// # Safety
/// As for [`stop`].
pub unsafe fn stop_if_idle(me: TaskRef) -> bool {
    !hec::many() || WORLD.stop_if_idle(me, others(me))
}

/// Lets the world go on.
/// # Safety
/// The caller has stopped it.
pub unsafe fn resume(me: TaskRef) {
    if hec::many() {
        WORLD.resume(others(me));
    }
}

/// Does who waits for the world to go on keep those from a core that have not stopped yet?
pub(super) fn is_oversubscribed() -> bool {
    OVERSUBSCRIBED.load(Ordering::Relaxed)
}

/// Every HEC.
/// # Safety
/// The world is stopped, and no other reference to a HEC is used while these are.
pub unsafe fn hecs() -> Vec<&'static mut Hec> {
    (0..hec::count()).map(|no| &mut *hec::address(no)).collect()
}
