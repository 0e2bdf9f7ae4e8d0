//! Resetting the HEC slots in the child of a fork.
//!
//! A task forks while the world is stopped, so it holds all HECs, in the child as in the parent. Every other OS thread
//! is missing in the child, wherever it was without a HEC:
//!
//! | state of the missing OS thread | consequence |
//! |---|---|
//! | it held a slot's lock, perhaps to join the queue | all slots' locks are made anew, without reading them |
//! | it waited, so slots name it as returning or idle | nothing of a slot's state is kept |
//! | it was giving the forking task a HEC | that task's wake-ups are made anew; it has taken all that it requested |
//!
//! *Invariants*
//! - Data of the HECs (queues, messages, which are idle) is consistent. Only the holder of a HEC writes it, or, while
//!   no task holds the HEC, a task with the lock of its slot.
//! - The child begins with the world stopped, and ends its parent's threads first. As long as all HECs have a holder,
//!   no worker is started that would run one of them. (A thread that wakes when another one ends may be sent to its own
//!   HEC.) Then the child resumes the world, and the other HECs become idle.
//!
//! *Checked by*: the loom models in `rts/tests/models/forks.rs`, which compile this file.
use crate::sched::handoff::protocol::HandoffSlot;
use crate::sched::handoff::state::SlotState;

/// Resets the slots in the child of a fork, where `me` holds the HECs of all `slots`.
/// # Safety
/// The caller is `me` and has stopped the world, and no other OS thread exists.
pub unsafe fn after_fork<S: HandoffSlot>(me: S::Task, slots: impl Iterator<Item = S>) {
    for slot in slots {
        slot.renew(SlotState::new(Some(me)));
        slot.on_waiters_changed(&slot.lock());
    }
}
