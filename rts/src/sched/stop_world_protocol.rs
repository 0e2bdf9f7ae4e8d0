//! The protocol by which one task at a time stops the world (`stop_world.rs` describes it). `rts/tests/models` runs
//! this file under loom.
use crate::base::atomics::{yield_now, AtomicBool, Ordering};
use crate::sched::handoff::protocol::{HandoffSlot, Task};

/// The flag that a task is stopping the world, or has stopped it.
pub struct World(pub AtomicBool);

impl World {
    /// Sets the flag, unless another task has set it. Only the task that set it clears it, when it resumes the world.
    fn begin(&self) -> bool {
        self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives all `others` to `me`, which holds the HEC of slot `mine`. `on_begin` is called before they are requested.
    /// Returns false if another task is stopping the world; the caller has then yielded to it.
    /// # Safety
    /// As for [`HandoffSlot::release`].
    pub unsafe fn stop<S: HandoffSlot>(
        &self,
        me: S::Task,
        mine: S,
        others: impl Iterator<Item = S>,
        on_begin: impl FnOnce(),
    ) -> bool {
        if !self.begin() {
            self.wait_for_stopper(me, mine);
            return false;
        }
        on_begin();
        let asked = others.filter(|slot| !slot.stop(me)).count();
        for _ in 0..asked {
            me.wait_turn();
        }
        true
    }

    /// Waits until the task that is stopping the world has requested the caller's HEC, and has resumed the world.
    unsafe fn wait_for_stopper<S: HandoffSlot>(&self, me: S::Task, mine: S) {
        while self.0.load(Ordering::Acquire) && !mine.yield_to_stopper(me) {
            yield_now();
        }
    }

    /// Gives all `others` to `me` if they are idle.
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
        match others.position(|slot| !slot.stop_if_idle(me)) {
            Some(taken) => self.resume(all.take(taken)),
            None => return true,
        }
        false
    }

    /// Releases the `others`, which the caller has stopped. Then another task may stop the world.
    /// # Safety
    /// The caller does not access them again.
    pub unsafe fn resume<S: HandoffSlot>(&self, others: impl Iterator<Item = S>) {
        others.for_each(|slot| slot.resume());
        self.0.store(false, Ordering::Release);
    }
}
