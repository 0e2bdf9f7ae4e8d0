//! Waits to verify: when their descriptors are looked at again, if they are not answered before.
//!
//! A descriptor is registered once, edge-triggered. A wait on one that is registered already may have missed its edge:
//! its data may have been there before, or C code may have closed the number and the system has given it out again. So
//! it is verified when its HEC is about to block, or after a millisecond.
//!
//! Most threads wait only after a read that has found nothing. If the last system call of a thread failed with EAGAIN,
//! and nothing has been reported since, it has left nothing unread. Such a wait is verified later, for closed numbers.
//! So a server whose clients answer sooner makes no such calls.
use crate::events::wait_nodes::{Handle, WaitNodes};
use crate::events::wheel_time;
use std::collections::VecDeque;

/// After this many ticks a wait is verified even if the HEC is busy.
pub(super) const AFTER: u64 = wheel_time::millis(1);
/// The same for a thread that has left nothing unread.
const DRAINED_AFTER: u64 = wheel_time::millis(20);

/// Waits, and at which ticks they are due, oldest first.
type Queue = VecDeque<(Handle, u64)>;

#[derive(Default)]
pub(super) struct Unverified {
    waits: Queue,
    /// Those of threads that have left nothing unread.
    drained: Queue,
}

impl Unverified {
    /// Adds a wait. Returns when it is due.
    pub fn add(&mut self, wait: Handle, drained: bool) -> u64 {
        let (queue, after) = if drained { (&mut self.drained, DRAINED_AFTER) } else { (&mut self.waits, AFTER) };
        let due = wheel_time::now() + after;
        queue.push_back((wait, due));
        due
    }

    pub fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.drained.is_empty()
    }

    /// Takes a wait that is due, or with `all` also one that may have left data unread. Returns its node.
    pub fn take(&mut self, nodes: &mut WaitNodes, all: bool) -> Option<u32> {
        let now = wheel_time::now();
        loop {
            let wait = self.waits.pop_front_if(|(_, due)| all || *due <= now);
            let (wait, _) = wait.or_else(|| self.drained.pop_front_if(|(_, due)| *due <= now))?;
            if let Some(index) = nodes.find(wait) {
                return Some(index);
            }
        }
    }

    /// The tick at which the next wait is due.
    pub fn next_due(&mut self, nodes: &mut WaitNodes) -> Option<u64> {
        for queue in [&mut self.waits, &mut self.drained] {
            while queue.pop_front_if(|(wait, _)| nodes.find(*wait).is_none()).is_some() {}
        }
        self.waits.front().into_iter().chain(self.drained.front()).map(|(_, due)| *due).min()
    }
}
