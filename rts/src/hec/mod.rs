//! The Haskell Execution Context (HEC): what a thread needs while it runs. GHC calls it a Capability.
//!
//! BaseReg points at `r`, and compiled code reaches `fun_table` at negative offsets. The fields after the register
//! table are private to the runtime.
//!
//! *Invariants*
//! - One OS thread at a time uses a HEC: the one that holds it ([`crate::sched::handoff`]). Exceptions are the atomic
//!   fields and the mailbox. An OS thread that needs something of a thread that another HEC owns sends a message
//!   ([`Hec::post_message`]).
//! - HECs are made while the world is stopped and never freed, so their addresses stay valid.
pub mod balance_backoff;
pub mod blame;
pub mod byte_budget;
pub mod fork_safe_lock;
pub mod idle;
mod keyed_queue;
pub mod lenient_pool;
pub mod lenient_work;
pub mod mailbox;
pub mod modify_predictor;
pub mod named_queues;
pub mod priority;
pub mod run_order;
pub mod run_queue;
#[cfg(test)]
mod run_queue_tests;
pub mod sched_groups;
mod shuffled_queue;
pub mod spare_chunks;
pub(crate) mod spark_pool;
pub mod spark_skip;
mod turns;
mod unlinked;
pub mod user_slot;
pub mod wait;
pub mod write_barrier;
use crate::abi::layout::*;
use crate::abi::tso::TSO_SLOT;
use crate::abi::{Closure, FunTable, RegTable, Tso};
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::clock::ticks;
use crate::base::config::checks;
use crate::hec::modify_predictor::ModifyPredictor;
use crate::hec::spark_skip::SparkSkip;
use crate::memory::nursery::AllocArea;
use crate::memory::pretenure::Pretenured;
use crate::memory::remembered_set::RememberedSet;
use crate::memory::BLOCK_BYTES;
use crate::observe::stats::activation_time::ActivationTime;
use crate::observe::stats::{Sparks, UpcallCounts};

use crate::base::adaptive_spin::AdaptiveSpin;
use crate::hec::balance_backoff::BALANCE_BACKOFF;
use crate::hec::blame::{Blame, Fault};
use crate::hec::byte_budget::{virtual_time, ByteBudget};
use crate::hec::lenient_pool::LenientPool;
use crate::hec::mailbox::Mailbox;
use crate::hec::run_queue::ThreadQueue;
use crate::hec::sched_groups::GroupRef;
use crate::hec::spare_chunks::SpareChunks;
use crate::hec::spark_pool::SparkRing;
use crate::hec::user_slot::UserSlot;
use crate::hec::wait::Wait;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::OnceLock;

