//! Hand-off of HECs: which task holds a HEC, and how it passes to the next. Each HEC has a *slot*.
//!
//! *States of a HEC*
//! ```text
//!            acquire, or give / deliver (then granted to a task)
//!      +-------------------------------------------------------------+
//!      |                                                             v
//!    IDLE <----------- release, and there is no successor --------- HELD ---+ release: granted to the successor
//!    no holder                                                       | ^ ^  |
//!    nothing to do                                                   | | +--+
//!                                                   leave, because a | | the caller acquires it again, or the checker
//!                                                      task is sent  v | finds it free and takes it
//!                                                     to check      LEFT
//! ```
//!
//! *Protocol*: `protocol.rs` has the steps, and `state.rs` the choices. `SlotState::holder` names the task that holds
//! the HEC. Only that task may access the HEC and the threads that it owns.
//!
//! 1. [`acquire`]: a task that needs a HEC takes the one it held last if no task holds that, or another one that no
//!    task holds. Otherwise it joins `returning` of the first, requests the running thread to yield, and waits for a
//!    wake-up. A task whose thread is pinned to a HEC takes no other one ([`acquire_home`]).
//! 2. [`release`]: the holder picks a successor, in this order: the task that stops the world
//!    ([`crate::sched::stop_world`]); the task that has been returning longest; the task to which the first runnable
//!    thread is bound. For an unbound thread or a message, that is an idle worker or a new one. If there is none, the
//!    HEC becomes *idle*. Returning tasks and runnable threads alternate. The holder writes the successor's name into
//!    the slot and wakes it, and the successor finds itself the holder. So the HEC is never free but promised: no
//!    wake-up can be lost, and no task can overtake.
//! 3. [`leave`]: for a foreign call the HEC is *left*, which means it stays free. The task to which [`release`] would
//!    have passed it is sent to check (unless that is a task with a thread bound to it). It takes the HEC, under the
//!    lock, if it is still free. Most calls are over before any task wakes up, and the caller then takes the HEC again.
//!    If the call is predicted to be short, the checker first waits for a moment (`short_calls.rs`). One task at a time
//!    is sent to check. So if a HEC is free and has work, a task is on its way. A thread that makes many calls wakes
//!    others only as fast as they can wake. A checker that finds the HEC taken continues to wait: as a returning task
//!    it has requested the running thread to yield. Under a random run order, no task is sent: the order would depend
//!    on how long calls take. If a call takes long, the ticker passes the HEC on.
//! 4. [`join_idle`]: a worker without work, or one that yields to a returning task, adds itself to `idle` before it
//!    releases. The returning task runs the queued threads once its own has stopped.
//! 5. A task in an in-call may hold one HEC and run other threads while its own thread is on the queue of another HEC.
//!    Then the thread is sent after the task ([`task_elsewhere`]). `AssignedHec` says where a task is or has been
//!    promised to be, so it is never promised two HECs. While a task is in C, no thread that is bound to it can run. So
//!    no HEC is promised to a task that returns from C.
//! 6. [`give`]: while the HEC is idle, a task with the slot's lock may put threads on its queue, and then picks a
//!    successor as in 2.
//!
//! *Invariants*
//! - Threads of a HEC become runnable only by its holder, by a message, or by [`give`].
//! - The sender of a message checks the slot after sending ([`deliver`]), and a releasing task checks for messages
//!   before it releases. Both do so under the lock, so one of them sees the other.
//!
//! *Locking*: `SlotState` is accessed only under the slot's lock.
//!
//! *Checked by*: the loom models in `rts/tests/models/handoff.rs`, `bound.rs`, `fibers.rs`, `migration.rs` and others,
//! which compile `protocol.rs` and `state.rs`.
pub(super) mod after_fork;
pub(super) mod protocol;
pub(super) mod short_calls;
pub(super) mod state;
use crate::abi::Tso;
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::cpus;
use crate::base::once_ptr::get_or_make;
use crate::hec;
use crate::hec::fork_safe_lock::Lock;
use crate::hec::lenient_work;
use crate::hec::run_order;
use crate::hec::user_slot::UserSlot;
use crate::hec::{Hec, MAX_HECS};
use crate::sched::event_poll;
use crate::sched::handoff::protocol::{HandoffSlot as _, Task as _, Work};
use crate::sched::handoff::short_calls::ShortCalls;
use crate::sched::handoff::state::SlotState;
use crate::sched::stuck_hecs;
use crate::sched::task;
use crate::sched::task::{same, InCall, TaskRef, Watched};
use crate::sched::task_table;
use crate::sched::ticker_sleep::TickerSleep;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, MutexGuard};

