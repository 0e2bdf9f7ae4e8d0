//! What PEs send each other.
use super::build::Build;
use super::clock::Nanos;
use super::credit::Credit;
use super::ids::{Address, Block, Call, Pe};
use super::loan::Number;
use super::ring::Question;

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
        reason: Reason,
        parcel: Parcel<G>,
    },
    Result {
        loan: Number,
        parcel: Parcel<G>,
    },
    Failed {
        loan: Number,
    },
    /// A thunk that was lent for lenient evaluation is needed.
    Demand {
        loan: Number,
    },
    Fetch(Address),
    Value {
        address: Address,
        parcel: Parcel<G>,
    },
    /// The answer to a FETCH that has no value.
    Unavailable {
        address: Address,
        why: Unavailable,
    },
    /// An `IO` action is to be performed.
    Call {
        call: Call,
        parcel: Parcel<G>,
    },
    /// The result of an action.
    Returned {
        call: Call,
        parcel: Parcel<G>,
    },
    /// The result of an action is not wanted any more.
    Cancel(Call),
    /// A holder asks for more weight on a block.
    MoreCredit(Block),
    Credit(Credit),
    ReturnCredits(Vec<Credit>),
    /// A global collection, by its number.
    Cycle(u64, Step),
    Ping(Ping),
    Pong(Ping),
    /// PE 0 asks for what a PE has counted.
    AskCounts,
    /// In the order that all PEs of a build agree on.
    Counts(Vec<u64>),
    /// PE 0 asks for the time, to put events of all PEs in order.
    AskClock,
    Clock {
        time: Nanos,
        /// HECs whose events will come; 0 if none will.
        hecs: u64,
    },
    /// A block of the event log of a PE.
    Events(Vec<u8>),
    /// PE 0 asks for the rest of it.
    EndEvents,
    EventsEnded,
}

/// What PEs send each other in a global collection (`cycle.rs`).
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A cycle of that number is wanted.
    Request,
    /// These PEs take part.
    Begin(Vec<Pe>),
    /// No earlier computation message is under way.
    Flush,
    Mark {
        phase: u8,
        addresses: Vec<Address>,
    },
    /// What a MARK has asked for is traced.
    Traced,
    Asked {
        phase: u8,
        question: Question,
    },
    Over {
        phase: u8,
    },
    /// All weights on blocks of the receiver that the sender has.
    Held(Vec<Credit>),
    Balanced,
    End,
    Ended,
}

/// Why a thunk is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the answer to STEAL.
    Stolen,
    /// The call was placed at the borrower.
    Placed,
    /// It is the answer to FETCH of this address: the borrower needs the value, and the lender is busy.
    Wanted(Address),
    /// It is the answer to STEAL, and may never be needed. The number of lenient evaluations that it is nested in.
    Lenient(u8),
}

/// A graph, and weights on the blocks that it has objects of or refers to, but for those of its receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel<G> {
    pub graph: G,
    pub credits: Vec<Credit>,
}

impl<G> From<G> for Parcel<G> {
    /// The weights are added when it is sent.
    fn from(graph: G) -> Parcel<G> {
        Parcel { graph, credits: Vec::new() }
    }
}

impl<G> Message<G> {
    pub fn parcel(&self) -> Option<&Parcel<G>> {
        match self {
            Message::Lend { parcel, .. }
            | Message::Result { parcel, .. }
            | Message::Value { parcel, .. }
            | Message::Call { parcel, .. }
            | Message::Returned { parcel, .. } => Some(parcel),
            _ => None,
        }
    }

    pub fn parcel_mut(&mut self) -> Option<&mut Parcel<G>> {
        match self {
            Message::Lend { parcel, .. }
            | Message::Result { parcel, .. }
            | Message::Value { parcel, .. }
            | Message::Call { parcel, .. }
            | Message::Returned { parcel, .. } => Some(parcel),
            _ => None,
        }
    }
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