#[repr(C)]
pub struct Hec {
    pub fun_table: FunTable,
    pub r: RegTable,
    pub no: u32,
    /// Nonzero asks the running thread to yield. The ticker ([`SLICE_ENDED`]), wake-ups and collections set it.
    pub context_switch: AtomicU32,
    /// No task holds the HEC, and it has nothing to do. Written under the lock of the HEC slot.
    idle: AtomicBool,
    pub alloc: AllocArea,
    pub remembered: RememberedSet,
    pub pretenured: Pretenured,
    pub run_queue: ThreadQueue,
    pub user_slot: UserSlot,
    /// Threads of user schedulers that this HEC has woken, and for which it must make an enqueue upcall
    /// (`sync/upcall.rs`).
    pub to_enqueue: Vec<Tso>,
    /// Upcall threads that make no upcall now.
    pub idle_upcalls: Vec<Tso>,
    pub upcalls: UpcallCounts,
    pub activation_time: ActivationTime,
    /// The request that has come during the transaction of a `switch`, or an upcall, or 0.
    held_off: u32,
    /// The group of the dequeue upcall that has the user slot.
    pub dequeue_group: GroupRef,
    /// Which user scheduler is to blame for the running transaction.
    pub blame: Blame,
    /// The fault of a user scheduler that the holder has found, and has not acted on.
    pub fault: Option<Fault>,
    /// The thread that has the user slot and is in a foreign call, or null.
    pub in_call: Tso,
    /// When the running thread is preempted, under a random run order.
    pub byte_budget: ByteBudget,
    pub spare_chunks: SpareChunks,
    /// Threads made since the last collection.
    pub new_threads: Vec<Tso>,
    /// Weak pointers made since the last collection.
    pub new_weaks: Vec<Closure>,
    /// The record of a transaction that has ended, for the next one, or null. It is no root: a collection clears it.
    pub spare_record: Closure,
    /// The number of transactions of this HEC that have failed in a row.
    pub conflicts: u32,
    /// What the thread that leaves with `ThreadBlocked` is about to wait for.
    pub wait: Wait,
    /// Threads that wait here may be balanced after a delay.
    pub balance_later: bool,
    /// When the running thread was last asked to claim the thunks it evaluates, in [`ticks`].
    pub claim_asked_at: u64,
    /// How often a HEC had become idle when this one last balanced ([`idle`]).
    pub idle_seen: usize,
    /// The number of switches of threads after which the scheduler polls for events, if threads wait for some.
    pub switches_until_poll: u32,
    /// The number of the thread that is at the front of the queue in the middle of its time slice, or 0.
    pub interrupted: u64,
    /// The thread that has just returned and continues at once. It is no root, because no collection happens in
    /// between.
    pub continuing: Option<Tso>,
    /// Has a thread received an MVar for which others wait? Prevents convoys ([`crate::sync::mvar`]).
    pub handed: Handed,
    /// Decides whether to spin for an MVar's value.
    pub value_spin: AdaptiveSpin,
    /// Decides whether to spin for a thunk's value.
    pub thunk_spin: AdaptiveSpin,
    /// Decides whether to evaluate a modification before publishing it.
    pub modify_predictor: ModifyPredictor,
    /// This HEC has seen the collection that has been announced (`sched/gc/announce.rs`).
    pub has_seen_gc: AtomicBool,
    /// The collection that the running thread was stopped for.
    pub gc_requested: Option<GcRequest>,
    /// Thunks that another HEC may evaluate before they are needed, and counts of what became of them.
    pub sparks: SparkRing,
    /// How many sparks ahead of other HECs this HEC's spark threads work.
    pub spark_skip: SparkSkip,
    pub spark_counts: Sparks,
    /// Thunks that may be evaluated while nothing else runs, and the threads that evaluate some (`sched/lenient.rs`).
    pub lenient: LenientPool,
    /// Messages: threads to run here, exceptions (MSG_THROWTO) for threads of this HEC, entries of threads that wait
    /// for one, and requests to handle packets. Also requests to the holder to return to the scheduler for a message or
    /// to stop the world.
    mailbox: Mailbox<Closure>,
}

/// State of an MVar hand-off: a thread that receives an MVar for which others wait runs at once
/// ([`crate::sync::mvar`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    No,
    /// The first thread on the run queue has received one.
    Next,
    /// The running thread had received one.
    Running,
}

/// A requested collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcRequest {
    Minor,
    Major,
}

const _: () = assert!(offset_of!(Hec, r) == OFFSET_Capability_r);