/// The most idle workers that each HEC keeps, and that there are for each core; others end. Enough for calls that
/// overlap, and few enough to cost little memory.
const MAX_IDLE_WORKERS: usize = 6;

/// The number of idle workers.
static IDLE_WORKERS: AtomicUsize = AtomicUsize::new(0);

pub(super) struct HecSlot {
    no: usize,
    state: Lock<SlotState<TaskRef>>,
    /// The number of tasks in `returning`, for a check without the lock. A task that joins requests the running thread
    /// to yield, so a check that is too early is followed by another. If the thread is only about to run, its limit
    /// overwrites the request, and it gets its time slice first. If the request were repeated, calls that return
    /// quickly could keep the thread from ever making progress.
    returning: AtomicUsize,
    short_calls: ShortCalls,
    /// How often the HEC has been taken. Written under the lock.
    taken: AtomicUsize,
    /// The same at the last tick at which its events needed a task.
    taken_at_tick: AtomicUsize,
    /// At how many ticks since then it needed a task and had not been taken. The ticker's.
    ticks_untaken: AtomicUsize,
}

impl HecSlot {
    fn new(no: usize) -> HecSlot {
        let [returning, taken, taken_at_tick, ticks_untaken] = [const { AtomicUsize::new(0) }; 4];
        let state = Lock::new(SlotState::new(None));
        HecSlot { no, state, returning, short_calls: ShortCalls::new(), taken, taken_at_tick, ticks_untaken }
    }

    /// At how many ticks, this one included, it has needed a task since it was taken last. The ticker calls this.
    fn count_untaken(&self) -> usize {
        let taken = self.taken.load(Ordering::Relaxed);
        let same = self.taken_at_tick.swap(taken, Ordering::Relaxed) == taken;
        let ticks = if same { self.ticks_untaken.load(Ordering::Relaxed) + 1 } else { 0 };
        self.ticks_untaken.store(ticks, Ordering::Relaxed);
        ticks
    }

    /// The HEC has a new holder. Called under the lock.
    fn on_taken(&self) {
        self.taken.store(self.taken.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        TICKER_SLEEP.taken();
    }
}

/// Slots are made when first used, because most programs have few.
static SLOTS: [AtomicPtr<HecSlot>; MAX_HECS] = [const { AtomicPtr::new(null_mut()) }; MAX_HECS];

#[inline]
pub(super) fn slot(no: usize) -> &'static HecSlot {
    get_or_make(&SLOTS[no], || HecSlot::new(no))
}

static STOPPING: AtomicBool = AtomicBool::new(false);

/// The ticker's sleep.
pub static TICKER_SLEEP: LazyLock<TickerSleep> = LazyLock::new(TickerSleep::new);

/// How often HECs have been taken. The ticker uses this to tell idle HECs from busy ones.
pub fn take_count() -> usize {
    (0..hec::count()).map(|no| slot(no).taken.load(Ordering::Relaxed)).fold(0, usize::wrapping_add)
}

/// Does the calling OS thread hold a HEC?
pub fn holds_hec() -> bool {
    !task_table::current().held().is_null()
}

