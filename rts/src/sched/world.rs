//! Stopping the world: one task gets hold of every HEC.
//!
//! Protocol. One task at a time may stop the world; `STOPPED` says that one does. It takes the HECs
//! that rest and asks for the others: their holders pass them on at the next safe point (between
//! threads, or when a thread leaves for a foreign call), line up in front to have them back, and
//! wait. A task that would stop the world while another does gives way first, and then finds out
//! whether there is still a reason to.
//!
//! No thread runs and no task is inside a primitive operation while the world is stopped, so what is
//! changed then (the number of HECs, for instance) never changes under anybody's hands.
use super::seat;
use super::task::TaskRef;
use crate::crowd::CROWD;
use crate::hec::{self, Hec};
use std::sync::atomic::{AtomicBool, Ordering};

static STOPPED: AtomicBool = AtomicBool::new(false);
/// Were more HECs busy than there are cores, when the world was stopped?
static CROWDED: AtomicBool = AtomicBool::new(false);

fn others(me: TaskRef) -> impl Iterator<Item = usize> {
    let mine = me.last();
    (0..hec::count()).filter(move |&no| no != mine)
}

/// Stops the world. False if another task has done so meanwhile: the caller looks again whether it
/// needs to.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn stop(me: TaskRef) -> bool {
    if !hec::many() {
        return true;
    }
    if STOPPED.swap(true, Ordering::Acquire) {
        give_way(me);
        return false;
    }
    CROWDED.store(CROWD.is_too_large(), Ordering::Relaxed);
    let asked = others(me).filter(|&no| !seat::stop(no, me)).count();
    for _ in 0..asked {
        me.wait_turn();
    }
    true
}

/// Stops the world if all other HECs rest.
/// # Safety
/// As for [`stop`].
pub unsafe fn stop_if_idle(me: TaskRef) -> bool {
    if !hec::many() {
        return true;
    }
    if STOPPED.swap(true, Ordering::Acquire) {
        return false;
    }
    for no in others(me) {
        if !seat::stop_if_resting(no, me) {
            others(me).take_while(|&n| n != no).for_each(|n| seat::go_on(n));
            STOPPED.store(false, Ordering::Release);
            return false;
        }
    }
    true
}

/// Lets the world go on.
/// # Safety
/// The caller has stopped it.
pub unsafe fn go_on(me: TaskRef) {
    if hec::many() {
        others(me).for_each(|no| seat::go_on(no));
        STOPPED.store(false, Ordering::Release);
    }
}

/// Does who waits for the world to go on keep those from a core that have not stopped yet?
pub(super) fn is_crowded() -> bool {
    CROWDED.load(Ordering::Relaxed)
}

/// Waits until the task that is stopping the world has asked for the caller's HEC, and is done.
unsafe fn give_way(me: TaskRef) {
    while STOPPED.load(Ordering::Acquire) && !seat::make_way_for_stopper(me) {
        std::thread::yield_now();
    }
}

/// Every HEC.
/// # Safety
/// The world is stopped, and no other reference to a HEC is used while these are.
pub unsafe fn hecs() -> Vec<&'static mut Hec> {
    (0..hec::count()).map(|no| &mut *hec::address(no)).collect()
}

/// In the child of a fork.
pub(super) fn after_fork() {
    STOPPED.store(false, Ordering::Relaxed);
}