impl Hec {
    pub fn new(no: u32) -> Hec {
        // SAFETY: the register table is plain numbers, for which zero is a valid value.
        let zeroed = unsafe { std::mem::zeroed::<(FunTable, RegTable)>() };
        Hec {
            fun_table: zeroed.0,
            r: zeroed.1,
            no,
            context_switch: AtomicU32::new(0),
            idle: AtomicBool::new(false),
            alloc: AllocArea::new(no as usize),
            remembered: RememberedSet::new(),
            pretenured: Pretenured::new(),
            run_queue: ThreadQueue::with_order(no, run_order::selected()),
            user_slot: UserSlot::new(),
            to_enqueue: Vec::new(),
            idle_upcalls: Vec::new(),
            upcalls: UpcallCounts::default(),
            activation_time: ActivationTime::default(),
            held_off: 0,
            dequeue_group: None,
            blame: Blame::default(),
            fault: None,
            in_call: Tso::NULL,
            byte_budget: ByteBudget::new(no),
            spare_chunks: SpareChunks::new(),
            new_threads: Vec::new(),
            new_weaks: Vec::new(),
            spare_record: Closure::NULL,
            conflicts: 0,
            wait: Wait::NONE,
            balance_later: false,
            claim_asked_at: 0,
            idle_seen: 0,
            switches_until_poll: 1,
            interrupted: 0,
            continuing: None,
            handed: Handed::No,
            value_spin: AdaptiveSpin::NEW,
            thunk_spin: AdaptiveSpin::NEW,
            modify_predictor: ModifyPredictor::new(checks().eager_modify),
            has_seen_gc: AtomicBool::new(false),
            gc_requested: None,
            spark_skip: SparkSkip::default(),
            sparks: SparkRing::new(),
            spark_counts: Sparks::default(),
            lenient: LenientPool::new(),
            mailbox: Mailbox::new(),
        }
    }

    /// The HEC whose register table BaseReg points to.
    /// # Safety
    /// `reg` belongs to a HEC that this OS thread holds.
    pub unsafe fn of_reg<'a>(reg: *mut RegTable) -> &'a mut Hec {
        &mut *((reg as usize - offset_of!(Hec, r)) as *mut Hec)
    }

    /// The address that names this HEC as an owner ([`crate::thread::ownership`]).
    pub fn address(&self) -> usize {
        self as *const Hec as usize
    }

    /// The running thread.
    pub fn current(&self) -> Tso {
        Tso(self.r.current_tso)
    }

    fn hp_lim(&self) -> &AtomicUsize {
        // SAFETY: a naturally aligned word, which compiled code reads with plain loads.
        unsafe { &*(&self.r.hp_lim as *const usize as *const AtomicUsize) }
    }

    /// Requests the running thread to yield to threads whose events have come, if there are any. Returns false if an
    /// earlier request has not been answered. Async-signal-safe.
    pub fn request_poll(&self) -> bool {
        // Any other request makes the scheduler poll as well.
        let asked = self.context_switch.compare_exchange(0, POLL_EVENTS, Ordering::Relaxed, Ordering::Relaxed);
        self.interrupt();
        asked.is_ok()
    }

    /// Makes the running thread return to the scheduler at its next heap check. Any OS thread may call this at any
    /// time.
    pub fn interrupt(&self) {
        self.hp_lim().store(0, Ordering::Relaxed);
    }

    /// Lets the thread that is about to run allocate up to the nursery's end, or until threads that wait here may be
    /// balanced.
    pub fn open_nursery(&mut self) {
        self.r.current_nursery = self.alloc.run;
        self.publish_open_pinned();
        let end = if self.alloc.must_stop() || self.gc_requested.is_some() { 0 } else { self.alloc.limit() - 1 };
        let end = if self.byte_budget.is_limited() { end.min(self.budget_limit()) } else { end };
        let end = if self.to_enqueue.is_empty() { end } else { end.min(self.enqueue_limit()) };
        if receives_messages() {
            self.open_shared(end);
        } else {
            self.hp_lim().store(end, Ordering::Relaxed);
        }
        if self.context_switch.load(Ordering::Relaxed) != 0 {
            self.interrupt();
        }
    }

    /// The address at which the running thread should stop because its budget is used up.
    #[cold]
    fn budget_limit(&self) -> usize {
        // SAFETY: the nursery is a live run.
        unsafe { (*self.alloc.run).free + self.byte_budget.left(self.alloc.allocated()) - 1 }
    }

    /// A heap check for `wanted` bytes has failed: is the budget used up? Then the next one begins.
    pub fn ends_budget(&mut self, wanted: usize) -> bool {
        if !self.byte_budget.is_limited() {
            return false;
        }
        let allocated = self.alloc.allocated();
        let ends = self.byte_budget.left(allocated) < wanted.max(1);
        if ends {
            self.byte_budget.renew(allocated, wanted);
        }
        ends
    }

