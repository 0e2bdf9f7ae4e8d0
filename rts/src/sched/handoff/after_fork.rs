//! What the child of a fork makes of the seats that it finds.
//!
//! A task forks with the world stopped, so it holds all HECs, in the child as before. Every other OS thread is gone there, at whatever it
//! was doing without a HEC:
//!
//! * It had a seat's lock perhaps, to line up: so all these locks are made anew, unseen.
//! * It waited: seats name it as one that returns or is idle, and nobody would ever come. So nothing of a seat's state is kept.
//! * It was giving the forking task a HEC: that task's turns are made anew as well; it has taken all that it asked for.
//!
//! What belongs to HECs (queues, letters, who rests) is as the forking task would find it, for only who holds a HEC writes it, or who
//! has the lock of a seat that nobody holds.
//!
//! The child goes on with the world stopped. It puts an end to its parent's threads first, and as long as all HECs have a holder, nobody is
//! started who would run one of them: a thread that wakes as another one ends may be sent to its own HEC. Then it lets the world go
//! on: the other HECs rest.
//!
//! `rts/tests/models/forks.rs` runs this file under loom.
use crate::sched::handoff::protocol::HandoffSlot;
use crate::sched::handoff::state::SlotState;

/// In the child of a fork: `me` holds the HECs of all `slots`.
/// # Safety
/// The caller is `me`, has stopped the world, and no other OS thread is left.
pub unsafe fn after_fork<S: HandoffSlot>(me: S::Task, slots: impl Iterator<Item = S>) {
    for slot in slots {
        slot.renew(SlotState::new(Some(me)));
        slot.on_waiters_changed(&slot.lock());
    }
}
