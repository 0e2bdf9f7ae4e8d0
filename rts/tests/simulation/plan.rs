//! What a simulated run is made of, and what it came to.
use crate::calls::PlannedCall;
use crate::cluster::ids::{Micros, Pe};
use crate::cluster::message::{Message, Reason};
use crate::graph::Graph;
use crate::network::Faults;
use crate::program::Program;

/// What a run is made of.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub pes: u16,
    pub program: Program,
    pub new_weight: u64,
    pub faults: Faults,
    /// Processes that are killed, and when.
    pub kills: Vec<(Pe, Micros)>,
    /// Actions that PEs perform for others. A call's number is its place here.
    pub calls: Vec<PlannedCall>,
}

/// What a run came to.
#[derive(Debug, Default, PartialEq)]
pub struct Figures {
    pub time: Micros,
    pub tasks: usize,
    pub evaluations: usize,
    pub messages: u64,
    pub packets: u64,
    pub steals: u64,
    pub loans: u64,
    /// Loans of thunks that were placed.
    pub placed: u64,
    /// Loans whose thunk was not evaluated by the borrower.
    pub failed: u64,
    pub fetches: u64,
    pub lost: usize,
    /// Threads that have met a value that stays elsewhere.
    pub met_staying: u64,
    /// How many lenient evaluations were frozen.
    pub frozen: u64,
    /// Calls that ended with a value, and that were cancelled in time.
    pub returned: usize,
    pub cancelled: usize,
}

impl Figures {
    pub fn count(&mut self, message: &Message<Graph>) {
        self.messages += 1;
        match message {
            Message::Steal => self.steals += 1,
            Message::Lend { reason, .. } => {
                self.loans += 1;
                self.placed += u64::from(*reason == Reason::Placed);
            }
            Message::Failed { .. } => self.failed += 1,
            Message::Fetch(_) => self.fetches += 1,
            _ => {}
        }
    }
}
