//! Who holds a HEC, and how it passes from hand to hand. Each HEC has a *seat*.
//!
//! Protocol (its steps are in `protocol.rs`, the choices in `state.rs`). `SlotState::holder` names the
//! task that holds the HEC; only that task may touch the HEC and the threads that belong to it. It is
//! written under the seat's lock only:
//!
//! 1. [`acquire`]: a task that wants a HEC takes the one it had last if nobody holds that, or
//!    another that nobody holds; otherwise it joins `returning` of the first, asks the running
//!    thread to give way, and waits for its turn. One whose thread is tied to a HEC takes no other
//!    ([`acquire_home`]).
//! 2. [`release`]: the holder picks a successor: who stops the world (`sched/stop_world.rs`); or the longest
//!    waiting returner; or the task that the first runnable thread is bound to, which for an
//!    unbound one (and for letters) is an idle worker or a new one; or nobody: then the HEC
//!    *rests*. Where there are returners and threads, they take turns. It writes the successor's
//!    name and gives it its turn. The successor finds itself the holder: there is no moment in
//!    which the HEC is free but promised, so no wake-up can be lost and none can overtake.
//!    For a foreign call the HEC is *left*: it stays free, and the one whom it would have been passed to (but a task
//!    with a thread bound to it) is sent for. Who looks, under the lock, takes it if it is free then; the caller may have taken it
//!    again, for most calls are over sooner than anybody wakes up. (Who has been sent for lingers, but not for long, before it looks, if
//!    the call is expected to be short: `short_calls.rs`.) One at a time is sent for. So if a HEC is free and there is something to do
//!    on it, somebody is on the way; and a thread that makes calls all the time wakes others only as fast as they can wake. One who
//!    looks in vain waits on: a returner has asked the running thread to give way.
//! 3. A worker that has nothing to do, or makes way for a returner, puts itself on `idle` before
//!    it releases: the returner runs the threads on the queue once its own has stopped.
//!    A task in an in-call may hold one HEC, running other threads, while its own thread is on the
//!    queue of another: then the thread is sent after the task ([`task_elsewhere`]). `AssignedHec`
//!    say where a task is or has been promised to be, so it is never promised two HECs.
//!    While a task is in C no thread that is bound to it can run, so no HEC is promised to it as it comes back.
//! 4. While the HEC rests, whoever has the seat's lock may put threads on its queue, and then picks
//!    a successor as in 2 ([`give`]).
//!
//! Threads of a HEC become runnable only by the hand of its holder, by a letter, or as in 4. Who
//! sends a letter looks at the seat afterwards ([`deliver`]), and who releases looks at the letters
//! before, both under the lock: one of them sees the other.
pub(super) mod after_fork;
pub(super) mod protocol;
pub(super) mod short_calls;
pub(super) mod state;
use crate::abi::Tso;
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::once_ptr::made_once;
use crate::hec;
use crate::hec::fork_safe_lock::Lock;
use crate::hec::{Hec, MAX_HECS};
use crate::sched::handoff::protocol::{HandoffSlot as _, Task as _, Work};
use crate::sched::handoff::short_calls::ShortCalls;
use crate::sched::handoff::state::SlotState;
use crate::sched::in_call::InCall;
use crate::sched::spark;
use crate::sched::task::{same, TaskRef};
use crate::sched::task_table;
use crate::sched::ticker_sleep::TickerSleep;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, MutexGuard};

/// Idle workers kept for later, for each HEC; others end.
const MAX_IDLE_WORKERS: usize = 6;

pub(super) struct HecSlot {
    no: usize,
    state: Lock<SlotState<TaskRef>>,
    /// Tasks in `returning`, for a look without the lock: who joins asks the running thread to
    /// give way, so a look that comes too early is followed by another. If the thread is only
    /// about to run its limit overwrites that, and it has its time slice first: were it asked
    /// again, calls that return quickly could keep it from ever doing anything.
    returning: AtomicUsize,
    short_calls: ShortCalls,
    /// How often the HEC has been taken. Written under the lock.
    taken: AtomicUsize,
}

impl HecSlot {
    fn new(no: usize) -> HecSlot {
        let [returning, taken] = [const { AtomicUsize::new(0) }; 2];
        HecSlot { no, state: Lock::new(SlotState::new(None)), returning, short_calls: ShortCalls::new(), taken }
    }

