//! Sparks: thunks that somebody may evaluate before they are needed (`par`, strategies).
//!
//! Each HEC has a ring of them (`hec/spark_pool.rs`): its holder adds to it and takes the oldest, other HECs steal the oldest. A HEC that has
//! nothing else to do makes a *spark thread*, which runs `base`'s loop over `getSpark#` until there is none left, or a thread waits to run.
//! A thread that sparks while other HECs rest stops soon, to wake one; one that leaves for a safe foreign call leaves its HEC to a worker
//! if that has sparks (`handoff/mod.rs`).
//!
//! A thread claims what it evaluates when it stops (`eval/lazy_blackholing.rs`), which otherwise it may not do for a whole time slice. Meanwhile a HEC that
//! looks for sparks would begin what another one that sparked it is at already, and who needs a spark that has been stolen would begin it
//! once more: of `par_fib`, a quarter was done twice. So who makes sparks or takes them stops every now and then, to claim.
//!
//! What becomes of a spark: *converted*, it was handed to a spark thread; *fizzled*, it was found
//! evaluated or claimed; *collected*, nothing else refers to it any more; *overflowed*, the ring
//! was full (`-e`); *dud*, it was a value from the start. The ring is no root: a collection drops
//! what only it refers to. Counters are written by the HEC's holder, and read with the world
//! stopped.
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
use crate::sched::handoff;
use crate::static_closure;
use crate::thread::create::new_io_thread;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a thread stops to claim, in ticks of the processor: every fifty microseconds or so. To stop takes about half of one.
const CLAIMS_EVERY: u64 = 150_000;
/// Others do not take so many sparks between two instructions of the holder.
const MANY: usize = 64;
/// What a spark thread allocates before it does: so much that it has entered the spark, and pushed its update frame.
const ENTERED: usize = 512;

static LIMIT: AtomicUsize = AtomicUsize::new(4096);
/// A gigabyte of addresses.
const HIGHEST_LIMIT: usize = 1 << 27;

/// How many sparks a HEC keeps.
pub fn set_limit(n: usize) {
    LIMIT.store(n.min(HIGHEST_LIMIT), Ordering::Relaxed);
}

fn sparks_of(no: usize) -> &'static SparkRing {
    // SAFETY: HECs stay, and this part of them is for all.
    unsafe { &(*hec::address(no)).sparks }
}

/// Notes a spark on a HEC, unless that has as many as it may have.
fn keep(hec: &Hec, c: Closure) -> bool {
    hec.sparks.put(c.0, LIMIT.load(Ordering::Relaxed))
}

/// Will [`keep`] succeed? For who holds the HEC: others only take.
fn has_room(hec: &Hec) -> bool {
    hec.sparks.len() < LIMIT.load(Ordering::Relaxed)
}

/// Is it worth evaluating?
unsafe fn is_thunk(c: Closure) -> bool {
    if c.tag() != 0 {
        return false;
    }
    match c.info().kind() {
        THUNK | THUNK_1_0 | THUNK_0_1 | THUNK_2_0 | THUNK_1_1 | THUNK_0_2 | THUNK_STATIC | THUNK_SELECTOR | AP
        | AP_STACK => true,
        // A moment's lock, or a thunk with a value or an evaluator.
        IND if c.field(INDIRECTEE).tag() == 0 => is_thunk(c.field(INDIRECTEE)),
        _ => false,
    }
}

/// `par#` and `spark#`: notes that somebody may evaluate the closure.
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
    } else if !keep(hec, closure) {
        hec.spark_counts.overflowed += 1;
        eventlog::spark_overflowed(hec.no);
    } else {
        hec.spark_counts.kept += 1;
        eventlog::spark_created(hec.no);
        if hec::many() {
            others_may_take(hec);
        }
    }
    1
}

/// The running thread has made a spark, and there are other HECs.
#[inline(never)]
fn others_may_take(hec: &mut Hec) {
    hec.claim_soon(0, CLAIMS_EVERY);
    // If there were few, others may have stolen all of them just now.
    hec.balance_soon(hec.sparks.len() < MANY);
}