    /// The running thread has left Haskell: time goes on, if what is allocated measures it. If it has blocked or
    /// finished, the next one has a budget of its own. Otherwise a long budget would let many short turns pass.
    #[inline]
    pub fn end_run(&mut self, ends_turn: bool) {
        if self.byte_budget.is_limited() {
            let allocated = self.alloc.allocated();
            virtual_time::advance(allocated);
            if ends_turn {
                self.byte_budget.renew(allocated, 0);
            }
        }
    }

    /// Not inlined, so that a single HEC saves no registers for it.
    #[inline(never)]
    fn open_shared(&self, end: usize) {
        self.mailbox.open(self.hp_lim(), if self.balance_later { end.min(self.balance_limit()) } else { end });
        idle::before_run(self, &ACTIVE_HECS.idle, self.idle_seen, || idle_available() > 0);
    }

    /// Makes compiled code allocate small pinned arrays from the block that is now open for them.
    pub fn publish_open_pinned(&mut self) {
        self.r.open_pinned = self.alloc.open_pinned();
    }

    /// The address at which the running thread should stop so that the HEC can balance.
    fn balance_limit(&self) -> usize {
        // SAFETY: the nursery is a live run. (If Hp is in its register, the thread stops sooner.)
        unsafe { (*self.alloc.run).free + BALANCE_BACKOFF.delay_bytes() - 1 }
    }

    /// The request to the running thread: to stop for a signal or a returning task, or because its time slice has
    /// ended (`SLICE_ENDED`). 0 means none.
    pub fn request(&self) -> u32 {
        with_held_off(self.context_switch.load(Ordering::Relaxed), self.held_off)
    }

    /// Takes the request to the running thread. Only the holder calls this.
    pub fn take_request(&mut self) -> u32 {
        if self.request() == 0 {
            return 0;
        }
        // An exchange: another OS thread may end the slice now.
        let asked = self.context_switch.swap(0, Ordering::Relaxed);
        with_held_off(asked, std::mem::take(&mut self.held_off))
    }

    /// The running thread cannot yield: a request that has been taken is kept.
    pub fn hold_off(&mut self, asked: u32) {
        if asked != 0 && self.held_off != SLICE_ENDED {
            self.held_off = asked;
        }
    }

    /// The running thread can yield from now on. If it has been asked to, it stops at its next heap check.
    pub fn end_hold_off(&self) {
        if self.held_off != 0 {
            self.interrupt();
        }
    }

    /// Is there a request to the running thread or to the holder, or a message?
    pub fn has_request(&self) -> bool {
        self.request() != 0 || self.mailbox.has_request()
    }

    /// Makes the holder return to the scheduler soon, even if it is just about to run a thread. Any OS thread may call
    /// this at any time.
    pub fn request_return(&self) {
        self.mailbox.request_return(self.hp_lim());
    }

    /// Takes the request to return, if there is one.
    pub fn take_return_request(&self) -> bool {
        self.mailbox.take_return_request()
    }

