//! Sparks: thunks that another HEC may evaluate before they are needed (`par`, strategies).
//!
//! *Protocol*
//! 1. Each HEC has a pool of sparks ([`crate::hec::spark_pool`]). Its holder adds sparks to it and takes the oldest;
//!    other HECs steal the oldest. If other processes steal, too, the holder takes the newest: the oldest are often the
//!    largest, and worth sending.
//! 2. A HEC without runnable threads makes a *spark thread*. That runs `base`'s loop over `getSpark#` until no spark is
//!    left or another thread is runnable.
//! 3. A thread that sparks while other HECs are idle stops soon, to wake one. A thread that leaves for a safe foreign
//!    call releases its HEC to a worker if the HEC has sparks ([`handoff`]).
//! 4. A thread that makes or takes sparks stops from time to time, to claim the thunks that it evaluates
//!    ([`crate::eval::lazy_blackholing`]). Otherwise it might not claim them for a whole time slice. Another HEC would
//!    then evaluate them as well, and so would a thread that needs a stolen spark.
//!
//! *Outcome of a spark*
//! - Converted: it was given to a spark thread.
//! - Fizzled: it was found evaluated or claimed.
//! - Collected: nothing else refers to it.
//! - Overflowed: the pool was full (`-e`).
//! - Dud: it was a value from the start.
//!
//! *Invariants*
//! - The pool is no root: a collection drops sparks that only it refers to.
//! - Only the HEC's holder writes the counters. They are read while the world is stopped.
use super::settings;
use crate::abi::closure::fields::INDIRECTEE;
use crate::abi::layout::*;
use crate::abi::{Closure, RegTable};
use crate::collector::roots::IsAlive;
use crate::collector::trace::prefetch;
use crate::hec::spark_pool::SparkRing;
use crate::hec::spark_skip;
use crate::hec::{self, Hec};
use crate::observe::eventlog::hooks as eventlog;
use crate::observe::stats;
use crate::sched::{handoff, packets};
use crate::static_closure;
use crate::thread::create::new_io_thread;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The interval in ticks of the processor at which a thread stops to claim: about fifty microseconds. Stopping takes
/// about half a microsecond. Without it a quarter of `par_fib` was evaluated twice.
const CLAIM_INTERVAL_TICKS: u64 = 150_000;
/// The number of sparks below which other HECs might steal all between two instructions of the holder.
const STEAL_MARGIN: usize = 64;
/// The bytes that a spark thread allocates before it stops to claim: enough to have entered the spark and pushed its
/// update frame.
const ENTRY_BYTES: usize = 512;

static LIMIT: AtomicUsize = AtomicUsize::new(4096);
/// The largest pool: it takes a gigabyte of address space.
const MAX_LIMIT: usize = 1 << 27;

/// Sets the number of sparks that a HEC keeps.
pub fn set_limit(n: usize) {
    LIMIT.store(n.min(MAX_LIMIT), Ordering::Relaxed);
}

fn sparks_of(no: usize) -> &'static SparkRing {
    // SAFETY: HECs are never freed, and any HEC may access this field.
    unsafe { &(*hec::address(no)).sparks }
}

/// Adds a spark to a HEC's pool. Returns false if the pool is full.
fn add(hec: &Hec, c: Closure) -> bool {
    hec.sparks.put(c.0, LIMIT.load(Ordering::Relaxed))
}

/// Will [`add`] succeed? Exact for the holder of the HEC, because other HECs only take sparks.
fn has_room(hec: &Hec) -> bool {
    hec.sparks.len() < LIMIT.load(Ordering::Relaxed)
}

/// Is the closure worth evaluating?
/// # Safety
/// `c` is live.
pub(super) unsafe fn is_thunk(c: Closure) -> bool {
    if c.tag() != 0 {
        return false;
    }
    match c.info().kind() {
        THUNK | THUNK_1_0 | THUNK_0_1 | THUNK_2_0 | THUNK_1_1 | THUNK_0_2 | THUNK_STATIC | THUNK_SELECTOR | AP
        | AP_STACK => true,
        // Momentarily locked, or a thunk with a value or an evaluator.
        IND if c.field(INDIRECTEE).tag() == 0 => is_thunk(c.field(INDIRECTEE)),
        _ => false,
    }
}

/// `par#` and `spark#`: records that another HEC may evaluate the closure.
/// # Safety
/// Called by compiled code.
#[no_mangle]
pub unsafe extern "C" fn newSpark(reg: *mut RegTable, closure: Closure) -> i32 {
    let hec = Hec::of_reg(reg);
    if !settings().threaded {
        return 1;
    }
    if !is_thunk(closure) {
        hec.spark_counts.dud += 1;
        eventlog::spark_dud(hec.no);
    } else if !add(hec, closure) {
        hec.spark_counts.overflowed += 1;
        eventlog::spark_overflowed(hec.no);
    } else {
        hec.spark_counts.kept += 1;
        eventlog::spark_created(hec.no);
        if hec::many() {
            on_stealable(hec);
        }
    }
    1
}

/// The running thread has made a spark, and there are other HECs.
#[inline(never)]
pub(super) fn on_stealable(hec: &mut Hec) {
    hec.claim_soon(0, CLAIM_INTERVAL_TICKS);
    // If there were few sparks, other HECs may have just stolen all of them.
    hec.balance_soon(hec.sparks.len() < STEAL_MARGIN);
}

