//! The protocol of SConts: which thread may be switched to, and how a switch changes the running thread.
//!
//! An SCont is a thread and a *number*. Each SCont is used once: when its thread resumes, the thread's number grows,
//! and older SConts of the thread are *stale*.
//!
//! A thread's *status* is the value of a TVar, so the STM itself notices when a choice is out of date:
//! ```text
//!                    switch: the thread blocks
//!    Running n ────────────────────────────────────► Waiting n ── enqueueAct ──► Ready n
//!        ▲     ── enqueueAct, then switch ─────────────────────────────────────►   │
//!        │                                               │                         │
//!        └─────────── a claim: Running (n+1) ────────────┴─────────────────────────┘
//! ```
//! - `Running n`: not passive. It runs, or the runtime has it: on a run queue, blocked on an MVar, in a call.
//! - `Waiting n`: passive, and only what its own transaction has stored knows it.
//! - `Ready n`: passive, and last given to `enqueueAct`.
//!
//! *Protocol* of the commit of a switch from *s* to *s'*, in one primitive operation. The log has an entry for the
//! status of *s* (`Ready n` if it was enqueued, else `Waiting n`) and of *s'* (`Running (n'+1)`).
//! 1. Lock and validate all TVars, as any commit ([`crate::sync::stm::commit`]).
//! 2. Block *s*. Another HEC that wants it needs the version of its status, which this commit holds.
//! 3. Claim *s'*. The status that the log has read says that it is passive.
//! 4. Publish the values, and unlock.
//!
//! *Invariants* [SHMP14, §6.8], which assertions check in every build
//! - The number changes only together with a claim.
//! - A thread that switches is not passive, one that is chosen is, and one in a user slot is in one that is used.
//!
//! *Checked by*: the unit tests in `rts/src/sync/substrate_tests.rs`, and the loom models in
//! `rts/tests/models/switches.rs`, which compile this file.
use crate::sync::stm::commit::{commit_with, Log};

/// The status of a thread, as one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status(pub usize);

const STATE_BITS: usize = 2;
const RUNNING: usize = 0;
const WAITING: usize = 1;
const READY: usize = 2;

/// The number of no SCont. The built-in scheduler's dequeue activation returns one with this number.
pub const NO_SCONT: usize = usize::MAX;

impl Status {
    const fn new(number: usize, state: usize) -> Status {
        Status(number << STATE_BITS | state)
    }
    pub const fn running(number: usize) -> Status {
        Status::new(number, RUNNING)
    }
    pub const fn waiting(number: usize) -> Status {
        Status::new(number, WAITING)
    }
    pub const fn ready(number: usize) -> Status {
        Status::new(number, READY)
    }
    pub const fn number(self) -> usize {
        self.0 >> STATE_BITS
    }
    pub fn is_ready(self) -> bool {
        self == Status::ready(self.number())
    }
    /// May a switch choose the SCont of this number?
    pub fn is_claimable(self, number: usize) -> bool {
        self.number() == number && self != Status::running(number)
    }
    /// The status after a claim.
    pub const fn claimed(self) -> Status {
        Status::running(self.number() + 1)
    }
    /// The status of the thread when it blocks in a switch.
    pub fn passive(self) -> Status {
        let number = self.number();
        if self.is_ready() {
            return self;
        }
        assert!(self == Status::running(number), "a passive thread switches");
        Status::waiting(number)
    }
}

/// Commits a switch: steps 1 to 4. Returns false, having called neither function, if the transaction has not seen a
/// consistent state.
pub fn commit_switch<L: Log>(
    log: &mut L,
    many: bool,
    mut block: impl FnMut(&mut L),
    mut claim: impl FnMut(&mut L),
) -> bool {
    commit_with(log, many, |log| {
        block(log);
        claim(log);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_offers_the_current_number_of_a_passive_thread() {
        for n in [0, 1, 1 << 40] {
            for (status, is_claimable, ready) in
                [(Status::running(n), false, false), (Status::waiting(n), true, false), (Status::ready(n), true, true)]
            {
                assert_eq!((status.number(), status.is_claimable(n), status.is_ready()), (n, is_claimable, ready));
                assert!(!status.is_claimable(n + 1) && !status.is_claimable(NO_SCONT));
                assert_eq!(status.claimed(), Status::running(n + 1));
            }
            assert_eq!(Status::running(n).passive(), Status::waiting(n));
            assert_eq!(Status::ready(n).passive(), Status::ready(n));
        }
    }
}
