//! The steps of the hand-off protocol, all under the lock of a HEC's slot, independent of what tasks and HECs are.
//! `mod.rs` describes the protocol and implements the traits, and `state.rs` chooses the next holder.
//!
//! *Checked by*: the loom models in `rts/tests/models/handoff.rs`, `bound.rs`, `fibers.rs` and others, which compile
//! this file.
use crate::base::atomics::{AtomicUsize, MutexGuard, Ordering};
use crate::sched::handoff::state::SlotState;

const NOWHERE: usize = usize::MAX;

/// The HEC that a task holds or will be passed next, if any. Tasks that have a thread bound to it use this. Otherwise
/// the task waits for a HEC that has its thread, or is in C.
pub struct AssignedHec(AtomicUsize);

impl AssignedHec {
    pub fn new() -> AssignedHec {
        AssignedHec(AtomicUsize::new(NOWHERE))
    }

    fn is_at(&self, no: usize) -> bool {
        self.0.load(Ordering::Acquire) == no
    }

    /// The HEC other than `no` that the task holds or will hold.
    pub fn elsewhere(&self, no: usize) -> Option<usize> {
        let at = self.0.load(Ordering::Acquire);
        (at != NOWHERE && at != no).then_some(at)
    }

    /// The task holds no HEC any more.
    pub fn leave(&self) {
        self.set(NOWHERE);
    }

    /// Records that the task holds HEC `no` or will hold it.
    fn set(&self, no: usize) {
        self.0.store(no, Ordering::Release);
    }

    /// Promises the task HEC `no`, unless it has been promised one.
    fn promise(&self, no: usize) -> bool {
        self.0.compare_exchange(NOWHERE, no, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// An OS thread that holds HECs.
pub trait Task: Copy + PartialEq + 'static {
    fn assigned_hec(self) -> &'static AssignedHec;
    /// It now works with HEC `no`, which it has been given. Called by the task.
    fn on_acquire(self, no: usize);
    /// It has released its HEC. Called by the task.
    fn on_release(self);
    /// Gives it HEC `no`. Any OS thread may call this.
    fn grant(self, no: usize);
    /// Makes it check whether HEC `no` is free. Any OS thread may call this.
    fn request_check(self, no: usize);
    /// Makes it check now, if it is waiting for a short call. Any OS thread may call this.
    fn wake(self);
    /// Waits until it has been given a HEC or sent to check one. Called by the task.
    fn await_signal(self) -> Signal;
    /// It is about to pass its HEC to a task that stops the world, and to [wait for that](Task::wait_for_world). Called
    /// by the task.
    fn will_wait_for_world(self);
    /// As [`Task::wait_turn`], for the HEC that it has passed to a task that stops the world.
    fn wait_for_world(self) -> usize;

    /// Waits until it is given a HEC. Returns the HEC's number. It has not been sent to check a HEC, or has held that
    /// one since. Called by the task.
    fn wait_turn(self) -> usize {
        loop {
            if let Signal::Granted(no) = self.await_signal() {
                return no;
            }
        }
    }
}

/// The event that ends a task's wait.
pub enum Signal {
    /// It holds this HEC.
    Granted(usize),
    /// It should check whether this HEC is free.
    Check(usize),
}

/// The work for a HEC that no task holds.
pub enum Work<T> {
    Nothing,
    /// A message, a spark, or a thread that any task may run.
    ForAnyone,
    /// A thread that is bound to this task.
    For(T),
}

type Guard<T> = MutexGuard<'static, SlotState<T>>;

/// The slot of a HEC.
pub trait HandoffSlot: Copy {
    type Task: Task;

    /// The number of its HEC.
    fn no(self) -> usize;
    fn lock(self) -> Guard<Self::Task>;
    fn try_lock(self) -> Option<Guard<Self::Task>>;
    /// Replaces the lock and the state that it guards, without reading either.
    /// # Safety
    /// No other OS thread uses it any more.
    unsafe fn renew(self, state: SlotState<Self::Task>);
    /// The first work on its HEC.
    /// # Safety
    /// The caller holds the slot's lock, and no thread runs on the HEC.
    unsafe fn work(self) -> Work<Self::Task>;
    fn start_worker(self) -> Self::Task;
    /// Has a task that watched its HEC's events left some for the next holder?
    fn has_events(self) -> bool;
    /// Do events of its HEC lack a task that sees to them, unless one holds the HEC?
    fn needs_task_for_events(self) -> bool;
    /// Its HEC becomes idle, or stops being idle. Called under the lock.
    fn set_idle(self, idle: bool);
    /// The tasks that wait for it may have changed. Called under the lock.
    fn on_waiters_changed(self, st: &SlotState<Self::Task>);
    /// `by`, the caller, leaves its HEC free for a foreign call. Returns true if a task that was sent to check earlier,
    /// and is waiting for a short call, should check now. Called under the lock.
    fn on_leave(self, by: Self::Task) -> bool;
    /// Is a task sent to check at once whether its HEC is still left? If not, the ticker sends one if the call takes
    /// long.
    fn sends_checkers(self) -> bool;
    /// Waits while the HEC is left for short calls, because it is then better where it is (`short_calls.rs`). Called by
    /// `me`, which has been sent to check.
    fn await_short_call(self, me: Self::Task);
    /// Does a ticker look after the events of HECs that are left for long?
    fn has_ticker(self) -> bool;
    /// Makes the running thread yield.
    fn interrupt(self);
    /// Makes the holder poll for events.
    fn request_poll(self);
    /// Makes the holder return to the scheduler, even if it is about to run a thread.
    fn request_return(self);

    /// Acquires the HEC for the calling task, and waits for it if necessary.
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
            match me.await_signal() {
                Signal::Granted(no) => return me.on_acquire(no),
                Signal::Check(no) if no == self.no() && self.check(me) => return,
                Signal::Check(_) => {}
            }
        }
    }