    /// The HEC has a new holder; under the lock.
    fn is_taken(&self) {
        self.taken.store(self.taken.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        TICKER_SLEEP.taken();
    }
}

/// Made when first asked for: most programs have few.
static SLOTS: [AtomicPtr<HecSlot>; MAX_HECS] = [const { AtomicPtr::new(null_mut()) }; MAX_HECS];

#[inline]
pub(super) fn slot(no: usize) -> &'static HecSlot {
    made_once(&SLOTS[no], || HecSlot::new(no))
}

static STOPPING: AtomicBool = AtomicBool::new(false);

/// The ticker's sleep.
pub static TICKER_SLEEP: LazyLock<TickerSleep> = LazyLock::new(TickerSleep::new);

/// How often HECs have been taken: how the ticker tells idle ones from busy ones.
pub fn times_taken() -> usize {
    (0..hec::count()).map(|no| slot(no).taken.load(Ordering::Relaxed)).fold(0, usize::wrapping_add)
}

/// Does the calling OS thread hold a HEC?
pub fn i_hold() -> bool {
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
        let first = hec.run_queue.head;
        if !first.is_null() {
            return task_of(first).map_or(Work::ForAnyone, Work::For);
        }
        if hec.has_messages() || spark::may_run(hec) && !hec.sparks.is_empty() {
            Work::ForAnyone
        } else {
            Work::Nothing
        }
    }

    fn start_worker(self) -> TaskRef {
        task_table::start_worker()
    }

    fn set_idle(self, idle: bool) {
        if !idle {
            self.is_taken();
        }
        // Nobody asks for one to share with where there is only one.
        if hec::many() {
            hec::set_idle(self.no, idle && self.no < hec::enabled());
        }
    }

    fn on_waiters_changed(self, st: &SlotState<TaskRef>) {
        self.returning.store(st.returning(), Ordering::Relaxed);
    }

    fn is_left(self, by: TaskRef) -> bool {
        let call = by.call.get();
        // Where another core is free nobody waits for what is foreseen, and nothing need be known.
        let oversubscribed = !ACTIVE_HECS.has_spare_core();
        let short = oversubscribed && call.predicted_short();
        if oversubscribed && (!short || self.short_calls.is_sample()) {
            by.call.set(call.start_timing());
        }
        self.short_calls.count(short)
    }

    fn await_short_call(self, me: TaskRef) {
        self.short_calls.await_short_call(me);
    }

    fn interrupt(self) {
        // SAFETY: one atomic is written.
        unsafe { (*hec::address(self.no)).interrupt() }
    }

    fn request_return(self) {
        // SAFETY: two atomics are written.
        unsafe { (*hec::address(self.no)).request_return() }
    }
}

/// Takes a HEC, waiting for it if need be.
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

/// Takes HEC `no`, for a thread that is tied to it, unless it has been switched off.
pub fn acquire_home(me: TaskRef, no: usize) {
    if no >= hec::enabled() {
        return acquire(me);
    }
    may_acquire(me);
    slot(no).acquire(me);
}

/// Takes a HEC for a call from C, which may have said which ([`Task::preferred`](task::Task::preferred)).
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

/// Takes the first HEC only if nobody holds it or waits for it.
pub fn try_acquire(me: TaskRef) -> bool {
    !stopping() && slot(0).try_take(me)
}

/// Is some HEC held?
pub fn busy() -> bool {
    (0..hec::count()).any(is_held)
}

/// Is HEC `no` held?
pub fn is_held(no: usize) -> bool {
    slot(no).lock().holder.is_some()
}

/// Does who stops the world wait for HEC `no`?
pub(super) fn is_awaited(no: usize) -> bool {
    slot(no).lock().is_awaited()
}

/// Is somebody waiting to return from a foreign call to HEC `no`?
#[inline]
pub fn has_returning(no: usize) -> bool {
    slot(no).returning.load(Ordering::Relaxed) != 0
}

/// How many wait for the first HEC.
#[cfg(test)]
pub fn waiting() -> usize {
    slot(0).lock().returning()
}

/// Passes the HEC on. The caller must not touch it again before it has it back.
/// # Safety
/// The caller is `me` and holds a HEC, with no thread running.
pub unsafe fn release(me: TaskRef) {
    slot(me.last()).release(me);
}

