//! Stopping the world: one task gets hold of every HEC.
//!
//! Protocol. One task at a time may stop the world; `STOPPED` says that one does. It takes the HECs
//! that rest and asks for the others: their holders pass them on at the next safe point (between
//! threads, or when a thread leaves for a foreign call), line up in front to have them back, and
//! wait. A task that would stop the world while another does gives way first, and then finds out
//! whether there is still a reason to. (The steps are in `stopping.rs` and `seating.rs`.)
//!
//! No thread runs and no task is inside a primitive operation while the world is stopped, so what is
//! changed then (the number of HECs, for instance) never changes under anybody's hands.
use super::seat::{self, Seat};
use super::{gc_sync, stopping};
use super::task::TaskRef;
use crate::crowd::CROWD;
use crate::hec::{self, Hec};
use std::sync::atomic::{AtomicBool, Ordering};

static WORLD: stopping::World = stopping::World(AtomicBool::new(false));
/// Were more HECs busy than there are cores, when the world was stopped?
static CROWDED: AtomicBool = AtomicBool::new(false);

fn others(me: TaskRef) -> impl Iterator<Item = &'static Seat> + Clone {
    let mine = me.last();
    (0..hec::count()).filter(move |&no| no != mine).map(seat::seat)
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
        CROWDED.store(CROWD.is_too_large(), Ordering::Relaxed);
        gc_sync::begin();
    };
    let stopped = WORLD.stop(me, seat::seat(me.last()), others(me), begun);
    if stopped {
        gc_sync::end();
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
pub unsafe fn go_on(me: TaskRef) {
    if hec::many() {
        WORLD.go_on(others(me));
    }
}

/// Does who waits for the world to go on keep those from a core that have not stopped yet?
pub(super) fn is_crowded() -> bool {
    CROWDED.load(Ordering::Relaxed)
}

/// Every HEC.
/// # Safety
/// The world is stopped, and no other reference to a HEC is used while these are.
pub unsafe fn hecs() -> Vec<&'static mut Hec> {
    (0..hec::count()).map(|no| &mut *hec::address(no)).collect()
}
