//! The Haskell Execution Context: what a thread needs while it runs, one for each core used.
//!
//! BaseReg points at `r`; compiled code reaches `fun_table` at negative offsets. Everything
//! after the register table is our own. A HEC is used by one OS thread at a time, the one that
//! holds it (`sched::seat`); the exceptions are atomics, marked as such, and the inbox: whoever
//! wants something of a thread that belongs to another HEC sends a letter ([`Hec::send`]).
//!
//! HECs are made with the world stopped and never freed, so that addresses of theirs stay good.
pub mod balance_backoff;
pub mod fork_safe_lock;
pub mod idle;
pub mod mailbox;
pub mod modify_predictor;
pub mod priority;
pub mod run_queue;
pub(crate) mod spark_pool;
pub mod spark_skip;
pub mod write_barrier;
use crate::abi::layout::*;
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
use crate::observe::stats::Sparks;

use crate::base::adaptive_spin::AdaptiveSpin;
use crate::hec::balance_backoff::BALANCE_BACKOFF;
use crate::hec::mailbox::Mailbox;
use crate::hec::run_queue::ThreadQueue;
use crate::hec::spark_pool::SparkRing;
use crate::thread::park::Wait;
use crate::thread::stack_cache::SpareChunks;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::OnceLock;

#[repr(C)]
pub struct Hec {
    pub fun_table: FunTable,
    pub r: RegTable,
    pub no: u32,
    /// Asked to give way, if not zero: by the ticker ([`TIME_IS_UP`]), by wake-ups and by collections.
    pub context_switch: AtomicU32,
    /// Nobody holds it, and it has nothing to do. Written under the seat's lock.
    rests: AtomicBool,
    pub alloc: AllocArea,
    pub remembered: RememberedSet,
    pub pretenured: Pretenured,
    pub run_queue: ThreadQueue,
    pub spare_chunks: SpareChunks,
    /// Threads made since the last collection.
    pub new_threads: Vec<Tso>,
    /// Weak pointers made since the last collection.
    pub new_weaks: Vec<Closure>,
    /// The record of a transaction that has ended, for the next one, or null. It is no root: a
    /// collection drops it.
    pub spare_record: Closure,
    /// Transactions of this HEC that have failed in a row.
    pub conflicts: u32,
    /// What the thread that leaves with `ThreadBlocked` is about to wait for.
    pub wait: Wait,
    /// Threads that wait here may be shared in a while.
    pub share_later: bool,
    /// When the running thread was last asked to claim what it evaluates, in nanoseconds.
    pub asked_to_claim: u64,
    /// How often a HEC had come to rest when it was last looked whether to give what waits here away (`idle.rs`).
    pub rests_seen: usize,
    /// The thread at the front of the queue is in the middle of its time slice: its number, or 0.
    pub interrupted: u64,
    /// The thread that has just come back and runs on at once. (It is no root: nothing happens in between.)
    pub straight_on: Option<Tso>,
    /// Has a thread been handed an MVar that others wait for?
    pub handed: Handed,
    /// Whether to stay awake for an MVar's value.
    pub value_spin: AdaptiveSpin,
    /// The same for thunks.
    pub thunk_patience: AdaptiveSpin,
    /// Whether to evaluate what modifies variables before others see it.
    pub modify_predictor: ModifyPredictor,
    /// It knows of the collection that has been announced (`sched/gc/announce.rs`).
    pub heard: AtomicBool,
    /// Why the running thread was stopped from outside (a collection was asked for).
    pub gc_requested: Option<GcRequest>,
    /// Thunks that somebody may evaluate before they are needed, and what became of such.
    pub sparks: SparkRing,
    /// How far ahead of others its spark threads work.
    pub lead: SparkSkip,
    pub spark_counts: Sparks,
    /// Letters (threads to run here, and exceptions, as MSG_THROWTO, for threads of this HEC), and
    /// calls to the holder to come back to the scheduler for one, or because the world is to stop.
    mailbox: Mailbox<Closure>,
}

/// A thread that is handed an MVar for which others wait runs at once (`sync/mvar.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    No,
    /// The first on the run queue has been.
    Next,
    /// The running thread had been.
    Running,
}

/// A collection somebody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcRequest {
    Minor,
    Major,
}

const _: () = assert!(offset_of!(Hec, r) == OFFSET_Capability_r);