impl crate::sched::handoff::protocol::HandoffSlot for &'static HecSlot {
    type Task = TaskRef;

    fn no(self) -> usize {
        self.no
    }

    fn lock(self) -> MutexGuard<'static, SlotState<TaskRef>> {
        self.state.lock()
    }

    fn try_lock(self) -> Option<MutexGuard<'static, SlotState<TaskRef>>> {
        self.state.try_lock()
    }

    unsafe fn renew(self, state: SlotState<TaskRef>) {
        self.state.renew(state);
    }

    unsafe fn work(self) -> Work<TaskRef> {
        if !crate::sched::settings().threaded || stopping() {
            return Work::Nothing;
        }
        let hec = &*hec::address(self.no);
        let first = hec.run_queue.first();
        if !first.is_null() {
            return task_of(first).map_or(Work::ForAnyone, Work::For);
        }
        if !hec.to_enqueue.is_empty()
            || hec.user_slot.is_overdue()
            || hec.has_messages()
            || hec.is_enabled() && (!hec.sparks.is_empty() || stuck_hecs::any())
            || lenient_work::has_work(hec)
        {
            Work::ForAnyone
        } else {
            Work::Nothing
        }
    }

    /// With more HECs than cores, workers are few: one that is idle elsewhere is taken.
    fn start_worker(self) -> TaskRef {
        let elsewhere = (0..hec::count()).filter(|&no| no != self.no && hec::count() > cpus::at_start());
        let idle = elsewhere.filter_map(|no| slot(no).try_lock()).find_map(|mut st| st.take_idle(|t| !t.watches()));
        idle.unwrap_or_else(task_table::start_worker)
    }

    fn has_events(self) -> bool {
        event_poll::has_events(self.no)
    }

    fn has_ticker(self) -> bool {
        crate::sched::settings().ticks
    }

    fn needs_task_for_events(self) -> bool {
        crate::sched::settings().threaded && !stopping() && event_poll::needs_task(self.no)
    }

    fn set_idle(self, idle: bool) {
        if !idle {
            self.on_taken();
        }
        // With one HEC, no HEC asks for an idle one.
        if hec::many() {
            hec::set_idle(self.no, idle && self.no < hec::enabled());
        }
    }

    fn on_waiters_changed(self, st: &SlotState<TaskRef>) {
        self.returning.store(st.returning(), Ordering::Relaxed);
    }

    fn on_leave(self, by: TaskRef) -> bool {
        let call = by.call.get();
        // Where another core is free, predictions are not used, and no timing is needed.
        let oversubscribed = !ACTIVE_HECS.has_spare_core();
        let short = oversubscribed && call.predicted_short();
        if oversubscribed && (!short || self.short_calls.is_sample()) {
            by.call.set(call.start_timing());
        }
        self.short_calls.record(short)
    }

    fn sends_checkers(self) -> bool {
        !(run_order::is_random() && self.has_ticker())
    }

    fn await_short_call(self, me: TaskRef) {
        self.short_calls.await_short_call(me);
    }

    fn interrupt(self) {
        // SAFETY: writes one atomic.
        unsafe { (*hec::address(self.no)).interrupt() }
    }

    fn request_poll(self) {
        // SAFETY: writes two atomics.
        unsafe { &*hec::address(self.no) }.request_poll();
    }

    fn request_return(self) {
        // SAFETY: writes two atomics.
        unsafe { (*hec::address(self.no)).request_return() }
    }
}

/// Acquires a HEC, and waits for it if necessary.
pub fn acquire(me: TaskRef) {
    may_acquire(me);
    let enabled = hec::enabled();
    let no = if me.last() < enabled { me.last() } else { 0 };
    let takes_one =
        || slot(no).try_retake(me) || hec::idle_count() > 0 && (0..enabled).any(|i| i != no && slot(i).try_take(me));
    if !(enabled > 1 && takes_one()) {
        slot(no).acquire(me);
    }
}

/// Acquires HEC `no`, for a thread that is pinned to it, unless it has been disabled.
pub fn acquire_home(me: TaskRef, no: usize) {
    if no >= hec::enabled() {
        return acquire(me);
    }
    may_acquire(me);
    slot(no).acquire(me);
}

/// Acquires a HEC for a call from C, which may have chosen one ([`Task::preferred`](super::task::Task::preferred)).
pub fn acquire_for_call(me: TaskRef) {
    match me.preferred.get() {
        Some(no) => acquire_home(me, no % hec::enabled()),
        None => acquire(me),
    }
}

fn may_acquire(me: TaskRef) {
    if !me.held().is_null() {
        crate::base::fatal::exit_with(
            1,
            "error: an unsafe foreign call or a C finalizer called back into Haskell; \
             the call must be declared safe",
        );
    }
}

/// Acquires the first HEC only if no task holds it or waits for it.
pub fn try_acquire(me: TaskRef) -> bool {
    !stopping() && slot(0).try_take(me)
}

/// Does a task hold any HEC?
pub fn any_held() -> bool {
    (0..hec::count()).any(is_held)
}

/// Does a task hold HEC `no`?
pub fn is_held(no: usize) -> bool {
    slot(no).lock().holder.is_some()
}

/// Does a task that stops the world wait for HEC `no`?
pub(super) fn is_awaited(no: usize) -> bool {
    slot(no).lock().is_awaited()
}

/// Does a task wait to return from a foreign call to HEC `no`?
#[inline]
pub fn has_returning(no: usize) -> bool {
    slot(no).returning.load(Ordering::Relaxed) != 0
}

/// The number of tasks that wait for the first HEC.
#[cfg(test)]
pub fn waiting() -> usize {
    slot(0).lock().returning()
}

/// Passes the HEC on. The caller must not access it before it has acquired it again.
/// # Safety
/// The caller is `me` and holds a HEC, and no thread is running.
pub unsafe fn release(me: TaskRef) {
    slot(me.last()).release(me);
}

