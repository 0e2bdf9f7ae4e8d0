//! Calls in simulated runs: who performs what for whom, and how each call has ended.
use crate::cluster::ids::{Call, Micros, Pe, Thread};
use crate::program::Task;
use std::collections::BTreeMap;

/// A call that a run makes, and after how long it is cancelled.
#[derive(Clone, Debug)]
pub struct PlannedCall {
    pub time: Micros,
    pub caller: Pe,
    pub place: Pe,
    pub action: Task,
    pub cancelled_after: Option<Micros>,
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Value(u64),
    /// The action has been thrown to, because the call was cancelled.
    Cancelled,
    /// The value may not leave the PE that has performed the action.
    Stays,
    Lost,
}

#[derive(Default)]
pub struct Calls {
    /// The threads that perform actions of other PEs.
    guests: BTreeMap<Thread, (Pe, Call)>,
    /// How own calls have ended.
    outcomes: BTreeMap<Call, Outcome>,
}

impl Calls {
    pub fn begin(&mut self, guest: Thread, caller: Pe, call: Call) {
        self.guests.insert(guest, (caller, call));
    }

    /// A thread has ended: whom to tell, if it was a guest.
    pub fn end(&mut self, thread: Thread) -> Option<(Pe, Call)> {
        self.guests.remove(&thread)
    }

    pub fn is_guest(&self, thread: Thread) -> bool {
        self.guests.contains_key(&thread)
    }

    pub fn guest(&self, caller: Pe, call: Call) -> Option<Thread> {
        self.guests.iter().find(|(_, of)| **of == (caller, call)).map(|(&thread, _)| thread)
    }

    /// The calls of a PE that threads perform here.
    pub fn of(&self, caller: Pe) -> Vec<Call> {
        self.guests.values().filter(|(from, _)| *from == caller).map(|&(_, call)| call).collect()
    }

    pub fn close(&mut self, call: Call, outcome: Outcome) {
        let earlier = self.outcomes.insert(call, outcome);
        assert_eq!(earlier, None, "{call:?} ends again, with {outcome:?}");
    }

    pub fn outcome(&self, call: Call) -> Option<Outcome> {
        self.outcomes.get(&call).copied()
    }
}