/// Finds a spark worth evaluating, on this HEC or another.
unsafe fn find(hec: &mut Hec) -> Option<Closure> {
    let own = hec.no as usize;
    for _ in 0..hec.spark_skip.skip_count(spark_skip::duplicate_work_count()) {
        // A HEC without room for a spark does not steal it.
        let skipped = if has_room(hec) { steal(own) } else { None };
        let Some((_, c)) = skipped else { break };
        add(hec, c);
    }
    let take_own = |hec: &Hec| if packets::are_served() { hec.sparks.take_newest() } else { hec.sparks.take() };
    loop {
        let defer_own = hec.spark_skip.is_active() && hec.sparks.len() < spark_skip::MAX_DEFERRED;
        let stolen = if defer_own { steal(own) } else { None };
        let found = stolen.or_else(|| take_own(hec).map(|c| (own, Closure(c)))).or_else(|| steal(own));
        let counts = &mut hec.spark_counts;
        match found {
            Some((from, c)) if is_thunk(c) => {
                counts.converted += 1;
                if from == own {
                    eventlog::spark_run(hec.no);
                } else {
                    eventlog::spark_stolen(hec.no, from as u32);
                }
                return Some(c);
            }
            Some(_) => {
                counts.fizzled += 1;
                eventlog::spark_fizzled(hec.no);
            }
            None => return None,
        }
    }
}

/// Takes the oldest spark that is worth evaluating, for another process: from this HEC's pool first.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn take_oldest(hec: &mut Hec) -> Option<Closure> {
    let own = hec.no as usize;
    loop {
        let (_, c) = hec.sparks.take().map(|c| (own, Closure(c))).or_else(|| steal(own))?;
        if is_thunk(c) {
            return Some(c);
        }
        hec.spark_counts.fizzled += 1;
        eventlog::spark_fizzled(hec.no);
    }
}

/// Gives back a spark that another process cannot have.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn give_back(hec: &mut Hec, c: Closure) {
    if !add(hec, c) {
        hec.spark_counts.overflowed += 1;
        eventlog::spark_overflowed(hec.no);
    }
}

/// A spark that was taken is evaluated in another process.
pub fn note_lent(hec: &mut Hec) {
    hec.spark_counts.converted += 1;
}

/// Steals another HEC's spark. Returns the HEC's number and the spark.
fn steal(own: usize) -> Option<(usize, Closure)> {
    let n = hec::count();
    (1..n).map(|i| (own + i) % n).find_map(|no| Some((no, Closure(sparks_of(no).take()?))))
}

/// `getSpark#`: the next spark for a spark thread, or null if the thread should end.
/// # Safety
/// Called from Cmm; `hp` is Hp.
#[no_mangle]
pub unsafe extern "C" fn hec_get_spark(hec: &mut Hec, hp: usize) -> Closure {
    if hec.has_runnable() || hec.has_messages() {
        return Closure::NULL;
    }
    let Some(spark) = find(hec) else { return Closure::NULL };
    if hec::many() {
        hec.claim_soon(hp + ENTRY_BYTES, CLAIM_INTERVAL_TICKS);
    }
    spark
}

/// `numSparks#`: the number of sparks of this HEC.
#[no_mangle]
pub extern "C" fn hec_num_sparks(hec: &Hec) -> usize {
    hec.sparks.len()
}

/// Does any HEC have sparks?
pub fn any() -> bool {
    (0..hec::count()).map(sparks_of).any(|s| !s.is_empty())
}

/// Puts a spark thread on the queue.
/// # Safety
/// The caller holds the HEC, or the HEC is idle and the caller holds the lock of its slot.
pub unsafe fn start_thread(hec: &mut Hec) {
    let action = static_closure!(base_GHCziConcziSync_runSparks_closure);
    let t = new_io_thread(hec, action, &settings().stack);
    eventlog::spark_thread_created(hec.no, t.obj().id);
    hec.run_queue.push_back(&mut hec.remembered, t);
}

/// Makes idle HECs look for sparks, if this HEC has sparks to give.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn wake_idle_hecs(hec: &mut Hec) {
    let own = hec.no as usize;
    let mut left = hec.sparks.len();
    for no in (0..hec::enabled()).filter(|&no| no != own) {
        if left == 0 || hec::idle_available() == 0 {
            return;
        }
        if !hec::is_idle(no) {
            continue;
        }
        if handoff::give(no, |there| unsafe { start_thread(there) }) {
            left -= 1;
        } else {
            // Another task has its lock, and may release the HEC.
            hec.balance_later = true;
        }
    }
}

/// The counters of all HECs together.
/// # Safety
/// The world is stopped.
pub unsafe fn counts() -> stats::Sparks {
    crate::sched::stop_world::hecs().iter().fold(stats::Sparks::default(), |sum, h| sum + h.spark_counts)
}

/// Updates the pools after a collection: sparks have moved, or are garbage.
pub fn update(is_alive: &mut IsAlive) {
    // SAFETY: the world is stopped.
    for h in unsafe { crate::sched::stop_world::hecs() } {
        // Thousands may be in the cache of the core that made them.
        let sparks: Vec<Closure> = h.sparks.take_all().into_iter().map(Closure).collect();
        for c in prefetch::visit_headers(&sparks) {
            // SAFETY: the object is alive.
            match is_alive(c) {
                None => {
                    h.spark_counts.collected += 1;
                    eventlog::spark_collected(h.no);
                }
                Some(now) if unsafe { is_thunk(now) } => {
                    add(h, now);
                }
                Some(_) => {
                    h.spark_counts.fizzled += 1;
                    eventlog::spark_fizzled(h.no);
                }
            }
        }
    }
}

/// Drops all sparks in the child of a fork.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn clear(hec: &mut Hec) {
    hec.sparks.take_all();
}