/// Passes the HEC on at the end of a call from C. Under a random run order, the HEC is only left if that call was made
/// by a foreign call: whether this ends before another task could run depends on the clock.
/// # Safety
/// As for [`release`].
pub unsafe fn release_to_c(me: TaskRef) {
    if run_order::is_random() && !me.calls.with(|calls| calls.is_empty()) {
        return leave(me);
    }
    release(me);
}

/// In the non-threaded way: lets the HEC be idle while `wait` waits for an external event, so that the ticker sees that
/// it is not used.
/// # Safety
/// As for [`release`]. `wait` does not access the HEC, and a collection does not invalidate what it does.
pub unsafe fn idle_while<R>(wait: impl FnOnce() -> R) -> R {
    let me = task_table::current();
    release(me);
    let result = wait();
    slot(me.last()).acquire(me);
    result
}

/// Leaves the HEC free for a foreign call.
/// # Safety
/// As for [`release`].
pub(super) unsafe fn leave(me: TaskRef) {
    slot(me.last()).leave(me);
}

/// The task, which has been sent to check HEC `no`, takes it if it is free.
pub(super) fn check(me: TaskRef, no: usize) -> bool {
    slot(no).check(me)
}

/// Passes the HEC on and waits until the task holds one again: for a task bound to a thread that cannot run now.
/// # Safety
/// As for [`release`].
pub unsafe fn release_and_wait(me: TaskRef) {
    release(me);
    me.on_acquire(me.wait_turn());
}

/// Passes the HEC of a worker without work on, and adds the worker to the idle ones, to wait for a wake-up. Returns
/// false if the worker should end instead.
/// # Safety
/// As for [`release`].
pub unsafe fn join_idle(me: TaskRef) -> bool {
    let cores = hec::enabled().min(cpus::at_start());
    let most = if stopping() {
        0
    } else if me.watches() {
        usize::MAX
    } else if IDLE_WORKERS.load(Ordering::Relaxed) >= MAX_IDLE_WORKERS * cores {
        0
    } else {
        MAX_IDLE_WORKERS
    };
    let joins = slot(me.last()).join_idle(me, most);
    IDLE_WORKERS.fetch_add(joins as usize, Ordering::Relaxed);
    joins
}

/// A worker that has [joined the idle ones](join_idle) has work.
pub fn leave_idle() {
    IDLE_WORKERS.fetch_sub(1, Ordering::Relaxed);
}

/// Passes the caller's HEC to a task that stops the world, and waits until it is back. Returns false if no such task
/// waits for it.
/// # Safety
/// As for [`release`].
pub(super) unsafe fn yield_to_stopper(me: TaskRef) -> bool {
    slot(me.last()).yield_to_stopper(me)
}

/// Adds a HEC. If `holder` is given, it is the task that has stopped the world. Without a holder a task that returns
/// from a foreign call could take the HEC, and lose it when the world resumes.
/// # Safety
/// As for [`hec::add`].
pub unsafe fn add(h: &'static mut Hec, holder: Option<TaskRef>) {
    let no = h.no as usize;
    let mut st = slot(no).lock();
    st.holder = holder;
    hec::add(h);
    // The first HEC is about to be taken.
    if hec::many() {
        hec::set_idle(no, holder.is_none());
    }
}

/// A message has been sent to HEC `h`: if no task holds it, finds a task that reads the message.
pub fn deliver(h: &Hec) {
    slot(h.no as usize).deliver();
}

/// If HEC `no` is idle, lets `fill` put threads on its queue, and finds a task that runs them.
/// # Safety
/// The caller owns the threads, and no longer does so afterwards.
pub(super) unsafe fn give(no: usize, fill: impl FnOnce(&mut Hec)) -> bool {
    !stopping() && slot(no).give(|| fill(&mut *hec::address(no)))
}

/// Makes sure that a task sees to the events of HEC `no`: if no task holds the HEC or watches them, sends a worker.
pub fn ensure_served(no: usize) {
    if event_poll::needs_task(no) {
        slot(no).send_watcher();
    }
}

/// For how many ticks a HEC is left to a foreign call under a random run order. On a busy machine a short call may lie
/// for some of them, and the schedule would be another one.
const TICKS_UNDER_RANDOM_ORDER: usize = 20;

/// The same for all HECs that have not been taken since the last call: for those that were left for a foreign call that
/// takes long. If one is left with work, it is passed on, and so is one whose user slot has a thread in a call. Called
/// at ticks.
pub fn ensure_all_served() {
    for no in (0..hec::count()).filter(|&no| needs_task(no)) {
        let needed = if slot(no).sends_checkers() { 1 } else { TICKS_UNDER_RANDOM_ORDER };
        if slot(no).count_untaken() >= needed || event_poll::has_signals() {
            if user_slot(no).note_long_call() || is_left_with_work(no) {
                slot(no).send_worker();
            } else {
                slot(no).send_watcher();
            }
        }
    }
}