impl Hec {
    pub fn new(no: u32) -> Hec {
        // SAFETY: the register table is plain numbers, for which zero is a value.
        let zeroed = unsafe { std::mem::zeroed::<(FunTable, RegTable)>() };
        Hec {
            fun_table: zeroed.0,
            r: zeroed.1,
            no,
            context_switch: AtomicU32::new(0),
            rests: AtomicBool::new(false),
            alloc: AllocArea::new(no as usize),
            remembered: RememberedSet::new(),
            pretenured: Pretenured::new(),
            run_queue: ThreadQueue::new(),
            spare_chunks: SpareChunks::new(),
            new_threads: Vec::new(),
            new_weaks: Vec::new(),
            spare_record: Closure::NULL,
            conflicts: 0,
            wait: Wait::NONE,
            share_later: false,
            asked_to_claim: 0,
            rests_seen: 0,
            interrupted: 0,
            straight_on: None,
            handed: Handed::No,
            value_spin: AdaptiveSpin::NEW,
            thunk_patience: AdaptiveSpin::NEW,
            modify_predictor: ModifyPredictor::new(checks().modify),
            heard: AtomicBool::new(false),
            gc_requested: None,
            lead: SparkSkip::default(),
            sparks: SparkRing::new(),
            spark_counts: Sparks::default(),
            mailbox: Mailbox::new(),
        }
    }

    /// The HEC whose register table BaseReg points to.
    /// # Safety
    /// `reg` came from a HEC that this OS thread holds.
    pub unsafe fn of_reg<'a>(reg: *mut RegTable) -> &'a mut Hec {
        &mut *((reg as usize - offset_of!(Hec, r)) as *mut Hec)
    }

    /// What threads of this HEC have for an owner (`thread/ownership.rs`).
    pub fn address(&self) -> usize {
        self as *const Hec as usize
    }

    /// The running thread.
    pub fn current(&self) -> Tso {
        Tso(self.r.current_tso)
    }

    fn hp_lim(&self) -> &AtomicUsize {
        // SAFETY: a naturally aligned word that compiled code reads with plain loads.
        unsafe { &*(&self.r.hp_lim as *const usize as *const AtomicUsize) }
    }

    /// Makes the running thread return to the scheduler at its next heap check. Any OS thread
    /// may call this at any time.
    pub fn interrupt(&self) {
        self.hp_lim().store(0, Ordering::Relaxed);
    }

    /// Lets the thread that is about to run allocate up to the nursery's end, or until threads that
    /// wait here may be shared.
    pub fn open_nursery(&mut self) {
        self.r.current_nursery = self.alloc.run;
        self.show_open_pinned();
        let end = if self.alloc.must_stop() || self.gc_requested.is_some() { 0 } else { self.alloc.limit() - 1 };
        if many() {
            self.open_among_others(end);
        } else {
            self.hp_lim().store(end, Ordering::Relaxed);
        }
        if self.context_switch.load(Ordering::Relaxed) != 0 {
            self.interrupt();
        }
    }

    /// Apart, so that one HEC alone saves no registers for it.
    #[inline(never)]
    fn open_among_others(&self, end: usize) {
        self.mailbox.open(self.hp_lim(), if self.share_later { end.min(self.share_limit()) } else { end });
        idle::before_run(self, &ACTIVE_HECS.resting, self.rests_seen, || room() > 0);
    }

    /// Has compiled code cut small pinned arrays from the block that is open for them now.
    pub fn show_open_pinned(&mut self) {
        self.r.open_pinned = self.alloc.open_pinned();
    }

    /// Where in the nursery the running thread should look whether to share.
    fn share_limit(&self) -> usize {
        // SAFETY: the nursery is a live run. (Hp may be in its register: then it stops sooner.)
        unsafe { (*self.alloc.run).free + BALANCE_BACKOFF.delay_bytes() - 1 }
    }

    /// What the running thread has been asked since this was last called: to stop, because of a signal (which is seen to after this: one that
    /// comes later asks again) or a task that comes back, or because its [time is up](TIME_IS_UP); 0 for nothing. For the holder.
    pub fn take_request(&self) -> u32 {
        let asked = self.context_switch.load(Ordering::Relaxed);
        if asked != 0 {
            self.context_switch.store(0, Ordering::Relaxed);
        }
        asked
    }

    /// Has the running thread been asked anything, or the holder been called back, or written to?
    pub fn is_asked(&self) -> bool {
        self.context_switch.load(Ordering::Relaxed) != 0 || self.mailbox.has_request()
    }

    /// Has the holder come back to the scheduler soon, even if it is just about to run a thread.
    /// Any OS thread may call this at any time.
    pub fn call_back(&self) {
        self.mailbox.call_back(self.hp_lim());
    }

