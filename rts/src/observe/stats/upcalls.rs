//! Counts of upcalls to user schedulers, by what caused them.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, BlockedOnScheduler};
use std::fmt;

/// Why a thread is given to its scheduler: what it waited for, or that it was made. (A tick has both upcalls, and is
/// counted as a [`Dequeue`].)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueue {
    MVar,
    Stm,
    Thunk,
    Call,
    Delay,
    Descriptor,
    Exception,
    Fork,
}

/// Why a scheduler chooses a thread for a HEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeue {
    /// The thread in the slot has blocked.
    Block,
    /// Its time slice has ended, or it has yielded.
    Tick,
    /// What the scheduler had chosen was stale.
    Stale,
    /// A thread of `forkIO` has ended.
    End,
}

const ENQUEUES: [&str; 8] = ["MVar", "STM", "thunk", "call", "delay", "descriptor", "exception", "fork"];
const DEQUEUES: [&str; 4] = ["block", "tick", "stale", "end"];

impl Enqueue {
    /// A thread was blocked for reason `why`.
    pub fn after(why: usize) -> Enqueue {
        match why {
            BlockedOnSTM => Enqueue::Stm,
            BlockedOnBlackHole | BlockedOnAbsent => Enqueue::Thunk,
            BlockedOnCCall | BlockedOnCCall_Interruptible => Enqueue::Call,
            BlockedOnDelay => Enqueue::Delay,
            BlockedOnRead | BlockedOnWrite => Enqueue::Descriptor,
            BlockedOnMsgThrowTo | BlockedOnScheduler => Enqueue::Exception,
            _ => Enqueue::MVar,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct UpcallCounts {
    enqueues: [u64; ENQUEUES.len()],
    dequeues: [u64; DEQUEUES.len()],
}

impl UpcallCounts {
    pub fn count_enqueue(&mut self, kind: Enqueue) {
        self.enqueues[kind as usize] += 1;
    }

    pub fn count_dequeue(&mut self, kind: Dequeue) {
        self.dequeues[kind as usize] += 1;
    }

    pub fn any(&self) -> bool {
        self.enqueues.iter().chain(&self.dequeues).any(|&n| n > 0)
    }
}

impl std::iter::Sum for UpcallCounts {
    fn sum<I: Iterator<Item = UpcallCounts>>(counts: I) -> UpcallCounts {
        counts.fold(UpcallCounts::default(), |mut sum, c| {
            sum.enqueues.iter_mut().zip(c.enqueues).for_each(|(n, m)| *n += m);
            sum.dequeues.iter_mut().zip(c.dequeues).for_each(|(n, m)| *n += m);
            sum
        })
    }
}

/// As in `+RTS -s`.
impl fmt::Display for UpcallCounts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let kinds = |names: &[&str], counts: &[u64]| {
            let each: Vec<String> = names.iter().zip(counts).map(|(name, n)| format!("{n} {name}")).collect();
            format!("{} ({})", counts.iter().sum::<u64>(), each.join(", "))
        };
        let (enqueues, dequeues) = (kinds(&ENQUEUES, &self.enqueues), kinds(&DEQUEUES, &self.dequeues));
        write!(f, "{enqueues} enqueue, {dequeues} dequeue")
    }
}
