//! What is done with a HEC under its seat's lock, whatever tasks and HECs are: `mod.rs` has the protocol and says what
//! they are, `state.rs` chooses who is next, and `rts/tests/models` runs all of it under loom.
use crate::base::atomics::{AtomicUsize, MutexGuard, Ordering};
use crate::sched::handoff::state::SlotState;

const NOWHERE: usize = usize::MAX;

/// The HEC that a task holds or will be passed next, if any: to whoever has a thread that is bound to it. Else the task
/// waits for a HEC that has its thread, or is in C.
pub struct AssignedHec(AtomicUsize);

impl AssignedHec {
    pub fn new() -> AssignedHec {
        AssignedHec(AtomicUsize::new(NOWHERE))
    }

    fn is_at(&self, no: usize) -> bool {
        self.0.load(Ordering::Acquire) == no
    }

    /// The HEC other than `no` where the task is, or will be.
    pub fn elsewhere(&self, no: usize) -> Option<usize> {
        let at = self.0.load(Ordering::Acquire);
        (at != NOWHERE && at != no).then_some(at)
    }

    /// The task is nowhere any more.
    pub fn leave(&self) {
        self.set(NOWHERE);
    }

    /// From now on the task is known to be there, or to come.
    fn set(&self, no: usize) {
        self.0.store(no, Ordering::Release);
    }

