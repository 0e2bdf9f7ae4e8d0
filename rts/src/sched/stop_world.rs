//! Stopping the world: one task holds every HEC.
//!
//! *Protocol*
//! 1. One task at a time may stop the world; the flag in `WORLD` says that one does.
//! 2. That task takes the idle HECs and requests the others.
//! 3. Their holders pass them on at the next safe point: between threads, or when a thread leaves for a foreign call.
//!    They join the front of the queue to get them back, and wait.
//! 4. A task that wants to stop the world while another does so yields first. Then it checks whether it still has a
//!    reason.
//!
//! `stop_world_protocol.rs` and `handoff/protocol.rs` have the steps.
//!
//! *Invariant*: while the world is stopped, no thread runs and no task is inside a primitive operation. So data that
//! changes only then, such as the number of HECs, never changes during an operation.
use crate::base::active_limit::ACTIVE_HECS;
use crate::hec;
use crate::hec::Hec;
use crate::sched::gc::{helper_spin, sync_time};
use crate::sched::handoff;
use crate::sched::handoff::HecSlot;
use crate::sched::stop_world_protocol;
use crate::sched::task::TaskRef;
use std::sync::atomic::AtomicBool;

static WORLD: stop_world_protocol::World = stop_world_protocol::World(AtomicBool::new(false));

fn others(me: TaskRef) -> impl Iterator<Item = &'static HecSlot> + Clone {
    let mine = me.last();
    (0..hec::count()).filter(move |&no| no != mine).map(handoff::slot)
}

/// Stops the world. Returns false if another task has done so meanwhile: the caller then checks again whether it needs
/// to.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn stop(me: TaskRef) -> bool {
    if !hec::many() {
        return true;
    }
    let on_begin = || {
        helper_spin::set_oversubscribed(ACTIVE_HECS.oversubscribed());
        sync_time::begin();
    };
    let stopped = WORLD.stop(me, handoff::slot(me.last()), others(me), on_begin);
    if stopped {
        sync_time::end();
    }
    stopped
}

/// Stops the world if all other HECs are idle.
/// # Safety
/// As for [`stop`].
pub unsafe fn stop_if_idle(me: TaskRef) -> bool {
    !hec::many() || WORLD.stop_if_idle(me, others(me))
}

/// Resumes the world.
/// # Safety
/// The caller has stopped it.
pub unsafe fn resume(me: TaskRef) {
    if hec::many() {
        WORLD.resume(others(me));
    }
}

/// Every HEC.
/// # Safety
/// The world is stopped, and no other reference to a HEC is used while these are.
pub unsafe fn hecs() -> Vec<&'static mut Hec> {
    (0..hec::count()).map(|no| &mut *hec::address(no)).collect()
}