    /// Acquires the HEC for the calling task if it is free and no task waits for it.
    fn try_take(self, me: Self::Task) -> bool {
        self.take_if(me, |st| st.is_free())
    }

    /// Acquires the HEC for the calling task if no task holds it, even if others wait for it.
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

    /// The task has taken the HEC. Called under the lock.
    fn take_slot(self, me: Self::Task) {
        self.set_idle(false);
        me.assigned_hec().set(self.no());
        me.on_acquire(self.no());
    }

    /// Passes the HEC on.
    /// # Safety
    /// The caller is `me` and holds the HEC, and no thread is running. It does not access the HEC before it has
    /// acquired it again.
    unsafe fn release(self, me: Self::Task) {
        me.assigned_hec().leave();
        me.on_release();
        self.release_to_next(self.lock());
    }

    /// Leaves the HEC free for a foreign call. Most calls are over sooner than any other task could wake up: until a
    /// task comes that has been sent to check, the caller can take the HEC again.
    /// # Safety
    /// As for [`HandoffSlot::release`].
    unsafe fn leave(self, me: Self::Task) {
        let mut st = self.lock();
        me.assigned_hec().leave();
        me.on_release();
        let has_work = match self.work() {
            Work::ForAnyone => true,
            // Its task would run beside the call.
            Work::For(_) => !self.sends_checkers(),
            Work::Nothing => false,
        };
        let has_waiters = st.returning() > 0 || self.has_events() || has_work;
        if !(has_waiters && st.may_be_left()) {
            // Most calls are over before events come; the ticker looks after the others.
            return if self.has_ticker() { self.release_to_work(st) } else { self.release_to_next(st) };
        }
        if !self.sends_checkers() && st.returning() == 0 {
            return st.leave_unchecked();
        }
        let check_now = self.on_leave(me);
        let pending = st.pending_checker();
        let sent = st.leave(|st| self.worker(st));
        drop(st);
        if let Some(t) = sent {
            t.request_check(self.no());
        } else if let Some(t) = pending.filter(|_| check_now) {
            t.wake();
        }
    }

    /// The task, which has been sent to check, takes the HEC if it is free. If not, it continues to wait.
    fn check(self, me: Self::Task) -> bool {
        self.await_short_call(me);
        let mut st = self.lock();
        let free = st.check(me);
        if free {
            self.on_waiters_changed(&st);
            self.take_slot(me);
        }
        free
    }

    /// Gives the HEC its next holder. If it has waits and no task watches them, that is a worker.
    /// # Safety
    /// No task but the caller holds it.
    unsafe fn release_to_next(self, mut st: Guard<Self::Task>) {
        let successor = st.release_to_next(|st| {
            self.successor_for_work(st).or_else(|| self.needs_task_for_events().then(|| self.worker(st)))
        });
        self.released_to(st, successor);
    }

    /// As [`HandoffSlot::release_to_next`], without regard to waits.
    /// # Safety
    /// No task but the caller holds it.
    unsafe fn release_to_work(self, mut st: Guard<Self::Task>) {
        let successor = st.release_to_next(|st| self.successor_for_work(st));
        self.released_to(st, successor);
    }