/// In the non-threaded way: lets the HEC rest while `wait` waits for something from outside, so that the ticker sees that it is not used.
/// # Safety
/// As for [`release`]; `wait` does not touch the HEC, and nothing that it does is undone by a collection.
pub unsafe fn rest_while<R>(wait: impl FnOnce() -> R) -> R {
    let me = task_table::current();
    release(me);
    let result = wait();
    slot(me.last()).acquire(me);
    result
}

/// Leaves the HEC for a foreign call.
/// # Safety
/// As for [`release`].
pub(super) unsafe fn leave(me: TaskRef) {
    slot(me.last()).leave(me);
}

/// The task, which has been sent for, takes HEC `no` if that is free.
pub(super) fn look(me: TaskRef, no: usize) -> bool {
    slot(no).look(me)
}

/// Passes the HEC on and waits for a turn: for a task bound to a thread that cannot run now.
/// # Safety
/// As for [`release`].
pub unsafe fn release_and_wait(me: TaskRef) {
    release(me);
    me.on_acquire(me.wait_turn());
}

/// A worker without work passes its HEC on and joins the idle ones, to wait for its turn. False
/// when it should end instead.
/// # Safety
/// As for [`release`].
pub unsafe fn join_idle(me: TaskRef) -> bool {
    slot(me.last()).join_idle(me, if stopping() { 0 } else { MAX_IDLE_WORKERS })
}

/// Lets a task that stops the world have the caller's HEC, and waits until it is back. False if
/// nobody waits for it.
/// # Safety
/// As for [`release`].
pub(super) unsafe fn yield_to_stopper(me: TaskRef) -> bool {
    slot(me.last()).yield_to_stopper(me)
}

/// Adds a HEC, held by the task that has stopped the world: else one that comes back from a foreign
/// call might take it, and then lose it when the world goes on. Without a holder it rests.
/// # Safety
/// As for [`hec::add`].
pub unsafe fn found(h: &'static mut Hec, holder: Option<TaskRef>) {
    let no = h.no as usize;
    let mut st = slot(no).lock();
    st.holder = holder;
    hec::add(h);
    // The first one is about to be taken.
    if hec::many() {
        hec::set_idle(no, holder.is_none());
    }
}

/// A letter has come for HEC `h`: if nobody holds it, somebody is found who reads it.
pub fn deliver(h: &Hec) {
    slot(h.no as usize).deliver();
}

/// If HEC `no` rests, lets `fill` put threads on its queue, and has somebody run them.
/// # Safety
/// The threads belong to the caller; afterwards they do no longer.
pub(super) unsafe fn give(no: usize, fill: impl FnOnce(&mut Hec)) -> bool {
    !stopping() && slot(no).give(|| fill(&mut *hec::address(no)))
}

/// The task that thread `t` is bound to.
unsafe fn task_of(t: Tso) -> Option<TaskRef> {
    let bound = t.obj().bound as *const InCall;
    (!bound.is_null()).then(|| (*bound).task)
}

/// May the task run thread `t`? One that is bound to another task it may not.
/// # Safety
/// `t` belongs to a HEC that the caller holds.
pub unsafe fn runs_here(me: TaskRef, t: Tso) -> bool {
    task_of(t).is_none_or(|task| same(task, me))
}

/// The other HEC at which the task is, or will be, that thread `t` is bound to. The thread should
/// go there: the task runs other threads, and cannot come.
/// # Safety
/// As for [`runs_here`].
pub unsafe fn task_elsewhere(no: usize, t: Tso) -> Option<&'static Hec> {
    let at = task_of(t)?.assigned_hec.elsewhere(no)?;
    Some(&*hec::address(at))
}

/// From now on HECs are passed to returners only: the program is ending.
pub fn end_handoff() {
    STOPPING.store(true, Ordering::SeqCst);
}

pub fn stopping() -> bool {
    STOPPING.load(Ordering::Relaxed)
}

/// A test begins, with the first HEC.
/// # Safety
/// No seat has another holder.
#[cfg(test)]
pub unsafe fn take_first_slot(me: TaskRef) {
    slot(0).take_slot(me);
}

/// In the child of a fork: `me` holds all HECs.
/// # Safety
/// As for [`task_table::after_fork`].
pub(super) unsafe fn after_fork(me: TaskRef) {
    crate::sched::handoff::after_fork::after_fork(me, (0..hec::count()).map(slot));
    STOPPING.store(false, Ordering::Relaxed);
}