/// A spark worth evaluating, from this HEC or another.
unsafe fn find(hec: &mut Hec) -> Option<Closure> {
    let own = hec.no as usize;
    for _ in 0..hec.spark_skip.skip_count(spark_skip::duplicate_work_count()) {
        // Who has no room for one does not take it.
        let passed = if has_room(hec) { steal(own) } else { None };
        let Some((_, c)) = passed else { break };
        keep(hec, c);
    }
    loop {
        let own_later = hec.spark_skip.is_active() && hec.sparks.len() < spark_skip::MAX_DEFERRED;
        let stolen = if own_later { steal(own) } else { None };
        let found = stolen.or_else(|| hec.sparks.take().map(|c| (own, Closure(c)))).or_else(|| steal(own));
        let counts = &mut hec.spark_counts;
        match found {
            Some((from, c)) if is_thunk(c) => {
                counts.converted += 1;
                if from == own {
                    eventlog::spark_runs(hec.no);
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

/// Another HEC's spark, and whose.
fn steal(own: usize) -> Option<(usize, Closure)> {
    let n = hec::count();
    (1..n).map(|i| (own + i) % n).find_map(|no| Some((no, Closure(sparks_of(no).take()?))))
}

/// `getSpark#`: the next spark for a spark thread; null if it should end.
/// # Safety
/// Called from Cmm; `hp` is Hp.
#[no_mangle]
pub unsafe extern "C" fn hec_get_spark(hec: &mut Hec, hp: usize) -> Closure {
    if !hec.run_queue.is_empty() || hec.has_messages() {
        return Closure::NULL;
    }
    let Some(spark) = find(hec) else { return Closure::NULL };
    if hec::many() {
        hec.claim_soon(hp + ENTERED, CLAIMS_EVERY);
    }
    spark
}

/// `numSparks#`: how many this HEC has.
#[no_mangle]
pub extern "C" fn hec_num_sparks(hec: &Hec) -> usize {
    hec.sparks.len()
}

/// Does any HEC have sparks?
pub fn any() -> bool {
    (0..hec::count()).map(sparks_of).any(|s| !s.is_empty())
}

/// Are spark threads for this HEC? From one that has been switched off they would have to move at once; its sparks are stolen.
pub fn may_run(hec: &Hec) -> bool {
    (hec.no as usize) < hec::enabled()
}

/// Puts a spark thread on the queue.
/// # Safety
/// The caller holds the HEC, or it rests and the caller holds its seat's lock.
pub unsafe fn start_thread(hec: &mut Hec) {
    let action = static_closure!(base_GHCziConcziSync_runSparks_closure);
    let t = new_io_thread(hec, action, &settings().stack);
    eventlog::spark_thread_created(hec.no, t.obj().id);
    hec.run_queue.push_back(&mut hec.remembered, t);
}

/// Has the HECs that rest look for sparks, if this one has any to spare.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn share(hec: &mut Hec) {
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
            // Somebody has its lock, who lets it rest perhaps.
            hec.balance_later = true;
        }
    }
}

/// What became of all sparks.
/// # Safety
/// The world is stopped.
pub unsafe fn counts() -> stats::Sparks {
    crate::sched::stop_world::hecs().iter().fold(stats::Sparks::default(), |sum, h| sum + h.spark_counts)
}

/// After a collection: sparks have moved, or were garbage.
pub fn update(is_alive: &mut IsAlive) {
    // SAFETY: the world is stopped.
    for h in unsafe { crate::sched::stop_world::hecs() } {
        // Thousands may lie in the cache of the core that made them.
        let sparks: Vec<Closure> = h.sparks.take_all().into_iter().map(Closure).collect();
        for c in prefetch::visit_headers(&sparks) {
            // SAFETY: an object that is alive.
            match is_alive(c) {
                None => {
                    h.spark_counts.collected += 1;
                    eventlog::spark_collected(h.no);
                }
                Some(now) if unsafe { is_thunk(now) } => {
                    keep(h, now);
                }
                Some(_) => {
                    h.spark_counts.fizzled += 1;
                    eventlog::spark_fizzled(h.no);
                }
            }
        }
    }
}

/// In the child of a fork: nobody wants them any more.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn forget(hec: &mut Hec) {
    hec.sparks.take_all();
}
