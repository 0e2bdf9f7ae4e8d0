//! Notification of idle HECs and of new work. If a HEC becomes idle while another gets work, one of the two notices.
//!
//! A HEC *has work* while threads wait on its run queue or sparks in its pool. Only its holder changes that. A HEC is
//! *idle* while no task holds it and it has nothing to do. The task that releases or takes it records that under the
//! lock of the HEC slot ([`IdleCount`]). Work is given away between threads (`sched/balance.rs`, `sched/spark.rs`). So
//! this file decides only which running thread must return to the scheduler. It uses the thread's heap limit.
//!
//! *Protocol*
//! ```text
//!   notify_idle, by a HEC that becomes idle:     idle count + 1;  fence;  if another HEC has work: its limit = 0
//!   work_added, by a HEC that gets first work:   work;            fence;  if a HEC is idle: lower the own limit
//!   before_run, by a HEC that runs a thread:     limit = end;     fence;  if it has work, and a HEC has become idle
//!                                                                         since it last balanced: the own limit = 0
//! ```
//!
//! *Invariant*: of two fences one comes first, and the side with the later fence reads what the other wrote before its
//! own. So either the idle HEC finds the work, and writes a limit that no earlier one overwrites, or the HEC with the
//! work finds the idle one.
//!
//! A fence is needed only when a HEC gets work that had none. A HEC that becomes idle later finds work that has been
//! there all the time. A fork needs no fence either, because it sets a limit in any case (`Hec::yield_soon`).
//!
//! *Checked by*: the loom models in `rts/tests/models/idle_notify.rs`, which compile this file.
use crate::base::atomics::{fence, AtomicUsize, Ordering};
use crate::base::idle_count::IdleCount;

/// A HEC that may have work to give away.
pub trait WorkSource {
    /// Does it have work? Any OS thread may ask.
    fn has_work(&self) -> bool;
    /// The address up to which the running thread may allocate.
    fn limit(&self) -> &AtomicUsize;
}

/// A HEC has become idle and has recorded that. Makes the `others` that have work return to the scheduler, if there is
/// `room` for one more busy HEC. (Of several that become idle, the last to record it sees all of them.)
pub fn notify_idle<'a, G: WorkSource + 'a>(room: impl FnOnce() -> bool, others: impl Iterator<Item = &'a G>) {
    fence(Ordering::SeqCst);
    if room() {
        others.filter(|g| g.has_work()).for_each(|g| g.limit().store(0, Ordering::Relaxed));
    }
}

/// The running thread has added work; it is the `first` if there was none before. If there is `room`, it stops at
/// `wanted`.
pub fn work_added<G: WorkSource>(source: &G, first: bool, room: impl FnOnce() -> bool, wanted: impl FnOnce() -> usize) {
    if first {
        fence(Ordering::SeqCst);
    }
    if room() {
        lower_limit(source.limit(), wanted());
    }
}

/// Makes the running thread stop at `wanted`, if its limit is higher.
pub fn lower_limit(limit: &AtomicUsize, wanted: usize) {
    let seen = limit.load(Ordering::Relaxed);
    if seen > wanted {
        // If another OS thread changed the limit meanwhile, it wants the thread to stop at once.
        let _ = limit.compare_exchange(seen, wanted, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A thread is about to run. Its limit has been written, and a full fence has followed. `seen` is how often a HEC had
/// become idle when the holder last balanced.
pub fn before_run<G: WorkSource>(source: &G, idle: &IdleCount, seen: usize, room: impl FnOnce() -> bool) {
    if idle.transitions() != seen && room() && source.has_work() {
        source.limit().store(0, Ordering::Relaxed);
    }
}
