//! What PEs send each other.
use super::build::Build;
use super::credit::Credit;
use super::ids::{Address, Block, Call, Pe};
use super::loan::Number;

/// A message. `G` is a packed graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<G> {
    Hello(Build),
    /// A PE cannot take part, and why.
    Unable(String),
    Start,
    Refused,
    Heartbeat,
    Suspect(Pe),
    Lost(Pe),
    Steal,
    NothingToSteal,
    Lend {
        loan: Number,
        /// Is it a call that was placed here? If not, it is the answer to STEAL.
        is_placed: bool,
        graph: G,
        credits: Vec<Credit>,
    },
    Result {
        loan: Number,
        graph: G,
    },
    Failed {
        loan: Number,
    },
    Fetch(Address),
    Value {
        address: Address,
        graph: G,
    },
    /// The answer to a FETCH that has no value.
    Unavailable {
        address: Address,
        why: Unavailable,
    },
    /// An `IO` action is to be performed.
    Call {
        call: Call,
        graph: G,
    },
    /// The result of an action.
    Returned {
        call: Call,
        graph: G,
    },
    /// The result of an action is not wanted any more.
    Cancel(Call),
    /// A holder asks for more weight on a block.
    MoreCredit(Block),
    Credit(Credit),
    ReturnCredits(Vec<Credit>),
    Ping(Ping),
    Pong(Ping),
    /// PE 0 asks for what a PE has counted.
    AskCounts,
    /// In the order that all PEs of a build agree on.
    Counts(Vec<u64>),
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Unavailable {
    /// Its evaluation met something of a lost PE.
    PeLost,
    /// It may not leave its owner, and why.
    Stays(String),
    StackOverflow,
    HeapOverflow,
}

/// A message that is answered with itself, to measure how long that takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ping {
    pub number: u64,
    /// Do HECs handle it? If not, the tasks do that receive it.
    pub by_hec: bool,
    pub bytes: Vec<u8>,
}
