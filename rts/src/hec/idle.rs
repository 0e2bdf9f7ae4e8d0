//! Work that a HEC could give away, and HECs that come to rest: if both come at the same moment, one of the two sees the other.
//!
//! A HEC *has something* while threads wait on its queue or sparks in its ring; its holder alone makes that so and undoes it. A HEC
//! *rests* while nobody holds it and nothing is to be done there; who gives it up or takes it says so, under its seat's lock
//! ([`IdleCount`]). Work is given away between threads (`sched/balance.rs`, `sched/spark.rs`), so all that is decided here is who has
//! a running thread come back for it, by its limit:
//!
//! ```text
//!   who rests:       rests;       fence;  has another something?                      then that one's limit = 0     ask
//!   who comes to
//!   have something:  something;   fence;  does one rest?                              then its own limit comes down  made
//!   who runs a
//!   thread:          limit = end; fence;  has one come to rest since it looked
//!                                         whether to give, and has it something?      then its own limit = 0        runs
//! ```
//!
//! Of two fences one comes first, and what was written before that one is read after the other. So either who rests finds the work,
//! and writes a limit that no earlier one overwrites, or who has the work finds that one rests.
//!
//! A fence is needed only when something comes where there was nothing: who rests later finds what has been there all the
//! time. Nor does a fork need one: it sets a limit in any case (`Hec::give_way_soon`).
//!
//! `rts/tests/models/idle_notify.rs` runs this file under loom.
use crate::base::atomics::{fence, AtomicUsize, Ordering};

/// How many HECs rest, in the low half; in the upper one how often one has come to rest.
pub struct IdleCount(pub AtomicUsize);

const ONE_MORE_TIME: usize = 1 << 32;

impl IdleCount {
    /// One comes to rest, or has something to do. Release: see `times`.
    pub fn one(&self, yes: bool) {
        if yes {
            self.0.fetch_add(1 + ONE_MORE_TIME, Ordering::Release);
        } else {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed) % ONE_MORE_TIME
    }

    /// How often one has come to rest. Acquire: who looks then sees which these are.
    pub fn times(&self) -> usize {
        self.0.load(Ordering::Acquire) / ONE_MORE_TIME
    }
}

/// A HEC that may have something to give.
pub trait WorkSource {
    /// Any OS thread may ask.
    fn has_something(&self) -> bool;
    /// How far the running thread may allocate.
    fn limit(&self) -> &AtomicUsize;
}

/// One has come to rest, and said so: has those `others` come back that have something, if there is `room` for one more to be busy.
/// (Of several that come to rest, the last to say so sees all of them.)
pub fn notify_idle<'a, G: WorkSource + 'a>(room: impl FnOnce() -> bool, others: impl Iterator<Item = &'a G>) {
    fence(Ordering::SeqCst);
    if room() {
        others.filter(|g| g.has_something()).for_each(|g| g.limit().store(0, Ordering::Relaxed));
    }
}

/// The running thread has made something; there was nothing if it is the `first`. If there is `room` it stops at `wanted`.
pub fn work_added<G: WorkSource>(giver: &G, first: bool, room: impl FnOnce() -> bool, wanted: impl FnOnce() -> usize) {
    if first {
        fence(Ordering::SeqCst);
    }
    if room() {
        lower_limit(giver.limit(), wanted());
    }
}

/// Has the running thread stop at `wanted`, if it would go further.
pub fn lower_limit(limit: &AtomicUsize, wanted: usize) {
    let seen = limit.load(Ordering::Relaxed);
    if seen > wanted {
        // Whoever was faster wants it to stop at once.
        let _ = limit.compare_exchange(seen, wanted, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A thread is about to run: its limit has been written, and a full fence has followed. `seen` is how often one had come to rest when
/// the holder last looked whether to give.
pub fn before_run<G: WorkSource>(giver: &G, resting: &IdleCount, seen: usize, room: impl FnOnce() -> bool) {
    if resting.times() != seen && room() && giver.has_something() {
        giver.limit().store(0, Ordering::Relaxed);
    }
}
