//! How one task at a time stops the world: see `stop_world.rs`. `rts/tests/models` runs this under loom.
use crate::base::atomics::{yield_now, AtomicBool, Ordering};
use crate::sched::handoff::protocol::{HandoffSlot, Task};

/// Does a task stop the world, or has it done so?
pub struct World(pub AtomicBool);

impl World {
    /// Only the task that gets this far writes the flag until it has let the world go on.
    fn begin(&self) -> bool {
        self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Has `me`, which holds the HEC of seat `mine`, get all `others`; `begun` is done before it asks for them. False
    /// if another task does so: then that one has been let through.
    /// # Safety
    /// As for [`HandoffSlot::release`].
    pub unsafe fn stop<S: HandoffSlot>(
        &self,
        me: S::Task,
        mine: S,
        others: impl Iterator<Item = S>,
        begun: impl FnOnce(),
    ) -> bool {
        if !self.begin() {
            self.give_way(me, mine);
            return false;
        }
        begun();
        let asked = others.filter(|slot| !slot.stop(me)).count();
        for _ in 0..asked {
            me.wait_turn();
        }
        true
    }

    /// Waits until the task that is stopping the world has asked for the caller's HEC, and is done.
    unsafe fn give_way<S: HandoffSlot>(&self, me: S::Task, mine: S) {
        while self.0.load(Ordering::Acquire) && !mine.yield_to_stopper(me) {
            yield_now();
        }
    }

    /// Has `me` get all `others` if they rest.
    /// # Safety
    /// As for [`World::stop`].
    pub unsafe fn stop_if_idle<S: HandoffSlot>(
        &self,
        me: S::Task,
        mut others: impl Iterator<Item = S> + Clone,
    ) -> bool {
        if !self.begin() {
            return false;
        }
        let all = others.clone();
        match others.position(|slot| !slot.stop_if_resting(me)) {
            Some(taken) => self.resume(all.take(taken)),
            None => return true,
        }
        false
    }

    /// Lets `others` go on, which the caller has stopped, and then whoever wants to stop the world.
    /// # Safety
    /// The caller touches none of them again.
    pub unsafe fn resume<S: HandoffSlot>(&self, others: impl Iterator<Item = S>) {
        others.for_each(|slot| slot.resume());
        self.0.store(false, Ordering::Release);
    }
}