/// Do the events of HEC `no` need a task, if none holds it, has it been left with work and no task sent to check, or is
/// the thread in its user slot in a call?
fn needs_task(no: usize) -> bool {
    event_poll::needs_task(no) || user_slot(no).is_in_call() || is_left_with_work(no)
}

fn user_slot(no: usize) -> &'static UserSlot {
    // SAFETY: HECs are never freed, and this one has only atomics.
    unsafe { &(*hec::address(no)).user_slot }
}

/// Has HEC `no` work, although no task holds it and none has been sent? Only under a random run order.
fn is_left_with_work(no: usize) -> bool {
    if slot(no).sends_checkers() {
        return false;
    }
    let st = slot(no).lock();
    // SAFETY: the caller has the lock.
    st.holder.is_none() && !matches!(unsafe { slot(no).work() }, Work::Nothing)
}

/// HEC `no` is held, and its thread does not return to the scheduler: if there are events for it, has another HEC serve
/// them. That is one that no task holds, or else all others are asked.
pub(super) fn rescue(no: usize) {
    let others = || (0..hec::enabled()).filter(|&other| other != no);
    if stopping() || hec::enabled() < 2 || !event_poll::look(no) {
        return;
    }
    stuck_hecs::note(no);
    if !others().any(|other| slot(other).send_worker()) {
        others().for_each(|other| slot(other).request_poll());
    }
}

/// Do events of a HEC that no task holds need a task?
pub fn any_needs_task() -> bool {
    (0..hec::count()).any(|no| needs_task(no) && !is_held(no))
}

/// The holder, which has nothing to run, watches the events of its HEC when it has released it. `is_idle`: it will be
/// among the idle workers. If as many tasks as there are cores watch already, the shared watcher does so instead.
pub(super) fn watch_events(me: TaskRef, is_idle: bool) {
    let no = me.last();
    if !event_poll::watch(no).begin() {
        return;
    }
    let many_watch = hec::count() > cpus::at_start() && task::watching() >= cpus::at_start();
    if !(many_watch && event_poll::join_shared_watch(no)) {
        let take = |me: TaskRef, w: Watched| !stopping() && slot(w.no).take_for_events(me, w.is_idle);
        me.watch(Watched { no, is_idle, take, ended: ensure_served });
    }
}

/// The shared watcher does not watch the events of HEC `no` any more: a task must serve them.
pub fn end_shared_watch(no: usize) {
    event_poll::watch(no).end();
    if !slot(no).send_worker() {
        slot(no).request_poll();
    }
}

/// The task that thread `t` is bound to.
unsafe fn task_of(t: Tso) -> Option<TaskRef> {
    let bound = t.obj().bound as *const InCall;
    (!bound.is_null()).then(|| (*bound).task)
}

/// May the task run thread `t`? Not if `t` is bound to another task.
/// # Safety
/// The caller holds the HEC that owns `t`.
pub unsafe fn may_run(me: TaskRef, t: Tso) -> bool {
    task_of(t).is_none_or(|task| same(task, me))
}

/// The other HEC that the task of bound thread `t` holds or will hold. The thread should move there, because the task
/// runs other threads and cannot come.
/// # Safety
/// As for [`may_run`].
pub unsafe fn task_elsewhere(no: usize, t: Tso) -> Option<&'static Hec> {
    let at = task_of(t)?.assigned_hec.elsewhere(no)?;
    Some(&*hec::address(at))
}

/// From now on HECs are passed to returning tasks only: the program is ending.
pub fn end_handoff() {
    STOPPING.store(true, Ordering::SeqCst);
}

pub fn stopping() -> bool {
    STOPPING.load(Ordering::Relaxed)
}

/// Gives the first HEC to a test that begins.
/// # Safety
/// No slot has another holder.
#[cfg(test)]
pub unsafe fn take_first_slot(me: TaskRef) {
    slot(0).take_slot(me);
}

/// Resets the slots in the child of a fork, where `me` holds all HECs.
/// # Safety
/// Called in the child, before anything else.
pub unsafe fn after_fork(me: TaskRef) {
    task_table::after_fork(me);
    IDLE_WORKERS.store(0, Ordering::Relaxed);
    crate::sched::handoff::after_fork::after_fork(me, (0..hec::count()).map(slot));
    STOPPING.store(false, Ordering::Relaxed);
}