    /// Promises the task HEC `no`, unless it has been promised one.
    fn promise(&self, no: usize) -> bool {
        self.0.compare_exchange(NOWHERE, no, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// Names an OS thread that holds HECs.
pub trait Task: Copy + PartialEq + 'static {
    fn assigned_hec(self) -> &'static AssignedHec;
    /// It works with HEC `no`, which it has been given. For the task.
    fn on_acquire(self, no: usize);
    /// It has let go of its HEC. For the task.
    fn on_release(self);
    /// Gives it HEC `no`. Any OS thread may do so.
    fn grant(self, no: usize);
    /// Has it look whether HEC `no` is free. Any OS thread may do so.
    fn request_check(self, no: usize);
    /// Has it look now, though it may have lingered. Any OS thread may do so.
    fn wake(self);
    /// Waits until it has been given a HEC or sent for. For the task.
    fn await_call(self) -> Called;
    /// It is about to pass its HEC to who stops the world, and to [wait for that](Task::wait_for_world). For the task.
    fn will_wait_for_world(self);
    /// As [`Task::wait_turn`], for the HEC that it has passed to who stops the world.
    fn wait_for_world(self) -> usize;

    /// Waits until it is given a HEC; tells which. It has not been sent for, or has had that HEC since. For the task.
    fn wait_turn(self) -> usize {
        loop {
            if let Called::Has(no) = self.await_call() {
                return no;
            }
        }
    }
}

/// What ends a task's wait.
pub enum Called {
    /// It holds this HEC.
    Has(usize),
    /// It is to look whether this one is free.
    Look(usize),
}

/// What there is to do on a HEC that nobody runs.
pub enum Work<T> {
    Nothing,
    /// A letter, a spark, or a thread that any task may run.
    ForAnyone,
    /// A thread that is bound to this task.
    For(T),
}

type Guard<T> = MutexGuard<'static, SlotState<T>>;

/// Names the seat of a HEC.
pub trait HandoffSlot: Copy {
    type Task: Task;

    /// The number of its HEC.
    fn no(self) -> usize;
    fn lock(self) -> Guard<Self::Task>;
    fn try_lock(self) -> Option<Guard<Self::Task>>;
    /// Replaces the lock and what it guards, without looking at either.
    /// # Safety
    /// No other OS thread is left that uses it.
    unsafe fn renew(self, state: SlotState<Self::Task>);
    /// What is to be done first on its HEC.
    /// # Safety
    /// The seat's lock is held, and nobody runs anything on the HEC.
    unsafe fn work(self) -> Work<Self::Task>;
    fn start_worker(self) -> Self::Task;
    /// Its HEC rests, or does so no longer. Called under the lock.
    fn set_idle(self, idle: bool);
    /// Somebody may have come or gone who waits for it. Called under the lock.
    fn on_waiters_changed(self, st: &SlotState<Self::Task>);
    /// Its HEC is left free for a foreign call of `by`, which is the caller. True if who has been sent for before, and
    /// lingers, should look now. Called under the lock.
    fn is_left(self, by: Self::Task) -> bool;
    /// Waits as long as the HEC is left for short calls: it is better where it is (`short_calls.rs`). For `me`, who has
    /// been sent for.
    fn await_short_call(self, me: Self::Task);
    /// Has the running thread give way.
    fn interrupt(self);
    /// Has the holder come back to the scheduler, even if it is about to run a thread.
    fn request_return(self);

    /// Takes the HEC for the calling task, waiting for it if need be.
    fn acquire(self, me: Self::Task) {
        let mut st = self.lock();
        if st.take_or_enqueue(me) {
            return self.take_slot(me);
        }
        me.assigned_hec().set(self.no());
        self.on_waiters_changed(&st);
        self.interrupt();
        drop(st);
        loop {
            match me.await_call() {
                Called::Has(no) => return me.on_acquire(no),
                Called::Look(no) if no == self.no() && self.look(me) => return,
                Called::Look(_) => {}
            }
        }
    }

    /// Takes the HEC for the calling task if it rests.
    fn try_take(self, me: Self::Task) -> bool {
        self.take_if(me, |st| st.is_free())
    }

    /// Takes the HEC for the calling task if nobody holds it, though others may wait for it.
    fn try_retake(self, me: Self::Task) -> bool {
        self.take_if(me, |st| st.holder.is_none())
    }

    fn take_if(self, me: Self::Task, may: impl FnOnce(&SlotState<Self::Task>) -> bool) -> bool {
        let mut st = self.lock();
        let takes = may(&st);
        if takes {
            st.holder = Some(me);
            self.take_slot(me);
        }
        takes
    }

    /// The task has taken the HEC; the lock is held.
    fn take_slot(self, me: Self::Task) {
        self.set_idle(false);
        me.assigned_hec().set(self.no());
        me.on_acquire(self.no());
    }

    /// Passes the HEC on.
    /// # Safety
    /// The caller is `me`, holds it with no thread running, and does not touch it again before it has it back.
    unsafe fn release(self, me: Self::Task) {
        me.assigned_hec().leave();
        me.on_release();
        self.release_to_next(self.lock());
    }

    /// Leaves the HEC for a foreign call, most of which are over sooner than anybody else could wake up: until somebody
    /// comes who has been sent for, it is free for the caller to take it again.
    /// # Safety
    /// As for [`HandoffSlot::release`].
    unsafe fn leave(self, me: Self::Task) {
        let mut st = self.lock();
        me.assigned_hec().leave();
        me.on_release();
        let somebody_waits = st.returning() > 0 || matches!(self.work(), Work::ForAnyone);
        if !(somebody_waits && st.may_be_left()) {
            return self.release_to_next(st);
        }
        let hurry = self.is_left(me);
        let on_the_way = st.pending_checker();
        let sent_for = st.leave(|st| self.worker(st));
        drop(st);
        if let Some(t) = sent_for {
            t.request_check(self.no());
        } else if let Some(t) = on_the_way.filter(|_| hurry) {
            t.wake();
        }
    }

    /// The task, which has been sent for, takes the HEC if it is free; if not it goes on to wait.
    fn look(self, me: Self::Task) -> bool {
        self.await_short_call(me);
        let mut st = self.lock();
        let free = st.look(me);
        if free {
            self.on_waiters_changed(&st);
            self.take_slot(me);
        }
        free
    }

    /// Gives the HEC its next holder.
    /// # Safety
    /// Nobody holds it but the caller, or nobody at all.
    unsafe fn release_to_next(self, mut st: Guard<Self::Task>) {
        let successor = st.release_to_next(|st| self.successor_for_work(st));
        self.on_waiters_changed(&st);
        self.set_idle(successor.is_none());
        drop(st);
        if let Some(t) = successor {
            t.grant(self.no());
        }
    }

    /// Who should run the first runnable thread, or read the letters?
    /// # Safety
    /// As for [`HandoffSlot::work`].
    unsafe fn successor_for_work(self, st: &mut SlotState<Self::Task>) -> Option<Self::Task> {
        match self.work() {
            Work::Nothing => return None,
            // It is among the returners.
            Work::For(t) if t.assigned_hec().is_at(self.no()) => return None,
            Work::For(t) if t.assigned_hec().promise(self.no()) => return Some(t),
            // A worker will send the thread after its task.
            Work::For(_) | Work::ForAnyone => {}
        }
        Some(self.worker(st))
    }

    /// A worker that has nothing to do yet.
    fn worker(self, st: &mut SlotState<Self::Task>) -> Self::Task {
        st.next_worker().unwrap_or_else(|| self.start_worker())
    }

    /// Passes the HEC on, and puts a worker without work among the idle ones, if there are fewer than `most`: then it
    /// waits for what it is given.
    /// # Safety
    /// As for [`HandoffSlot::release`].
    unsafe fn join_idle(self, me: Self::Task, most: usize) -> bool {
        let mut st = self.lock();
        me.on_release();
        let stays = st.idle.len() < most;
        if stays {
            st.idle.push(me);
        }
        self.release_to_next(st);
        stays
    }

    /// A worker for something else than the HEC.
    fn spare_worker(self) -> Self::Task {
        let idle = self.lock().idle.pop();
        idle.unwrap_or_else(|| self.start_worker())
    }

    /// Lets a task that stops the world have the HEC, and waits until it is back. False if nobody waits for it.
    /// # Safety
    /// As for [`HandoffSlot::release`].
    unsafe fn yield_to_stopper(self, me: Self::Task) -> bool {
        let mut st = self.lock();
        if !st.yield_to_stopper(me) {
            return false;
        }
        me.will_wait_for_world();
        me.on_release();
        self.release_to_next(st);
        me.on_acquire(me.wait_for_world());
        true
    }

    /// Has `me`, which stops the world, get the HEC: at once (true), or as the next turn.
    fn stop(self, me: Self::Task) -> bool {
        let mut st = self.lock();
        // If it rests it goes on to do so: nothing is done there.
        let free = st.stop(me);
        drop(st);
        if !free {
            self.request_return();
        }
        free
    }

    /// Takes the HEC for `me`, which stops the world, if it rests.
    fn stop_if_resting(self, me: Self::Task) -> bool {
        let mut st = self.lock();
        let free = st.is_free();
        if free {
            st.holder = Some(me);
        }
        free
    }

    /// Lets the HEC, which the caller stopped, go on.
    /// # Safety
    /// The caller holds it and does not touch it again.
    unsafe fn resume(self) {
        self.release_to_next(self.lock());
    }

    /// A letter has come: if nobody holds the HEC, somebody is found who reads it.
    fn deliver(self) {
        let st = self.lock();
        if st.holder.is_some() {
            drop(st);
            return self.request_return();
        }
        // SAFETY: nobody holds it, and the lock is ours.
        unsafe { self.release_to_next(st) }
    }

    /// If the HEC rests, lets `fill` put threads on its queue, and has somebody run them.
    /// # Safety
    /// The threads belong to the caller; afterwards they do no longer.
    unsafe fn give(self, fill: impl FnOnce()) -> bool {
        let Some(st) = self.try_lock() else { return false };
        if !st.is_free() {
            return false;
        }
        fill();
        self.release_to_next(st);
        true
    }
}