    /// Has the holder been called back? It has heard it then.
    pub fn called_back(&self) -> bool {
        self.mailbox.called_back()
    }

    /// Makes the running thread give way soon, so that one just made has its turn: at the end of
    /// its time slice or after a little allocation of its own, whichever comes first.
    /// `thread_bytes` have just been allocated for the new thread, and do not count: a loop that
    /// forks would otherwise be stopped every few turns.
    /// # Safety
    /// The HEC is held by the caller, and Hp is saved.
    pub unsafe fn give_way_soon(&mut self, thread_bytes: usize) {
        let asked = self.context_switch.swap(1, Ordering::Relaxed) != 0;
        let last = self.alloc.limit() - 1;
        let seen = self.hp_lim().load(Ordering::Relaxed);
        let wanted = if asked && seen < last {
            (seen + thread_bytes).min(last)
        } else {
            let turn = if many() && room() > 0 { SHARED_TURN_BYTES } else { TURN_BYTES };
            ((*self.alloc.run).free + turn - 1).min(last)
        };
        // Cleared means at once; then it stays so.
        if seen != 0 {
            let _ = self.hp_lim().compare_exchange(seen, wanted, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Has the running thread, which has made another one runnable or a spark, stop when it is time to share, if other HECs may
    /// be busy. There were no threads waiting, or no sparks, if it is the `first`.
    pub fn share_soon(&self, first: bool) {
        idle::work_added(self, first, || room() > 0, || self.share_limit());
    }

    /// Has the running thread stop when Hp comes to `wanted`, and at the next heap check at the latest if that is behind it, so that
    /// it claims what it evaluates (`eval/lazy_blackholing.rs`), unless it has been asked to so few [`ticks`] ago.
    pub fn claim_soon(&mut self, wanted: usize, every: u64) {
        let now = ticks();
        if now.wrapping_sub(self.asked_to_claim) >= every {
            self.asked_to_claim = now;
            idle::lower_limit(self.hp_lim(), wanted);
        }
    }

    /// Asks for a collection at the next heap check.
    pub fn request_gc(&mut self, r: GcRequest) {
        if self.gc_requested != Some(GcRequest::Major) {
            self.gc_requested = Some(r);
        }
        self.interrupt();
    }

    /// Room for an object of `words`, uninitialised. `None`: the system is out of memory.
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

    /// Room for an object of `words`; ends the program when memory is exhausted.
    /// # Safety
    /// As for [`AllocArea::allocate`].
    #[inline]
    pub unsafe fn allocate(&mut self, words: usize) -> Closure {
        match self.try_allocate(words) {
            Some(c) => c,
            None => out_of_memory(words * 8),
        }
    }

    /// Has `make` allocate for C, which holds the HEC: after `rts_lock`, or within an unsafe foreign call. There compiled code has the heap
    /// pointer in its register and goes on from it afterwards, so what is made lies beside the nursery.
    /// # Safety
    /// As for [`AllocArea::allocate`], but for Hp.
    pub unsafe fn for_c<T>(&mut self, make: impl FnOnce(&mut Hec) -> T) -> T {
        if self.current().is_null() {
            return make(self);
        }
        let Some(run) = self.alloc.go_beside() else { out_of_memory(BLOCK_BYTES) };
        let made = make(self);
        self.alloc.run = run;
        made
    }

    /// Sends this HEC a thread to run, an exception for one of its threads, or word that one of them is waited for. Any OS thread that
    /// holds some HEC may do so.
    pub fn send(&self, message: Closure) {
        self.mailbox.add(message);
        if let Some(deliver) = ON_MESSAGE.get() {
            deliver(self);
        }
    }

    /// Is there a letter? (A look without the lock; the sender sees to it that another follows.)
    pub fn has_messages(&self) -> bool {
        self.mailbox.any()
    }

    /// Takes all letters, oldest first.
    pub fn take_messages(&mut self) -> Vec<Closure> {
        self.mailbox.take()
    }

    /// Are there threads to run here, or one that runs?
    pub fn has_threads(&self) -> bool {
        self.run_queue.len() > 0 || self.r.current_tso != 0
    }

    /// Shows the collector the threads to run here, the one that runs, and the letters.
    pub fn roots(&mut self, visit: &mut dyn FnMut(&mut Closure)) {
        self.run_queue.roots(visit);
        self.mailbox.messages().iter_mut().for_each(&mut *visit);
        if self.r.current_tso != 0 {
            let mut t = Closure(self.r.current_tso);
            visit(&mut t);
            self.r.current_tso = t.0;
        }
    }

    /// Lists an untagged closure in the remembered set if it is old.
    #[inline]
    pub fn remember(&mut self, c: Closure) {
        self.remembered.remember(c)
    }
}

impl idle::WorkSource for Hec {
    fn has_something(&self) -> bool {
        self.run_queue.len() > 0 || !self.sparks.is_empty()
    }

    fn limit(&self) -> &AtomicUsize {
        self.hp_lim()
    }
}

/// A thread that forks gives way to its children after it has allocated this much; after more if they may
/// be shared with a HEC that rests, which is worth it only if they are many.
const TURN_BYTES: usize = 4096;
const SHARED_TURN_BYTES: usize = 4 * TURN_BYTES;
const _: () = assert!(TURN_BYTES < BLOCK_BYTES);

/// What the ticker puts into `context_switch`: others shall run; or those, if there are any, whose delays are over or descriptors ready.
pub const TIME_IS_UP: u32 = 2;
pub const LOOK_FOR_EVENTS: u32 = 3;

/// As many HECs as there can be.
pub const MAX_HECS: usize = 1024;

static ALL: [AtomicPtr<Hec>; MAX_HECS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_HECS];

/// How many HECs there are, and how many of them run threads; `base` and C code read these. They
/// change only with the world stopped.
#[no_mangle]
pub static n_capabilities: AtomicU32 = AtomicU32::new(0);
#[no_mangle]
pub static enabled_capabilities: AtomicU32 = AtomicU32::new(0);

/// Told of a letter in an inbox: sees to it that somebody reads it.
pub static ON_MESSAGE: OnceLock<fn(&Hec)> = OnceLock::new();

/// How many HECs there are.
pub fn count() -> usize {
    n_capabilities.load(Ordering::Relaxed) as usize
}

/// How many HECs run threads: the first so many.
pub fn enabled() -> usize {
    enabled_capabilities.load(Ordering::Relaxed) as usize
}

/// From now on the first `n` run threads.
/// # Safety
/// The world is stopped, or no Haskell runs yet.
pub unsafe fn enable(n: usize) {
    enabled_capabilities.store(n as u32, Ordering::Relaxed);
    ACTIVE_HECS.set_all(n);
}

/// How many HECs rest: nobody holds them, and they have nothing to do.
pub fn resting() -> usize {
    ACTIVE_HECS.resting.count()
}

/// How many of these may be given something to do (`base/active_limit.rs`).
pub fn room() -> usize {
    ACTIVE_HECS.available()
}

/// Does HEC `no` rest?
pub fn is_resting(no: usize) -> bool {
    // SAFETY: one atomic of a HEC that exists.
    unsafe { (*address(no)).rests.load(Ordering::Relaxed) }
}

/// Notes whether HEC `no` rests. Called under its seat's lock; harmless if there is no such HEC.
pub fn rests(no: usize, yes: bool) {
    let h = address(no);
    // SAFETY: one atomic of a HEC that exists.
    if h.is_null() || unsafe { (*h).rests.swap(yes, Ordering::SeqCst) } == yes {
        return;
    }
    if yes {
        BALANCE_BACKOFF.on_idle();
    }
    ACTIVE_HECS.resting.one(yes);
    if yes {
        // SAFETY: atomics of HECs that exist.
        let others = (0..enabled()).filter(|&other| other != no).map(|other| unsafe { &*address(other) });
        idle::notify_idle(|| room() > 0, others);
    }
}

/// Are there several HECs? If not, what is done while holding the HEC needs no lock.
#[inline(always)]
pub fn many() -> bool {
    n_capabilities.load(Ordering::Relaxed) > 1
}

/// The address of HEC number `i`; null if there is none.
pub fn address(i: usize) -> *mut Hec {
    ALL[i].load(Ordering::Acquire)
}

/// Adds a HEC, and makes it count.
/// # Safety
/// The world is stopped, or no Haskell runs yet; fewer than [`MAX_HECS`] exist.
pub unsafe fn add(h: &'static mut Hec) {
    let n = count();
    ALL[n].store(h, Ordering::Release);
    n_capabilities.store(n as u32 + 1, Ordering::Release);
}

/// Ends the program: the system has no memory for us.
#[cold]
pub fn out_of_memory(bytes: usize) -> ! {
    crate::base::fatal::out_of_memory(bytes)
}

/// Lists `closure` in the remembered set if it is old.
/// # Safety
/// Called from Cmm with the HEC held.
#[no_mangle]
pub unsafe extern "C" fn hec_remember(hec: &mut Hec, closure: Closure) {
    hec.remember(closure.untag())
}