    /// Makes the running thread yield soon, so that a thread just made can run. It yields at the end of its time slice
    /// or after a little allocation of its own, whichever comes first. `thread_bytes` have just been allocated for the
    /// new thread and do not count. A loop that forks would otherwise be stopped every few iterations.
    /// # Safety
    /// The caller holds the HEC, and Hp is saved.
    pub unsafe fn yield_soon(&mut self, thread_bytes: usize) {
        if self.byte_budget.is_limited() {
            return;
        }
        let asked = self.context_switch.swap(1, Ordering::Relaxed) != 0;
        let last = self.alloc.limit() - 1;
        let seen = self.hp_lim().load(Ordering::Relaxed);
        let wanted = if asked && seen < last {
            (seen + thread_bytes).min(last)
        } else {
            let fork_bytes = if many() && idle_available() > 0 { SHARED_FORK_BYTES } else { FORK_BYTES };
            ((*self.alloc.run).free + fork_bytes - 1).min(last)
        };
        // A cleared limit means "at once", and stays cleared.
        if seen != 0 {
            let _ = self.hp_lim().compare_exchange(seen, wanted, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Makes the running thread stop when it is time to balance, if other HECs may be busy. It has just made a thread
    /// runnable or made a spark; `first` if no thread or no spark was waiting before.
    pub fn balance_soon(&self, first: bool) {
        idle::work_added(self, first, || idle_available() > 0, || self.balance_limit());
    }

    /// Makes the running thread stop when Hp reaches `wanted`, or at its next heap check if Hp is beyond it. It then
    /// claims the thunks it evaluates ([`crate::eval::lazy_blackholing`]). Does nothing if it was asked within `every`
    /// [`ticks`].
    pub fn claim_soon(&mut self, wanted: usize, every: u64) {
        if self.byte_budget.is_limited() {
            return;
        }
        let now = ticks();
        if now.wrapping_sub(self.claim_asked_at) >= every {
            self.claim_asked_at = now;
            idle::lower_limit(self.hp_lim(), wanted);
        }
    }

    /// Makes the running thread yield at its next heap check to others that are queued.
    pub fn request_yield(&self) {
        // A request to poll is included. The end of a time slice is not overwritten.
        let asks = |asked| (asked != SLICE_ENDED).then_some(1);
        let _ = self.context_switch.fetch_update(Ordering::Relaxed, Ordering::Relaxed, asks);
        self.interrupt();
    }

    /// Makes the running thread stop, if there is one, because an enqueue upcall is owed. One in the user slot may
    /// allocate a little before: if it blocks meanwhile, the upcall that follows it there does both.
    /// # Safety
    /// The caller holds the HEC.
    pub unsafe fn enqueue_soon(&self) {
        let running = self.current();
        if running.is_null() {
            return;
        }
        if running.obj().flags & TSO_SLOT != 0 {
            idle::lower_limit(self.hp_lim(), self.enqueue_limit());
        } else {
            self.request_poll();
        }
    }

    /// The address at which the running thread should stop so that the HEC can make the upcalls that it owes.
    fn enqueue_limit(&self) -> usize {
        // SAFETY: the nursery is a live run. (If Hp is in its register, the thread stops sooner.)
        unsafe { (*self.alloc.run).free + ENQUEUE_BYTES - 1 }
    }

    /// Requests a collection at the next heap check.
    pub fn request_gc(&mut self, r: GcRequest) {
        if self.gc_requested != Some(GcRequest::Major) {
            self.gc_requested = Some(r);
        }
        self.interrupt();
    }

    /// Allocates an object of `words`, uninitialised. Returns `None` if the system is out of memory.
    /// # Safety
    /// As for [`AllocArea::allocate`].
    #[inline]
    pub unsafe fn try_allocate(&mut self, words: usize) -> Option<Closure> {
        let c = self.alloc.allocate(words);
        if self.alloc.must_stop() {
            self.interrupt();
        }
        c
    }

    /// Allocates an object of `words`, uninitialised. Ends the program if the system is out of memory.
    /// # Safety
    /// As for [`AllocArea::allocate`].
    #[inline]
    pub unsafe fn allocate(&mut self, words: usize) -> Closure {
        match self.try_allocate(words) {
            Some(c) => c,
            None => out_of_memory(words * 8),
        }
    }

    /// Lets `make` allocate for C code that holds the HEC: after `rts_lock`, or within an unsafe foreign call. In the
    /// latter compiled code keeps Hp in its register and continues from it afterwards, so the objects lie beside the
    /// nursery.
    /// # Safety
    /// As for [`AllocArea::allocate`], except for Hp.
    pub unsafe fn allocate_for_c<T>(&mut self, make: impl FnOnce(&mut Hec) -> T) -> T {
        if self.current().is_null() {
            return make(self);
        }
        let Some(run) = self.alloc.switch_to_extra_run() else { out_of_memory(BLOCK_BYTES) };
        let made = make(self);
        self.alloc.run = run;
        made
    }

    /// Sends this HEC a thread to run, an exception for one of its threads, or the entry of a thread that waits for
    /// one, or the request to handle packets. Only an OS thread that holds a HEC may send it a heap object.
    pub fn post_message(&self, message: Closure) {
        self.mailbox.add(message);
        if let Some(deliver) = ON_MESSAGE.get() {
            deliver(self);
        }
    }

    /// Is there a message? Read without the lock; a sender always requests a return after its message.
    pub fn has_messages(&self) -> bool {
        self.mailbox.any()
    }

    /// Takes all messages, oldest first.
    pub fn take_messages(&mut self) -> Vec<Closure> {
        self.mailbox.take()
    }

    /// Is it enabled? Only then may spark threads run on it: on a disabled HEC they would have to move at once, so its
    /// sparks are stolen instead.
    pub fn is_enabled(&self) -> bool {
        (self.no as usize) < enabled()
    }

    /// Are there threads to run here, or one that runs?
    #[expect(clippy::len_zero, reason = "the length is atomic, the head of the queue is not")]
    pub fn has_threads(&self) -> bool {
        self.run_queue.len() > 0 || self.r.current_tso != 0
    }

    /// Are there threads to run here, or an upcall to make? Only the holder asks.
    pub fn has_runnable(&self) -> bool {
        !self.run_queue.is_empty() || !self.to_enqueue.is_empty()
    }

    /// How many threads are there to run here, and for how many is there an upcall to make? Only the holder asks.
    pub fn runnable(&self) -> usize {
        self.run_queue.len() + self.to_enqueue.len()
    }

    /// Visits the roots: the threads to run here, the running one, those whose upcall is owed, upcall threads, and the
    /// messages.
    pub fn roots(&mut self, visit: &mut dyn FnMut(&mut Closure)) {
        self.run_queue.roots(visit);
        for t in self.to_enqueue.iter_mut().chain(&mut self.idle_upcalls) {
            let mut c = t.closure();
            visit(&mut c);
            *t = Tso(c.0);
        }
        if !self.in_call.is_null() {
            let mut t = self.in_call.closure();
            visit(&mut t);
            self.in_call = Tso(t.0);
        }
        self.mailbox.messages().iter_mut().for_each(&mut *visit);
        if self.r.current_tso != 0 {
            let mut t = Closure(self.r.current_tso);
            visit(&mut t);
            self.r.current_tso = t.0;
        }
    }

    /// Adds an untagged closure to the remembered set if it is old.
    #[inline]
    pub fn remember(&mut self, c: Closure) {
        self.remembered.remember(c)
    }
}

impl idle::WorkSource for Hec {
    #[expect(clippy::len_zero, reason = "the length is atomic, the head of the queue is not")]
    fn has_work(&self) -> bool {
        self.run_queue.len() > 0 || !self.sparks.is_empty()
    }

    fn limit(&self) -> &AtomicUsize {
        self.hp_lim()
    }
}

/// The bytes that a thread allocates after a fork before it yields to its child. A new thread waits for the few
/// microseconds that this takes.
const FORK_BYTES: usize = 4096;
/// The same while another HEC is idle. Only a batch of children is worth giving away, so the parent makes more of them.
const SHARED_FORK_BYTES: usize = 4 * FORK_BYTES;
const _: () = assert!(FORK_BYTES < BLOCK_BYTES);
/// The bytes that a thread in a user slot allocates after a wake-up before its HEC makes the enqueue upcall.
const ENQUEUE_BYTES: usize = 4096;

/// A request to the running thread, and one that has been held off, as one.
fn with_held_off(asked: u32, held_off: u32) -> u32 {
    if asked == 0 || held_off == SLICE_ENDED {
        held_off
    } else {
        asked
    }
}

/// Value of `context_switch` that the ticker writes when a time slice has ended: other threads should run.
pub const SLICE_ENDED: u32 = 2;
/// Value of `context_switch` that the ticker writes so that threads with expired delays or ready descriptors run.
pub const POLL_EVENTS: u32 = 3;

/// The largest number of HECs.
pub const MAX_HECS: usize = 1024;

static ALL: [AtomicPtr<Hec>; MAX_HECS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_HECS];

/// The number of HECs, and of those that run threads. `base` and C code read these. They change only while the world is
/// stopped.
#[no_mangle]
pub static n_capabilities: AtomicU32 = AtomicU32::new(0);
#[no_mangle]
pub static enabled_capabilities: AtomicU32 = AtomicU32::new(0);

/// Called after a message was sent: makes sure that a task reads it.
pub static ON_MESSAGE: OnceLock<fn(&Hec)> = OnceLock::new();

/// The number of HECs.
pub fn count() -> usize {
    n_capabilities.load(Ordering::Relaxed) as usize
}

/// The number of HECs that run threads: those with the lowest numbers.
pub fn enabled() -> usize {
    enabled_capabilities.load(Ordering::Relaxed) as usize
}

/// Sets the number of HECs that run threads to `n`.
/// # Safety
/// The world is stopped, or no Haskell has run yet.
pub unsafe fn enable(n: usize) {
    enabled_capabilities.store(n as u32, Ordering::Relaxed);
    ACTIVE_HECS.set_all(n);
}

/// The number of idle HECs: no task holds them, and they have nothing to do.
pub fn idle_count() -> usize {
    ACTIVE_HECS.idle.count()
}

/// The number of idle HECs that may be given work ([`crate::base::active_limit`]).
pub fn idle_available() -> usize {
    ACTIVE_HECS.available()
}

/// Is HEC `no` idle?
pub fn is_idle(no: usize) -> bool {
    // SAFETY: reads one atomic of a HEC that exists.
    unsafe { (*address(no)).idle.load(Ordering::Relaxed) }
}

/// Records whether HEC `no` is idle. Called under the lock of its slot; has no effect if there is no such HEC.
pub fn set_idle(no: usize, idle: bool) {
    let h = address(no);
    // SAFETY: changes one atomic of a HEC that exists.
    if h.is_null() || unsafe { (*h).idle.swap(idle, Ordering::SeqCst) } == idle {
        return;
    }
    if idle {
        BALANCE_BACKOFF.on_idle();
    }
    ACTIVE_HECS.idle.record(idle);
    if idle {
        // SAFETY: accesses atomics of HECs that exist.
        let others = (0..enabled()).filter(|&other| other != no).map(|other| unsafe { &*address(other) });
        idle::notify_idle(|| idle_available() > 0, others);
    }
}

/// Are there several HECs? If not, an operation of the HEC's holder needs no lock.
#[inline(always)]
pub fn many() -> bool {
    n_capabilities.load(Ordering::Relaxed) > 1
}

/// May other OS threads send messages to HECs? If not, nothing asks a running thread to return for one.
static RECEIVES_MESSAGES: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub fn receives_messages() -> bool {
    RECEIVES_MESSAGES.load(Ordering::Relaxed)
}

/// From now on HECs may be sent messages, even if there is only one. Called before any Haskell runs, or with the world
/// stopped.
pub fn receive_messages() {
    RECEIVES_MESSAGES.store(true, Ordering::Relaxed);
}

/// The address of HEC number `i`, or null if there is none.
pub fn address(i: usize) -> *mut Hec {
    ALL[i].load(Ordering::Acquire)
}

/// Adds a HEC, and counts it.
/// # Safety
/// The world is stopped, or no Haskell has run yet. Fewer than [`MAX_HECS`] exist.
pub unsafe fn add(h: &'static mut Hec) {
    let n = count();
    if n > 0 {
        receive_messages();
    }
    ALL[n].store(h, Ordering::Release);
    n_capabilities.store(n as u32 + 1, Ordering::Release);
}

/// Ends the program because the system is out of memory.
#[cold]
pub fn out_of_memory(bytes: usize) -> ! {
    crate::base::fatal::out_of_memory(bytes)
}

/// Adds `closure` to the remembered set if it is old.
/// # Safety
/// Called from Cmm with the HEC held.
#[no_mangle]
pub unsafe extern "C" fn hec_remember(hec: &mut Hec, closure: Closure) {
    hec.remember(closure.untag())
}