    /// The slot has its next holder, or none.
    fn released_to(self, st: Guard<Self::Task>, successor: Option<Self::Task>) {
        self.on_waiters_changed(&st);
        self.set_idle(successor.is_none());
        drop(st);
        if let Some(t) = successor {
            t.grant(self.no());
        }
    }

    /// The task that should run the first runnable thread or read the messages.
    /// # Safety
    /// As for [`HandoffSlot::work`].
    unsafe fn successor_for_work(self, st: &mut SlotState<Self::Task>) -> Option<Self::Task> {
        match self.work() {
            Work::Nothing => return None,
            // The task is among those returning.
            Work::For(t) if t.assigned_hec().is_at(self.no()) => return None,
            Work::For(t) if t.assigned_hec().promise(self.no()) => return Some(t),
            // A worker will send the thread after its task.
            Work::For(_) | Work::ForAnyone => {}
        }
        Some(self.worker(st))
    }

    /// Takes a worker that has nothing to do.
    fn worker(self, st: &mut SlotState<Self::Task>) -> Self::Task {
        st.next_worker().unwrap_or_else(|| self.start_worker())
    }

    /// Passes the HEC on, and adds a worker without work to the idle ones, if there are fewer than `most`. Returns true
    /// if the worker was added: it then waits for a wake-up.
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

    /// Takes a worker for another purpose than the HEC.
    fn spare_worker(self) -> Self::Task {
        let idle = self.lock().idle.pop();
        idle.unwrap_or_else(|| self.start_worker())
    }

    /// The task, which watches the HEC's events and has found some, takes the HEC. False if another task holds it, or
    /// if `me` has been given something else. `is_idle`: it is among the idle workers.
    fn take_for_events(self, me: Self::Task, is_idle: bool) -> bool {
        let mut st = self.lock();
        if st.holder.is_some() {
            drop(st);
            self.request_poll();
            return false;
        }
        let takes = if is_idle { st.take_as_idle(me) } else { me.assigned_hec().promise(self.no()) };
        if takes {
            st.holder = Some(me);
            self.take_slot(me);
        } else {
            // Another task must see to the events.
            // SAFETY: no task holds the HEC, and the caller has the lock.
            unsafe { self.release_to_next(st) }
        }
        takes
    }

    /// If no task holds the HEC, and events need one, sends a worker.
    fn send_watcher(self) {
        let st = self.lock();
        if st.holder.is_none() && self.needs_task_for_events() {
            // SAFETY: no task holds the HEC, and the caller has the lock.
            unsafe { self.release_to_next(st) }
        }
    }

    /// If no task holds the HEC, and there is work that any HEC can do, sends a worker.
    fn send_worker(self) -> bool {
        let st = self.lock();
        let free = st.holder.is_none();
        if free {
            // SAFETY: no task holds the HEC, and the caller has the lock.
            unsafe { self.release_to_next(st) }
        }
        free
    }

    /// Passes the HEC to a task that stops the world, and waits until it is back. Returns false if no such task waits
    /// for it.
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

    /// Gives the HEC to `me`, which stops the world: at once (true), or when its holder passes it on.
    fn stop(self, me: Self::Task) -> bool {
        let mut st = self.lock();
        // An idle HEC stays idle, because nothing is done on it.
        let free = st.stop(me);
        drop(st);
        if !free {
            self.request_return();
        }
        free
    }

    /// Takes the HEC for `me`, which stops the world, if it is idle.
    fn stop_if_idle(self, me: Self::Task) -> bool {
        let mut st = self.lock();
        let free = st.is_free();
        if free {
            st.holder = Some(me);
        }
        free
    }

    /// Releases the HEC, which the caller stopped.
    /// # Safety
    /// The caller holds it and does not access it again.
    unsafe fn resume(self) {
        self.release_to_next(self.lock());
    }

    /// A message has been sent: if no task holds the HEC, finds a task that reads the message.
    fn deliver(self) {
        let st = self.lock();
        if st.holder.is_some() {
            drop(st);
            return self.request_return();
        }
        // SAFETY: no task holds the HEC, and the caller has the lock.
        unsafe { self.release_to_next(st) }
    }

    /// If the HEC is idle, lets `fill` put threads on its queue, and finds a task that runs them.
    /// # Safety
    /// The caller owns the threads, and no longer does so afterwards.
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
